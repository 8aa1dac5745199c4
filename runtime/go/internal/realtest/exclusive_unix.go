//go:build unix

package realtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// exclusive waits until no other test, of this process or another, has the service.
func exclusive(t testing.TB, service string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(script(t)), "..", ".tools", "services", service+".test-lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock %s: %v", path, err)
	}
	t.Cleanup(func() { _ = f.Close() })
}
