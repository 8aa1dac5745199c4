//go:build !unix

package realtest

import "testing"

func exclusive(t testing.TB, service string) {
	t.Skipf("%s: scripts/services does not run on this system", service)
}
