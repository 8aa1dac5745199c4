package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Limits bound what a port may take. A zero value stands for the default.
type Limits struct {
	// Case is the time for one answer. Default 2 s.
	Case time.Duration
	// Start is the time for the hello; a port builds what it needs on first use. Default 5 min.
	Start time.Duration
	// End is the time to exit after `end`. Default 10 s.
	End time.Duration
	// Window is how many cases may be asked before the first answer. Default 1024.
	Window int
	// Restarts is how many times in a row a port may stop without having answered a case, before
	// the rest is not asked. Default 100.
	Restarts int
}

func (l *Limits) setDefaults() {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&l.Case, 2*time.Second)
	def(&l.Start, 5*time.Minute)
	def(&l.End, 10*time.Second)
	if l.Window <= 0 {
		l.Window = 1024
	}
	if l.Restarts <= 0 {
		l.Restarts = 100
	}
}

// silentStops is how many times a port may stop that has not answered a single case yet.
const silentStops = 10

// windowBytes bounds the cases that wait for an answer in bytes. A case alone may be larger.
const windowBytes = 4 << 20

// sink takes what comes of the cases. The i-th case is the i-th that the source gave.
type sink interface {
	// answered is called once for each answer. The answer points into a buffer that is reused.
	answered(i int, a *answer)
	// failed is called for a case without an answer, and for one that was answered once too often.
	failed(i int, f *Fault)
	// found is called for what is no case's fault alone.
	found(f Finding)
}

// conversation asks a port cases and starts it again where it stops.
//
// Several cases are asked before the first answer. A port may keep its answers back while it has
// input to read, so when it stops, the first case without an answer need not be the cause. It is
// then asked what it left unanswered one case at a time, until one stops it again: that one fails.
type conversation struct {
	command Command
	limits  Limits
	// next gives the next case, from its op on, or nil. It stays valid until it is answered.
	next func() []byte
	sink sink

	port *port
	// hello is the first process's.
	hello Hello
	// queue has the cases without an answer; the first sent of them were sent to this process.
	queue      [][]byte
	sent       int
	sentBytes  int
	first      int // the number of the first case in the queue
	here       int // the number of the first case that this process was sent
	scratch    []byte
	lastAnswer time.Time

	window    int
	maxWindow int
	round     int       // answers since the window was last looked at
	roundFrom time.Time // and when that was

	suspects     int    // how many of the queue are to be asked one at a time
	suspicion    *Fault // what stopped the process that was asked them together
	suspectsFrom time.Time

	mute  int  // stops in a row without an answer
	heard bool // whether any process ever answered
}

// run asks all cases, then ends the port. The error is a *NotRunError or the context's.
func (c *conversation) run(ctx context.Context) error {
	c.limits.setDefaults()
	c.maxWindow = c.limits.Window
	defer func() {
		if c.port != nil {
			c.port.stop()
		}
	}()
	if err := c.start(ctx); err != nil {
		return err
	}
	c.hello = c.port.hello
	for {
		c.fill()
		if c.sent == 0 {
			return c.finish(ctx)
		}
		line, err := c.port.line(ctx, c.lastAnswer.Add(c.limits.Case))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var fault *Fault
		if err == nil {
			fault = c.take(line)
		} else {
			fault = c.stopped(line, err)
		}
		if fault == nil {
			continue
		}
		if goOn, err := c.again(ctx, fault); !goOn {
			return err
		}
	}
}

// start starts a process and exchanges hello.
func (c *conversation) start(ctx context.Context) error {
	p, err := startPort(c.command)
	if err != nil {
		return &NotRunError{Err: fmt.Errorf("start the port: %w", err)}
	}
	if err := p.greet(ctx, c.limits.Start); err != nil {
		p.stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &NotRunError{Err: err, Stderr: p.stderrTail()}
	}
	c.port = p
	c.sent, c.sentBytes = 0, 0
	c.here = c.first
	c.window = 1
	c.round = 0
	return nil
}

// fill sends cases up to the window, unless answers are at hand and enough cases are out.
func (c *conversation) fill() {
	if c.port.pending() && c.sent > c.window/2 {
		return
	}
	c.scratch = c.scratch[:0]
	for c.sent < c.window && (c.sent == 0 || c.sentBytes < windowBytes) {
		if c.sent == len(c.queue) {
			tail := c.next()
			if tail == nil {
				break
			}
			c.queue = append(c.queue, tail)
		}
		if c.sent == 0 {
			c.lastAnswer = time.Now()
		}
		if c.round == 0 && len(c.scratch) == 0 {
			c.roundFrom = time.Now()
		}
		tail := c.queue[c.sent]
		c.scratch = append(c.scratch, `{"type":"case","seq":`...)
		c.scratch = strconv.AppendInt(c.scratch, int64(c.first+c.sent-c.here)+1, 10)
		c.scratch = append(c.scratch, tail...)
		c.sent++
		c.sentBytes += len(tail)
	}
	if len(c.scratch) > 0 {
		c.port.out.add(c.scratch)
	}
}

