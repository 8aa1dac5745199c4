package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// parts are what can be measured.
var parts = map[string]func(ctx context.Context, size size) (report, error){
	"pipeline": pipeline,
	"claim":    claim,
	"tx":       transactions,
	"latency":  latency,
	"kafka":    kafkaLoop,
	"growth":   growth,
}

// size is how much is measured. Few rounds of few messages are a look, and what tests take.
type size struct {
	rounds int
	// share is the part of a round's usual messages, 1 for all of them.
	share float64
}

func (s size) of(n int) int { return max(int(float64(n)*s.share), 1) }

var (
	full  = size{rounds: 9, share: 1}
	quick = size{rounds: 3, share: 0.25}
)

func main() {
	look := flag.Bool("quick", false, "few rounds of few messages")
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	measured := full
	if *look {
		measured = quick
	}
	if err := run(ctx, os.Stdout, flag.Args(), measured); err != nil {
		fmt.Fprintln(os.Stderr, "bench/runtime:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string, s size) error {
	if len(args) != 1 || parts[args[0]] == nil {
		return fmt.Errorf("%q: give one of %s", args, strings.Join(names(), ", "))
	}
	r, err := parts[args[0]](ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return json.NewEncoder(out).Encode(r)
}

func names() []string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
