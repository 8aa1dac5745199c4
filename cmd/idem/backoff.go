package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// backoffFlags are the flags of `idem backoff`.
type backoffFlags struct {
	base, limit, jitter, retryAfter time.Duration
	schedule                        delayList
	maxRetry                        int32
	asJSON                          bool
}

func newBackoff(std streams) *cobra.Command {
	var flags backoffFlags
	command := &cobra.Command{
		Use:   "backoff KEY",
		Short: "Show the delays of a key's retries",
		Long: `Shows when a message with this idempotency key is tried again: the same milliseconds in
every language and every service. A delay is a base part, doubled from --base up to --max or
taken from --schedule, and a jitter that is a hash of the key and the retry.`,
		Example: `  idem backoff order-8317 --max 60s --jitter 20ms
  idem backoff order-8317 --schedule 10s,30s,1m,10m --max-retry 6`,
		Args: exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, other := range []string{"base", "max"} {
				if len(flags.schedule) > 0 && cmd.Flags().Changed(other) { // OPT-030
					return fmt.Errorf("--schedule and --%s exclude each other: the delays of a schedule are not doubled", other)
				}
			}
			policy, err := flags.policy()
			if err != nil {
				return err
			}
			table, err := backoffTable(args[0], policy, flags.retryAfter.Milliseconds())
			if err != nil {
				return failf("%w", err)
			}
			if flags.asJSON {
				return writeJSON(std.out, table)
			}
			return table.write(std)
		},
	}
	f := command.Flags()
	f.DurationVar(&flags.base, "base", idem.DefaultBackoffBase*time.Second, "delay before the first retry, in whole seconds")
	f.DurationVar(&flags.limit, "max", idem.DefaultBackoffMax*time.Second, "largest doubled delay, in whole seconds")
	f.Lookup("max").DefValue = "5m" // not 5m0s
	f.DurationVar(&flags.jitter, "jitter", idem.DefaultBackoffJitter*time.Millisecond, "largest jitter, in whole milliseconds")
	f.Var(&flags.schedule, "schedule", "explicit delays instead of --base and --max; the last one repeats")
	f.DurationVar(&flags.retryAfter, "retry-after", 0, "a Retry-After that every refusal comes with")
	f.Int32Var(&flags.maxRetry, "max-retry", idem.DefaultMaxRetry, "retries allowed")
	f.BoolVar(&flags.asJSON, "json", false, "as one JSON object")
	return command
}

// delayList is a flag's list of delays.
type delayList []time.Duration

// Set adds delays that are separated by commas.
func (l *delayList) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%q is no duration like 1m30s", part)
		}
		*l = append(*l, d)
	}
	return nil
}

// String returns the delays as Set reads them.
func (l *delayList) String() string {
	parts := make([]string, len(*l))
	for i, d := range *l {
		parts[i] = d.String()
	}
	return strings.Join(parts, ",")
}

// Type names the value in the help.
func (l *delayList) Type() string { return "durations" }

// policy returns the policy that the flags state.
func (f *backoffFlags) policy() (idem.Policy, error) {
	p := idem.DefaultPolicy()
	p.MaxRetry = f.maxRetry
	var err error
	set := func(to *int32, flag string, d, unit time.Duration) {
		n := d / unit
		if d%unit != 0 {
			err = errors.Join(err, fmt.Errorf("--%s %v is not a whole number of %s", flag, d, unitNames[unit]))
		} else if n != time.Duration(int32(n)) {
			err = errors.Join(err, fmt.Errorf("--%s %v is out of range", flag, d))
		}
		*to = int32(n)
	}
	set(&p.BackoffBase, "base", f.base, time.Second)
	set(&p.BackoffMax, "max", f.limit, time.Second)
	set(&p.BackoffJitter, "jitter", f.jitter, time.Millisecond)
	for _, d := range f.schedule {
		var entry int32
		set(&entry, "schedule", d, time.Millisecond)
		p.BackoffSchedule = append(p.BackoffSchedule, entry)
	}
	if err == nil && f.retryAfter < 0 {
		err = errors.New("--retry-after is negative")
	}
	if err == nil {
		err = p.Check()
	}
	return p, err
}

var unitNames = map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}

// delays is a key's retries until they are used up.
type delays struct {
	Key    string        `json:"key"`
	Policy delayPolicy   `json:"policy"`
	Delays []delayOfNext `json:"delays"`
}

type delayPolicy struct {
	MaxRetry      int32   `json:"max_retry"`
	BackoffBase   int32   `json:"backoff_base"`
	BackoffMax    int32   `json:"backoff_max"`
	BackoffJitter int32   `json:"backoff_jitter"`
	Schedule      []int32 `json:"backoff_schedule,omitempty"`
}

// delayOfNext is the delay that is decided on when retry_count is Retry.
type delayOfNext struct {
	Retry        int32 `json:"retry_count"`
	BaseMs       int64 `json:"base_ms"`
	JitterMs     int64 `json:"jitter_ms"`
	DelayMs      int64 `json:"delay_ms"`
	CumulativeMs int64 `json:"cumulative_ms"`
}

func backoffTable(key string, p idem.Policy, retryAfterMs int64) (*delays, error) {
	table := &delays{Key: key, Delays: []delayOfNext{}, Policy: delayPolicy{
		p.MaxRetry, p.BackoffBase, p.BackoffMax, p.BackoffJitter, p.BackoffSchedule,
	}}
	if err := idem.CheckKey(key); err != nil {
		return nil, err
	}
	var sum int64
	for n := range p.MaxRetry {
		d, err := idem.Backoff(key, n, &p, retryAfterMs)
		if err != nil {
			return nil, err
		}
		sum += d.Ms()
		table.Delays = append(table.Delays, delayOfNext{n, d.BaseMs, d.JitterMs, d.Ms(), sum})
	}
	return table, nil
}

func (t *delays) write(std streams) error {
	if len(t.Delays) == 0 {
		_, err := fmt.Fprintln(std.out, "no retry: the message is dead-lettered when it fails for the first time (max_retry 0)")
		return err
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "retry\tbase ms\tjitter ms\tdelay ms\tdelay\tsince the first failure\t")
	for _, d := range t.Delays {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%s\t%s\t\n", d.Retry, d.BaseMs, d.JitterMs, d.DelayMs, span(d.DelayMs), span(d.CumulativeMs))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(std.out, "then the message is dead-lettered (max_retry %d)\n", t.Policy.MaxRetry)
	return err
}

// span is a number of milliseconds for people: 2d 3h 4m 5.006s.
func span(ms int64) string {
	const day, hour, minute = 86400000, 3600000, 60000
	var parts []string
	for _, u := range []struct {
		unit int64
		name string
	}{{day, "d"}, {hour, "h"}, {minute, "m"}} {
		if n := ms / u.unit; n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+u.name)
			ms %= u.unit
		}
	}
	if ms > 0 || len(parts) == 0 {
		seconds := strconv.FormatInt(ms/1000, 10)
		if ms%1000 > 0 {
			seconds += strings.TrimRight(fmt.Sprintf(".%03d", ms%1000), "0")
		}
		parts = append(parts, seconds+"s")
	}
	return strings.Join(parts, " ")
}
