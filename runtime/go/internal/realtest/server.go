package realtest

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"testing"
)

// need is the value of a variable, else the test's end.
func need(t testing.TB, variable, service string) string {
	t.Helper()
	if value := os.Getenv(variable); value != "" {
		return value
	}
	const how = `%s is not set: scripts/services start %s && eval "$(scripts/services env)"`
	if os.Getenv("IDEM_TEST_REAL") == "1" {
		t.Fatalf(how, variable, service)
	}
	t.Skipf(how, variable, service)
	return ""
}

// unique is a text that no other test has, also not of another process.
func unique() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}
