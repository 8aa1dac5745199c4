package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// maxLine is the longest line that a port may write.
	maxLine = 1 << 20
	// logSize is how much of a port's standard error is kept.
	logSize = 64 << 10
	// logLines is how much of it is shown with a fault.
	logLines = 20
	// grace is how long a process may take to be gone once its output has ended.
	grace = 2 * time.Second
)

var (
	errTimeout = errors.New("no line within the time limit")
	errTooLong = fmt.Errorf("a line of more than %d bytes", maxLine)
)

// Command is how a port is started.
type Command struct {
	Path string
	Args []string
	// Env is added to the environment of this process.
	Env []string
}

// port is one process. Its methods are called from one goroutine, but for kill.
type port struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	log    *ring
	hello  Hello

	// exited is closed when the process is gone; its state is in cmd then.
	exited chan struct{}
	// logged is closed when the standard error has ended.
	logged chan struct{}
	// done is closed when the port is to be given up, to free the goroutines.
	done     chan struct{}
	stopOnce sync.Once
	working  sync.WaitGroup

	out writer

	chunks chan []byte
	chunk  []byte // what is left of the chunk in hand
	spill  []byte // a line that began in an earlier chunk
	timer  *time.Timer
}

// startPort starts a process. It has not said hello yet.
func startPort(command Command) (*port, error) {
	cmd := exec.Command(command.Path, command.Args...)
	if len(command.Env) > 0 {
		cmd.Env = append(os.Environ(), command.Env...)
	}
	ownGroup(cmd)
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll()
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		files = append(files, r, w)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	if err := cmd.Start(); err != nil {
		closeAll()
		return nil, err
	}
	for _, theirs := range []int{0, 3, 5} {
		_ = files[theirs].Close()
	}
	p := &port{
		cmd: cmd, stdin: files[1], stdout: files[2], stderr: files[4], log: newRing(logSize),
		exited: make(chan struct{}), logged: make(chan struct{}), done: make(chan struct{}),
		chunks: make(chan []byte), timer: time.NewTimer(time.Hour),
	}
	p.out.init(p.stdin)
	p.working.Add(4)
	go func() { defer p.working.Done(); p.wait() }()
	go func() { defer p.working.Done(); p.read() }()
	go func() { defer p.working.Done(); p.drain() }()
	go func() { defer p.working.Done(); p.out.run() }()
	return p, nil
}

// wait waits for the process and ends what it left behind. A child that left the group keeps the
// pipe open; so the end of the process, some time later, counts as the end of its output.
func (p *port) wait() {
	_ = p.cmd.Wait()
	killGroup(p.cmd)
	close(p.exited)
}

