package bench

import (
	"syscall"
	"testing"
	"time"
)

// cpu reports the processor time of an operation, of all threads of the process. The machine's other
// work makes the time on the wall longer; this one stays. Call what it returns when the loop is over.
func cpu(b *testing.B) func() {
	b.ReportAllocs()
	began := used()
	return func() {
		b.ReportMetric(float64(used()-began)/float64(b.N), "cpu-ns/op")
	}
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
