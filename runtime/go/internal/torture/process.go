//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/plant"
)

// processes are the roles at work. Each is in a process group of its own, and dies with the driver.
type processes struct {
	self, logs string
	seed       uint64
	rate       int
	bug        plant.Bug
	starts     chan func()
	next       atomic.Int64 // incarnation

	mu      sync.Mutex
	running map[string]*process
	over    bool
	deaths  []string // that nobody wanted
}

type process struct {
	command *exec.Cmd
	wanted  atomic.Bool // its end
	paused  atomic.Bool
	ended   chan struct{}
}

func newProcesses(o *options) (*processes, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	logs, err := filepath.Abs(filepath.Join(o.home, "logs"))
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(logs); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	p := &processes{self: self, logs: logs, seed: o.seed, rate: o.rate, bug: o.bug, starts: make(chan func()), running: make(map[string]*process)}
	go func() {
		runtime.LockOSThread() // children die with the thread that started them
		for start := range p.starts {
			start()
		}
	}()
	return p, nil
}

// executable is this program, also where another one has been built in its place meanwhile.
func executable() (string, error) {
	self := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// start starts a role, named as in fleet, where it does not run.
func (p *processes) start(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.running[name] != nil {
		return nil
	}
	role, rest, _ := strings.Cut(name, "-")
	arguments := []string{
		role, "--name", name, "--incarnation", strconv.FormatInt(p.next.Add(1), 10), "--seed", strconv.FormatUint(p.seed, 10),
		"--log", filepath.Join(p.logs, name+".log"), "--plant", string(p.bug), "--rate", strconv.Itoa(max(p.rate/3, 1)),
	}
	if topic, _, more := strings.Cut(rest, "-"); more {
		arguments = append(arguments, "--topic", topic)
	}
	out, err := os.OpenFile(filepath.Join(p.logs, name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	r := &process{command: exec.Command(p.self, arguments...), ended: make(chan struct{})}
	r.command.Stdout, r.command.Stderr = out, out
	r.command.SysProcAttr = childAttributes()
	r.command.Env = append(os.Environ(), "GOMAXPROCS=2", "GOMEMLIMIT=300MiB")
	started := make(chan error)
	p.starts <- func() { started <- r.command.Start() }
	if err := <-started; err != nil {
		return err
	}
	p.running[name] = r
	go p.wait(name, r)
	return nil
}

func (p *processes) wait(name string, r *process) {
	err := r.command.Wait()
	p.mu.Lock()
	if p.running[name] == r {
		delete(p.running, name)
	}
	unwanted := !r.wanted.Load() && !p.over
	if unwanted {
		p.deaths = append(p.deaths, fmt.Sprintf("%s ended by itself: %v; see %s", name, err, filepath.Join(p.logs, name+".log")))
	}
	p.mu.Unlock()
	close(r.ended)
	if unwanted {
		time.Sleep(time.Second)
		_ = p.start(name)
	}
}

// signal sends a signal to a process's group; false where it does not run.
func (p *processes) signal(name string, s syscall.Signal) (*process, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.running[name]
	if r == nil {
		return nil, false
	}
	if s != syscall.SIGSTOP && s != syscall.SIGCONT {
		r.wanted.Store(true)
	}
	return r, syscall.Kill(-r.command.Process.Pid, s) == nil
}

// kill ends a process by -9, and starts it again after a time.
func (p *processes) kill(ctx context.Context, name string, after time.Duration) bool {
	r, ok := p.signal(name, syscall.SIGKILL)
	if !ok {
		return false
	}
	<-r.ended
	sleep(ctx, after)
	return p.start(name) == nil
}

// pause stops a process for a time. One that is killed meanwhile is gone.
func (p *processes) pause(ctx context.Context, name string, length time.Duration) bool {
	r, ok := p.signal(name, syscall.SIGSTOP)
	if !ok {
		return false
	}
	select {
	case <-r.ended:
		return true
	case <-ctx.Done():
	case <-time.After(length):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-r.ended: // its pid may be another's
	default:
		_ = syscall.Kill(-r.command.Process.Pid, syscall.SIGCONT)
	}
	return true
}

// stop ends a role for good, orderly if it can be, and by force after a time.
func (p *processes) stop(name string, patience time.Duration) error {
	r, ok := p.signal(name, syscall.SIGTERM)
	if !ok {
		return nil
	}
	_, _ = p.signal(name, syscall.SIGCONT)
	select {
	case <-r.ended:
		return nil
	case <-time.After(patience):
		_, _ = p.signal(name, syscall.SIGKILL)
		<-r.ended
		return errors.New(name + " did not end within " + patience.String())
	}
}

// end kills all.
func (p *processes) end() {
	p.mu.Lock()
	p.over = true
	var all []*process
	for _, r := range p.running {
		r.wanted.Store(true)
		_ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL)
		all = append(all, r)
	}
	p.mu.Unlock()
	for _, r := range all {
		<-r.ended
	}
}

// unwanted are ends that nobody wanted, and what the race detector and the runtime of Go had to say.
func (p *processes) unwanted() ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := append([]string(nil), p.deaths...)
	outs, err := filepath.Glob(filepath.Join(p.logs, "*.out"))
	if err != nil {
		return nil, err
	}
	for _, out := range outs {
		text, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		for _, word := range []string{"DATA RACE", "fatal error:", "panic:"} {
			if n := strings.Count(string(text), word); n > 0 {
				all = append(all, fmt.Sprintf("%d times %q in %s", n, word, out))
			}
		}
	}
	return all, nil
}
