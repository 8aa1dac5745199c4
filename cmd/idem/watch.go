package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// watchFlags show a list again and again.
type watchFlags struct {
	watch    bool
	interval time.Duration
}

func (f *watchFlags) add(command *cobra.Command) {
	command.Flags().BoolVarP(&f.watch, "watch", "w", false, "show it again and again, until interrupted")
	command.Flags().DurationVar(&f.interval, "interval", 2*time.Second, "how often --watch looks")
}

func (f *watchFlags) check() error {
	if f.watch && f.interval < 100*time.Millisecond {
		return fmt.Errorf("--interval %v: it is at least 100ms", f.interval)
	}
	return nil
}

// run shows once, or as long as somebody looks. A terminal is cleared before each.
func (f *watchFlags) run(ctx context.Context, std streams, show func() error) error {
	for {
		if f.watch && isTerminal(std.out) {
			fmt.Fprint(std.out, "\x1b[H\x1b[2J")
		}
		if err := show(); err != nil || !f.watch {
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil // that is how watching ends
			}
			return ctx.Err()
		case <-time.After(f.interval):
		}
	}
}