// read hands the output over in chunks. A chunk is valid until the next one is taken, so two buffers
// do; and a port that writes without being asked is held up by its own pipe.
func (p *port) read() {
	defer close(p.chunks)
	var buffers [2][64 << 10]byte
	for i := 0; ; i ^= 1 {
		n, err := p.stdout.Read(buffers[i][:])
		if n > 0 {
			select {
			case p.chunks <- buffers[i][:n]:
			case <-p.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// drain keeps the end of the standard error.
func (p *port) drain() {
	_, _ = io.Copy(p.log, p.stderr)
	close(p.logged)
}

// pending reports whether the chunk in hand has a whole line.
func (p *port) pending() bool { return bytes.IndexByte(p.chunk, '\n') >= 0 }

// line returns the next line without its end, valid until the next call. The error is errTimeout,
// errTooLong, the context's, or io.EOF; io.ErrUnexpectedEOF where the output ends within a line.
func (p *port) line(ctx context.Context, limit time.Time) ([]byte, error) {
	p.spill = p.spill[:0]
	for {
		if i := bytes.IndexByte(p.chunk, '\n'); i >= 0 {
			line := p.chunk[:i]
			p.chunk = p.chunk[i+1:]
			if len(p.spill) > 0 {
				p.spill = append(p.spill, line...)
				line = p.spill
			}
			if len(line) > maxLine {
				return line, errTooLong
			}
			return line, nil
		}
		p.spill = append(p.spill, p.chunk...)
		p.chunk = nil
		if len(p.spill) > maxLine {
			return p.spill, errTooLong
		}
		if err := p.fetch(ctx, limit); err != nil {
			if err == io.EOF && len(p.spill) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return p.spill, err
		}
	}
}

// fetch waits for the next chunk.
func (p *port) fetch(ctx context.Context, limit time.Time) error {
	p.timer.Reset(time.Until(limit))
	exited, late := p.exited, false
	for {
		select {
		case chunk, ok := <-p.chunks:
			if !ok {
				return io.EOF
			}
			p.chunk = chunk
			return nil
		case <-exited:
			// What it wrote is in the pipe already, and the end comes with it; unless a child that left
			// the group holds the pipe open.
			exited = nil
			p.timer.Reset(grace)
		case <-p.timer.C:
			switch {
			case !late:
				// A machine that slept wakes up to a timer and a chunk at once: the chunk counts.
				late = true
				p.timer.Reset(grace / 40)
			case exited == nil:
				return io.EOF
			default:
				return errTimeout
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// greet sends hello and waits for the port's.
func (p *port) greet(ctx context.Context, limit time.Duration) error {
	p.out.add([]byte(`{"type":"hello","protocol":"` + protocol + `"}` + "\n"))
	line, err := p.line(ctx, time.Now().Add(limit))
	switch {
	case err == nil:
		p.hello, err = parseHello(line)
		return err
	case errors.Is(err, errTimeout):
		return fmt.Errorf("the port said no hello within %v", limit)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the port %s before it said hello", p.ending())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the port %s within its hello: %s", p.ending(), quoteLine(line))
	case errors.Is(err, errTooLong):
		return fmt.Errorf("the hello is %w", err)
	default:
		return err
	}
}

// ending says how the process came to its end, after its output did.
func (p *port) ending() string {
	select {
	case <-p.exited:
	case <-time.After(grace):
		return "closed its standard output"
	}
	state := p.cmd.ProcessState
	if state.Exited() {
		return fmt.Sprintf("exited with code %d", state.ExitCode())
	}
	return "was ended by " + state.String()
}

// stop ends the process and all that came with it, and waits until everything is gone and its
// standard error is in the log.
func (p *port) stop() {
	p.stopOnce.Do(func() {
		close(p.done)
		select {
		case <-p.exited:
		default:
			killGroup(p.cmd)
			<-p.exited
		}
		p.out.close()
		_ = p.stdin.Close()
		_ = p.stdout.Close()
		select {
		case <-p.logged:
		case <-time.After(grace):
		}
		_ = p.stderr.Close()
		p.working.Wait()
		p.timer.Stop()
	})
}

// stderrTail returns the last lines of the log.
func (p *port) stderrTail() string { return p.log.tail(logLines) }

// writer writes what is added to it, in order, from a goroutine of its own: so that a port that
// does not read while it writes never holds up the one who reads from it. The caller bounds what
// waits in it.
type writer struct {
	file   *os.File
	mu     sync.Mutex
	wake   sync.Cond
	buf    []byte
	last   bool // close the file once all is written
	closed bool
	err    error
}

func (w *writer) init(file *os.File) {
	w.file = file
	w.wake.L = &w.mu
}

func (w *writer) add(p []byte) {
	w.mu.Lock()
	w.buf = append(w.buf, p...)
	w.mu.Unlock()
	w.wake.Signal()
}

// end closes the file once all is written.
func (w *writer) end() {
	w.mu.Lock()
	w.last = true
	w.mu.Unlock()
	w.wake.Signal()
}

func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake.Signal()
}

// failed returns the error that ended the writing.
func (w *writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *writer) run() {
	var spare []byte
	for {
		w.mu.Lock()
		for len(w.buf) == 0 && !w.closed && !w.last {
			w.wake.Wait()
		}
		if w.closed || len(w.buf) == 0 {
			if !w.closed {
				_ = w.file.Close()
			}
			w.mu.Unlock()
			return
		}
		batch := w.buf
		w.buf = spare[:0]
		w.mu.Unlock()
		_, err := w.file.Write(batch)
		spare = batch
		if err != nil {
			w.mu.Lock()
			w.err, w.closed = err, true
			w.mu.Unlock()
			return
		}
	}
}
