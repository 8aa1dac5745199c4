package checklist

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// StartError is a service that could not be started.
type StartError struct {
	Service string
	Err     error
	Log     string // its end
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("service %s could not be started: %v", e.Service, e.Err)
	if e.Log != "" {
		text += "; the end of what it said:\n" + e.Log
	}
	return text
}

// Unwrap gives the reason.
func (e *StartError) Unwrap() error { return e.Err }

// instance is one process.
type instance struct {
	name    string
	what    Process
	command *exec.Cmd
	log     string
	ready   chan struct{} // closed when it says so
	ended   chan struct{}
	said    chan struct{} // closed when all that it said is in its log
	started time.Time

	mu     sync.Mutex
	wanted bool // its end
}

// starter starts processes on one thread that lives as long as this program: the kernel kills children with the
// thread that started them.
var starter = sync.OnceValue(func() chan func() {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return starts
})

// launch starts a process. It does not wait until it is ready.
func launch(a *Adapter, what Process, name, logs string, v values) (*instance, error) {
	v = v.with("instance", name)
	i := &instance{name: name, what: what, log: filepath.Join(logs, name+".log"), ready: make(chan struct{}), ended: make(chan struct{}), said: make(chan struct{}), started: time.Now()}
	words := make([]string, len(what.Command))
	for n, word := range what.Command {
		words[n] = v.fill(word)
	}
	i.command = exec.Command(words[0], words[1:]...)
	i.command.Dir = filepath.Join(a.dir, v.fill(what.Directory))
	i.command.Env = os.Environ()
	for name, value := range what.Env {
		i.command.Env = append(i.command.Env, name+"="+v.fill(value))
	}
	ownGroup(i.command)
	log, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	i.command.Stdout, i.command.Stderr = write, write
	started := make(chan error)
	starter() <- func() { started <- i.command.Start() }
	err = <-started
	_ = write.Close()
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	go i.read(read, log)
	go func() {
		_ = i.command.Wait() // how it ended is asked of ProcessState
		close(i.ended)
	}()
	return i, nil
}

// maxLog is the most bytes of a log: one that is longer begins anew. tailBytes is the most of its end in a report.
const (
	maxLog    = 256 << 20
	tailBytes = 64 << 10
)

// read copies what the process says into its log, and looks for the line that says it is ready.
func (i *instance) read(from, log *os.File) {
	defer close(i.said)
	defer from.Close()
	defer log.Close()
	told, size := false, 0
	in := bufio.NewReaderSize(from, tailBytes)
	for {
		line, err := in.ReadSlice('\n') // in pieces where it is longer
		if size += len(line); size > maxLog {
			_ = log.Truncate(0)
			size = len(line)
		}
		_, _ = log.Write(line)
		if !told && i.what.Ready != "" && bytes.Contains(line, []byte(i.what.Ready)) {
			told = true
			close(i.ready)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// alive says whether it runs.
func (i *instance) alive() bool {
	select {
	case <-i.ended:
		return false
	default:
		return true
	}
}

// kill is -9, and waits until it is over.
func (i *instance) kill() {
	i.want()
	killGroup(i.command.Process)
	<-i.ended
}

// end is an orderly end, or kill where that takes too long. It says whether it was orderly.
func (i *instance) end(patience time.Duration) bool {
	i.want()
	endGroup(i.command.Process)
	select {
	case <-i.ended:
		killGroup(i.command.Process) // what it may have left
		return true
	case <-time.After(patience):
		i.kill()
		return false
	}
}

// want says that its end is meant.
func (i *instance) want() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wanted = true
}

// unwanted says that it has ended, and nobody meant it to.
func (i *instance) unwanted() bool {
	if i.alive() {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.wanted
}

// tail is the end of its log. What a process said last may still be on its way when it has ended; a child of it that goes
// on keeps the pipe open, and is not waited for.
func (i *instance) tail(lines int) string {
	if !i.alive() {
		select {
		case <-i.said:
		case <-time.After(time.Second):
		}
	}
	return tailOf(i.log, lines)
}

func tailOf(file string, lines int) string {
	log, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = log.Seek(-tailBytes, io.SeekEnd)
	}
	data, err := io.ReadAll(io.LimitReader(log, tailBytes))
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(len(all)-lines, 0):], "\n")
}

// shell runs a command of the adapter and waits for it.
func shell(ctx context.Context, a *Adapter, command string, v values) error {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", v.fill(command))
	c.Dir = a.dir
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, strings.TrimSpace(string(out)))
	}
	return nil
}
