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

// run shows once, or as long as somebody looks. A terminal is cleared before each. What has been shown once goes on
// being watched where it cannot be reached for a while: that is when somebody looks.
func (f *watchFlags) run(ctx context.Context, std streams, show func() error) error {
	for begun := false; ; {
		if f.watch && isTerminal(std.out) {
			fmt.Fprint(std.out, "\x1b[H\x1b[2J")
		}
		err := show()
		if !f.watch || (err != nil && !begun) || unwritten(std) {
			return err
		}
		begun = true
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(std.err, "idem: %s: --watch looks again in %v\n", message(err), f.interval)
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

// unwritten is whether nobody takes what is shown.
func unwritten(std streams) bool {
	out, ok := std.out.(*answer)
	return ok && out.err != nil
}
