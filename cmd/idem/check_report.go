package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages"
)

// checkRun is a run's findings on their way to the report. They are kept until the run ends, since those of two
// messages may come late and go where the second is; only those of --follow are shown at once.
type checkRun struct {
	*lintReport
	flags    *checkFlags
	progress *progress
	kept     []keptFinding
	// count is how many findings there are that nothing settles, and byRule how many of each rule.
	count  int
	byRule map[*lint.Rule]int64
}

// keptFinding is a finding and the number of its message.
type keptFinding struct {
	message uint64
	lint.Finding
}

// found takes a finding.
func (r *checkRun) found(message uint64, f lint.Finding) error {
	if !r.filter.Keep(&f) || r.lintReport.flags.writeBaseline {
		return nil
	}
	r.count++
	r.byRule[f.Rule]++
	switch {
	case r.count > r.flags.maxFindings:
		return nil
	case r.flags.follow:
		r.progress.clear()
		return r.write(f)
	}
	r.kept = append(r.kept, keptFinding{message, f})
	return nil
}

// show shows how far the run is.
func (r *checkRun) show(s messages.Summary) {
	r.progress.tell(fmt.Sprintf("%s messages, %s, %s", grouped(s.Messages), bytesOf(s.Bytes), counted(r.count, "finding")))
}

// finish reports the findings, in the order of the messages, and the summary.
func (r *checkRun) finish(s messages.Summary) error {
	if err := r.writeKept(); err != nil {
		return err
	}
	return r.close(r.summarize(r.std.err, s))
}

// breakOff reports what was found before the run failed, and returns why it did. Half a run writes no baseline,
// and does not know what settles nothing.
func (r *checkRun) breakOff(s messages.Summary, why error) error {
	if len(r.kept) == 0 || errors.Is(why, context.Canceled) {
		return why
	}
	err := r.writeKept()
	if err == nil {
		err = r.writer.Close(r.summary)
	}
	r.summarize(r.std.err, s)
	return errors.Join(why, err)
}

func (r *checkRun) writeKept() error {
	slices.SortStableFunc(r.kept, func(a, b keptFinding) int { return cmp.Compare(a.message, b.message) })
	for _, f := range r.kept {
		if err := r.write(f.Finding); err != nil {
			return err
		}
	}
	return nil
}

// summarize writes what is known of all messages, and returns what was read.
func (r *checkRun) summarize(w io.Writer, s messages.Summary) string {
	line := func(n int64, what string) {
		if n > 0 {
			fmt.Fprintf(w, "  %9s %s\n", grouped(n), what)
		}
	}
	fmt.Fprintf(w, "  %9s messages, %s\n", grouped(s.Messages), bytesOf(s.Bytes))
	line(s.Untyped, "of an event type that the schema does not have, or of none")
	line(s.Unparsed, "lines that are no message, and are judged no further")
	line(s.Keys, "idempotency keys")
	line(s.Duplicates, "duplicates by key")
	line(s.Conflicting, "of them with another fingerprint")
	line(s.Regenerated, "copies of an event with another key")
	rules := slices.SortedFunc(maps.Keys(r.byRule), func(a, b *lint.Rule) int {
		return cmp.Or(cmp.Compare(r.byRule[b], r.byRule[a]), strings.Compare(a.ID, b.ID))
	})
	for _, rule := range rules {
		line(r.byRule[rule], rule.ID)
	}
	line(int64(max(r.count-r.flags.maxFindings, 0))+s.Unreported, "findings more than --max-findings, which are not shown")
	return counted(int(s.Messages), "message")
}

// grouped is 1,234,567.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesOf is 1.2 MiB.
func bytesOf(n int64) string {
	const unit = 1024
	if n < unit {
		return counted(int(n), "byte")
	}
	value, units := float64(n)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && value >= unit {
		value, units = value/unit, units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}

// size is a number of bytes as a flag: 1048576, 64KiB, 256MiB or 1GiB.
type size int64

func (s *size) String() string {
	for _, u := range sizeUnits {
		if n := int64(*s); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// maxSize is the largest that is taken: a payload's length is an int of 32 bits on some machines.
const maxSize = 1 << 31

func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = n, u.bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > maxSize*1024/unit {
		return fmt.Errorf("%q is no size: write bytes, or as in 64KiB, 256MiB or 1GiB", text)
	}
	*s = size(n * unit)
	return nil
}

// Type is what help calls the value.
func (s *size) Type() string { return "bytes" }