// take takes a line as the answer to the first case in the queue, or returns a *Fault.
func (c *conversation) take(line []byte) *Fault {
	a, err := parseAnswer(line)
	if err != nil {
		return &Fault{Kind: WrongLine, Text: fmt.Sprintf("%v: %s", err, quoteLine(line))}
	}
	want := int64(c.first-c.here) + 1
	if a.seq != want {
		fault := &Fault{Kind: WrongLine, Text: fmt.Sprintf("seq %d instead of %d: %s", a.seq, want, quoteLine(line))}
		if a.seq >= 1 && a.seq < want {
			fault.Text = "answered a second time: " + quoteLine(line)
			fault.twice, fault.of = true, c.here+int(a.seq)-1
		}
		return fault
	}
	c.sink.answered(c.first, &a)
	c.pop()
	c.mute = 0
	c.heard = true
	c.pace()
	return nil
}

// pop removes the first case from the queue.
func (c *conversation) pop() {
	if c.sent > 0 {
		c.sent--
		c.sentBytes -= len(c.queue[0])
	}
	c.queue[0] = nil
	c.queue = c.queue[1:]
	c.first++
}

// pace widens the window while a port answers it in far less than the limit of one case: so a slow
// port that keeps its answers back is never asked more than it can answer in time.
func (c *conversation) pace() {
	c.lastAnswer = time.Now()
	if c.suspects > 0 {
		if c.suspects--; c.suspects == 0 {
			c.unproven()
		}
		return
	}
	if c.round++; c.round < c.window {
		return
	}
	switch took := c.lastAnswer.Sub(c.roundFrom); {
	case took < c.limits.Case/16:
		c.window = min(2*c.window, c.maxWindow)
	case took > c.limits.Case/4:
		c.window = max(c.window/2, 1)
	}
	c.round = 0
	c.roundFrom = c.lastAnswer
}

// unproven is called when a port that had stopped has answered all it was suspected of.
func (c *conversation) unproven() {
	f := c.suspicion
	c.suspicion = nil
	c.round = 0
	if f.Kind == Hang && time.Since(c.suspectsFrom) > c.limits.Case {
		// Slow, each within its limit, and its answers kept back: nobody's fault.
		c.maxWindow = max(c.maxWindow/8, 1)
		return
	}
	c.maxWindow = 1
	c.sink.found(Finding{Code: NotReproduced, Text: "with several cases asked before the first answer the port failed, " +
		"asked one at a time it answered all of them; the rest was asked one at a time (" + f.Error() + ")", Stderr: f.Stderr})
}

// stopped says what kind of fault the end of the lines is.
func (c *conversation) stopped(line []byte, err error) *Fault {
	switch {
	case errors.Is(err, errTimeout):
		text := fmt.Sprintf("no answer within %v", c.limits.Case)
		if !c.heard {
			text += "; is each answer flushed when there is no more input to read (CONF-005)?"
		}
		if w := c.port.out.failed(); w != nil {
			text += ", and its standard input is closed"
		}
		return &Fault{Kind: Hang, Text: text}
	case errors.Is(err, errTooLong):
		return &Fault{Kind: WrongLine, Text: fmt.Sprintf("%v: %s", err, quoteLine(line))}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Fault{Kind: Crash, Text: fmt.Sprintf("%s within a line: %s", c.port.ending(), quoteLine(line))}
	default:
		return &Fault{Kind: Crash, Text: c.port.ending() + " before it answered"}
	}
}

// again accounts for a fault and starts the port again. It reports whether there is more to ask.
func (c *conversation) again(ctx context.Context, f *Fault) (goOn bool, err error) {
	c.port.stop()
	f.Stderr = c.port.stderrTail()
	c.port = nil
	switch {
	case f.twice:
		c.sink.failed(f.of, f)
		c.suspects = 0
	case c.sent > 1:
		c.suspects = c.sent
		c.suspicion = f
		c.suspectsFrom = time.Now()
	default:
		c.sink.failed(c.first, f)
		c.pop()
		c.suspects = 0
		c.mute++
	}
	if c.mute >= c.limits.Restarts || !c.heard && c.mute >= silentStops {
		return false, c.giveUp(ctx, fmt.Sprintf("the port stopped %d times in a row without an answer", c.mute), f.Stderr)
	}
	for try := range 3 {
		time.Sleep(time.Duration(try) * 100 * time.Millisecond)
		if err = c.start(ctx); err == nil || ctx.Err() != nil {
			return err == nil, err
		}
	}
	var stderr string
	if e := (*NotRunError)(nil); errors.As(err, &e) {
		stderr = e.Stderr
	}
	return false, c.giveUp(ctx, "the port could not be started again: "+err.Error(), stderr)
}

// giveUp fails all that is left.
func (c *conversation) giveUp(ctx context.Context, why, stderr string) error {
	c.sink.found(Finding{Code: GaveUp, Text: why + "; the rest was not asked", Stderr: stderr})
	c.sent = 0
	for ctx.Err() == nil {
		if len(c.queue) == 0 {
			tail := c.next()
			if tail == nil {
				return nil
			}
			c.queue = append(c.queue, tail)
		}
		c.sink.failed(c.first, &Fault{Kind: NotAsked, Text: why})
		c.pop()
	}
	return ctx.Err()
}

// finish sends `end` and checks that nothing more is written and that the exit code is 0.
func (c *conversation) finish(ctx context.Context) error {
	c.port.out.add([]byte(`{"type":"end"}` + "\n"))
	found, err := c.port.leave(ctx, "end", 0, c.limits.End)
	if found != nil {
		c.sink.found(*found)
	}
	return err
}
