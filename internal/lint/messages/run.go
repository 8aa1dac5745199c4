package messages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/lint/messages/seen"
	"github.com/idem-spec/idem/internal/schema"
)

// Options say how messages are read and judged.
type Options struct {
	// Set is the schema, and Type the message of those whose headers do not say; nil for none.
	Set  *schema.Set
	Type *schema.Message
	// Format is how payloads hold messages.
	Format Format
	// MaxPayload is the most bytes that a payload is to have, and Partitions how many partitions the topic
	// has where the messages do not say, 0 for not known.
	MaxPayload int
	Partitions int32
	// Memory is about how many bytes of memory keys take before they go to a file in TempDir, "" for the
	// system's place.
	Memory  int64
	TempDir string
	// Wanted says which rules run.
	Wanted func(*lint.Rule) bool
	// Report gets the findings with the number of their message in the run: those of each message in their
	// order, and those of two messages when the second is met, which is at the end for keys that went to disk.
	Report func(message uint64, f lint.Finding) error
	// Progress is told now and then how far the run is. It may be nil.
	Progress func(Summary)
	// Now is the time; nil is time.Now.
	Now func() time.Time
	// Workers is how many goroutines check messages; 0 is one for each processor.
	Workers int
	// Endless says that the end of ctx is the end of the messages.
	Endless bool
}

// The defaults of Options.
const (
	// DefaultMaxPayload is what Kafka takes by default, less the overhead of a record of one message.
	DefaultMaxPayload = 1048576
	DefaultMemory     = 256 << 20
)

// Summary is what is known of all messages.
type Summary struct {
	Messages, Bytes int64
	// Untyped are the messages whose type is not known.
	Untyped int64
	// Keys are the distinct idempotency keys, and Duplicates the messages whose key was there before.
	Keys, Duplicates int64
	// Conflicting are the duplicates with another fingerprint than the first, and Regenerated the copies of
	// an event with another key.
	Conflicting, Regenerated int64
	// Unreported are findings of two messages that are not reported, since there are too many to be put into
	// their order: those behind the first 50,000 or more.
	Unreported int64
	// Spilled is how many bytes of keys went to disk.
	Spilled int64
}

// checker is what all goroutines of a run share, and none changes.
type checker struct {
	options *Options
	// rules are those to run by what a message has.
	rules     [1 << needs][]*rule
	events    map[string]*event
	names     []string
	throttles map[string]bool
	fallback  *event
}

// Run checks the messages of a reader. Where it returns an error, the summary is of what was read before.
func Run(ctx context.Context, reader input.Reader, o Options) (Summary, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := newCollector(&o)
	defer func() { _ = c.table.Close() }()
	err := c.collect(ctx, newChecker(&o), reader)
	if err != nil && !(o.Endless && ctx.Err() != nil) {
		return c.summary, err
	}
	return c.finish()
}

func newChecker(o *Options) *checker {
	c := &checker{options: o, events: map[string]*event{}, throttles: map[string]bool{}}
	for _, topic := range topics {
		for _, r := range topic {
			if r.check != nil && o.Wanted(&r.Rule) {
				c.add(r)
			}
		}
	}
	for _, f := range o.Set.Files {
		for _, m := range f.Messages {
			c.events[m.EventType] = newEvent(o.Set, m)
			c.names = append(c.names, m.EventType)
		}
		for _, e := range f.Enums {
			for _, v := range e.Outcomes {
				if v.Outcome == "THROTTLED" {
					c.throttles[string(v.Value.Name())] = true
				}
			}
		}
	}
	if o.Type != nil {
		c.fallback = c.events[o.Type.EventType]
	}
	return c
}

// add adds a rule for all messages that have what it needs.
func (c *checker) add(r *rule) {
	for has := range c.rules {
		if r.needs&^need(has) == 0 {
			c.rules[has] = append(c.rules[has], r)
		}
	}
}

func newEvent(set *schema.Set, m *schema.Message) *event {
	e := &event{Message: m, plan: decode.Compile(set, m), states: statesOf(m.Transition), policy: policyOf(m), place: placeOf(m.Desc)}
	e.expects = expected(e)
	e.templates = [texts]*decode.Template{ofKey: e.plan.Key, ofPrevious: e.plan.Previous, ofBizKey: e.plan.BizKey, ofFingerprint: e.plan.Fingerprint}
	return e
}

// job is a batch and what became of it.
type job struct {
	batch input.Batch
	first uint64 // the number of its first message in the run
	done  chan struct{}
	err   error // of reading or of parsing; what is before it is judged all the same

	findings []finding
	records  []byte // as seen has them
	messages int64
	bytes    int64
	untyped  int64
}

// collect reads batches, has them checked, and takes in the results in the order of the batches.
func (c *collector) collect(ctx context.Context, checker *checker, reader input.Reader) error {
	workers := c.options.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	free, work, order := make(chan *job, workers+2), make(chan *job, workers+2), make(chan *job, workers+2)
	for range cap(free) {
		free <- &job{done: make(chan struct{}, 1)}
	}
	for range workers {
		go func() {
			p := &pass{checker: checker, table: c.table}
			for j := range work {
				p.run(j)
				j.done <- struct{}{}
			}
		}()
	}
	go func() {
		defer close(order)
		defer close(work)
		c.read(ctx, reader, free, work, order)
	}()
	defer cancel()
	return c.takeAll(ctx, cancel, free, order)
}

// drainFor is how long what was read is waited for, once ctx has ended: a reader may be in a read that
// nothing ends.
const drainFor = 2 * time.Second

func (c *collector) takeAll(ctx context.Context, cancel func(), free, order chan *job) error {
	var err error
	var late <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case j, more := <-order:
			if !more {
				return err
			}
			<-j.done
			if err == nil {
				if err = c.take(j); err != nil {
					cancel()
				}
			}
			free <- j
		case <-ended:
			ended, late = nil, time.After(drainFor)
		case <-late:
			return cmp.Or(err, ctx.Err())
		}
	}
}

// read reads until there is an error, which goes to the collector in the last job.
func (c *collector) read(ctx context.Context, reader input.Reader, free, work, order chan *job) {
	var n uint64
	for {
		j := <-free
		j.first, j.batch.Items = n, j.batch.Items[:0]
		j.err = reader.Read(ctx, &j.batch)
		if errors.Is(j.err, io.EOF) {
			return
		}
		if j.err != nil {
			j.batch.Items = nil
		}
		n += uint64(len(j.batch.Items))
		order <- j
		work <- j
		if j.err != nil {
			return
		}
	}
}

// run checks the messages of a batch.
func (p *pass) run(j *job) {
	p.findings = j.findings[:0]
	j.records = j.records[:0]
	j.messages, j.bytes, j.untyped = 0, 0, 0
	var m input.Message
	for i := range j.batch.Items {
		if err := j.batch.Parse(&p.parser, &j.batch.Items[i], &m); err != nil {
			j.err = err
			break
		}
		p.check(j.batch.Source, &m, j.first+uint64(i))
		j.records = p.identify(j.records)
		j.messages++
		j.bytes += int64(len(m.Payload))
		if p.event == nil {
			j.untyped++
		}
	}
	j.findings, p.findings = p.findings, nil
}

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
