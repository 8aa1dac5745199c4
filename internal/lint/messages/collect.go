package messages

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/idem-spec/idem/internal/lint/messages/input"
)

// job is a batch and what became of it.
type job struct {
	batch input.Batch
	first uint64 // the number of its first message in the run
	done  chan struct{}
	err   error // of reading; what is before it is judged all the same

	findings []finding
	records  []byte // as seen has them
	messages int64
	bytes    int64
	untyped  int64
	unparsed int64
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
	j.messages, j.bytes, j.untyped, j.unparsed = 0, 0, 0, 0
	var m input.Message
	for i := range j.batch.Items {
		j.messages++
		if err := j.batch.Parse(&p.parser, &j.batch.Items[i], &m); err != nil {
			p.reject(j.batch.Source, m.Number, j.first+uint64(i), err)
			j.unparsed++
			continue
		}
		p.check(j.batch.Source, &m, j.first+uint64(i))
		j.records = p.identify(j.records)
		j.bytes += int64(len(m.Payload))
		if p.event == nil {
			j.untyped++
		}
	}
	j.findings, p.findings = p.findings, nil
}
