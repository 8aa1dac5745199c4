package realtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Services runs scripts/services with these arguments: kill, pause, resume, restart, promote. It fails the
// test where that fails.
func Services(t testing.TB, arguments ...string) {
	t.Helper()
	command := exec.Command(script(t), arguments...)
	command.Env = withoutOurs(os.Environ())
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("scripts/services %q: %v\n%s", arguments, err, out)
	}
}

// withoutOurs leaves out the variables of the servers. Services that start in another order may get other
// ports, and would take the old ones for a user's own.
func withoutOurs(environment []string) []string {
	var rest []string
	for _, line := range environment {
		if name, _, _ := strings.Cut(line, "="); !servers[name] {
			rest = append(rest, line)
		}
	}
	return rest
}

var servers = map[string]bool{"DATABASE_URL": true, "STANDBY_URL": true, "REDIS_URL": true,
	"KAFKA_BROKERS": true, "KAFKA_CLUSTER_BROKERS": true}

// script finds scripts/services above the test's directory.
func script(t testing.TB) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(directory, "scripts", "services")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			t.Fatal("no scripts/services above the test's directory")
		}
		directory = parent
	}
}
