//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/plant"
)

// What the process ends with.
const (
	exitSound    = 0
	exitViolated = 1
	exitBroken   = 2 // the test could not be run
)

func main() {
	if len(os.Args) > 1 {
		if role, there := roles[os.Args[1]]; there {
			os.Exit(runRole(os.Args[1], role, os.Args[2:]))
		}
		if os.Args[1] == "watchdog" {
			watchdog(os.Args[2:])
			return
		}
	}
	os.Exit(runDriver(os.Args[1:]))
}

// runRole is a process that the driver has started.
func runRole(name string, role func(ctx context.Context, w *worker) error, arguments []string) int {
	w, err := parseWorker(name, arguments)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBroken
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	dieWithParent()
	slog.SetDefault(slog.New(slog.NewTextHandler(&boundedLog{path: w.log, limit: 2 << 20}, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := w.open(ctx); err != nil {
		slog.Error("open", "error", err)
		return exitBroken
	}
	defer w.close()
	if err := role(ctx, w); err != nil && !errors.Is(err, context.Canceled) {
		slog.Error("ended", "error", err)
		return exitViolated
	}
	return exitSound
}

// dieWithParent ends the process where its driver has ended: on Linux the kernel does so too, earlier.
func dieWithParent() {
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				os.Exit(exitBroken)
			}
		}
	}()
}

// options are the driver's.
type options struct {
	duration time.Duration
	settle   time.Duration
	seed     uint64
	rate     int
	bug      plant.Bug
	prove    bool
	schedule bool
	keep     bool
	home     string
	services string
	promote  string
}

func parseOptions(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "duration", 2*time.Minute, "how long faults are injected")
	flags.DurationVar(&o.settle, "settle", 6*time.Minute, "how long it may take after that until all is quiet")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano())%1_000_000, "of the schedule of faults")
	flags.IntVar(&o.rate, "rate", 240, "messages a second, at most")
	bug := flags.String("plant", "", "put in a known bug: "+bugNames())
	flags.BoolVar(&o.prove, "prove", false, "run each of the known bugs, and say whether it is found")
	flags.BoolVar(&o.schedule, "schedule", false, "print the schedule of faults, and run nothing")
	flags.BoolVar(&o.keep, "keep", false, "leave the servers running at the end, with the ledger")
	flags.StringVar(&o.home, "home", ".tools/torture", "directory of servers and logs")
	flags.StringVar(&o.services, "services", "scripts/services", "the script that starts servers")
	flags.StringVar(&o.promote, "promote", "auto", "promote the standby: yes, no, or auto, in runs of 10 minutes and more")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.duration < 10*time.Second {
		return o, fmt.Errorf("--duration is %v: give at least 10s", o.duration)
	}
	if o.rate < 1 {
		return o, fmt.Errorf("--rate is %d: give at least 1", o.rate)
	}
	o.bug = plant.Bug(*bug)
	if o.bug != "" && !strings.Contains(" "+bugNames()+" ", " "+*bug+" ") {
		return o, fmt.Errorf("--plant is %q: give one of %s", *bug, bugNames())
	}
	return o, nil
}

func (o *options) promotes() bool {
	return o.promote == "yes" || o.promote == "auto" && o.duration >= 10*time.Minute && o.bug == ""
}

func bugNames() string {
	var names []string
	for _, b := range plant.Bugs() {
		names = append(names, string(b))
	}
	return strings.Join(names, " ")
}

func runDriver(arguments []string) int {
	o, err := parseOptions(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return exitSound
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return exitBroken
	}
	if o.schedule {
		for _, f := range schedule(o.seed, planOf(&o)) {
			fmt.Println(f)
		}
		return exitSound
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if o.prove {
		return prove(ctx, o)
	}
	return torture(ctx, o)
}
