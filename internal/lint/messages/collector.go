package messages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/lint/messages/seen"
	"github.com/idem-spec/idem/internal/schema"
)

// collector takes the results of batches in, one after the other.
type collector struct {
	options *Options
	summary Summary
	table   *seen.Table
	sources map[uint32]*input.Source
	// waiting are findings of two messages, until it is their turn.
	waiting []finding
	wanted  map[*lint.Rule]bool
	told    time.Time
	// unread is why the rest of the input could not be read; nil where it was, or the run was interrupted.
	unread error
}

func newCollector(o *Options) *collector {
	c := &collector{options: o, sources: map[uint32]*input.Source{}, wanted: map[*lint.Rule]bool{}}
	for _, r := range streamRules {
		c.wanted[&r.Rule] = o.Wanted(&r.Rule)
	}
	c.table = seen.New(o.Memory, o.TempDir, c.meet)
	return c
}

// take takes a batch's results in.
func (c *collector) take(j *job) error {
	if j.batch.Source != nil {
		c.sources[j.batch.Source.ID] = j.batch.Source
	}
	c.summary.Messages += j.messages
	c.summary.Bytes += j.bytes
	c.summary.Untyped += j.untyped
	c.summary.Unparsed += j.unparsed
	if err := c.table.AddAll(j.records); err != nil {
		return err
	}
	all := append(j.findings, c.waiting...)
	c.waiting = c.waiting[:0]
	if err := c.report(all); err != nil {
		return err
	}
	if c.options.Progress != nil && time.Since(c.told) > 200*time.Millisecond {
		c.told = time.Now()
		c.options.Progress(c.summary)
	}
	if !errors.Is(j.err, context.Canceled) {
		c.unread = j.err
	}
	return j.err
}

// report reports findings in the order of their messages, each once.
func (c *collector) report(all []finding) error {
	slices.SortFunc(all, inOrder)
	for i, f := range all {
		if i > 0 && inOrder(all[i-1], f) == 0 {
			continue
		}
		if err := c.options.Report(f.seq, f.Finding); err != nil {
			return err
		}
	}
	return nil
}

// found is a finding of two messages, at the second.
func (c *collector) found(r *lint.Rule, at *seen.Record, what, mend string) {
	if !c.wanted[r] {
		return
	}
	if len(c.waiting) >= 2*maxWaiting {
		c.bound()
	}
	c.waiting = append(c.waiting, finding{at.Seq, lint.Finding{
		Rule: r, Severity: r.Severity, Position: position(c.sources[at.Source], at.Number), What: what, Mend: mend,
	}})
}

// maxWaiting is how many findings wait, and so how many keys on disk give at most.
const maxWaiting = 50_000

// bound keeps the first of the findings that wait, and counts the others.
func (c *collector) bound() {
	slices.SortFunc(c.waiting, inOrder)
	c.summary.Unreported += int64(len(c.waiting) - maxWaiting)
	c.waiting = c.waiting[:maxWaiting]
}

func inOrder(a, b finding) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.What, b.What))
}

func (c *collector) finish() (Summary, error) {
	counts, err := c.table.Finish()
	if err == nil {
		err = c.report(c.waiting)
	}
	c.summary.Keys, c.summary.Duplicates = counts.Distinct[seen.Key], counts.Again[seen.Key]
	c.summary.Spilled = c.table.Spilled()
	return c.summary, err
}

// place is where a message is, for people.
func (c *collector) place(r *seen.Record) string {
	at := position(c.sources[r.Source], r.Number)
	if at.Line == 0 {
		return at.File
	}
	return fmt.Sprintf("%s:%d", at.File, at.Line)
}

// position is where a message is.
func position(source *input.Source, number int64) schema.Position {
	if source.Log {
		return schema.Position{File: fmt.Sprintf("%s@%d", source.Name, number)}
	}
	return schema.Position{File: source.Name, Line: int(number)}
}
