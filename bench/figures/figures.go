// Package figures is what the benchmarks in Go give the harness, whose figures.py has the same shapes.
package figures

import (
	"syscall"
	"time"
)

// Report is what a part measured.
type Report struct {
	Comparisons []Comparison `json:"comparisons"`
	Facts       []string     `json:"facts"`
}

// Comparison is of contenders that took turns; the first is idem.
type Comparison struct {
	Title      string      `json:"title"`
	Unit       string      `json:"unit"`
	Contenders []Contender `json:"contenders"`
}

// Contender is one side: a figure for each round.
type Contender struct {
	Name   string    `json:"name"`
	Rounds []float64 `json:"rounds"`
	Extra  string    `json:"extra"`
}

// Turns has so many contenders take turns. A round before the first warms up, and does not count; and none follows
// always the same one.
func Turns(rounds, contenders int, turn func(contender int, counts bool) error) error {
	for round := range rounds + 1 {
		for i := range contenders {
			if err := turn((i+round)%contenders, round > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// OwnCPU is the processor time of this process.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
