//go:build unix

package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// role is the variable that makes the test binary a consumer of its own, to be killed and stopped.
const role = "IDEM_FAULTS_ROLE"

// childConfig is what a child is told.
type childConfig struct {
	place
	CommitInterval time.Duration
	HandlerTimeout time.Duration
	Lease          time.Duration
}

func TestMain(m *testing.M) {
	told, isChild := os.LookupEnv(role)
	if !isChild {
		// They wait for leases, delays and sessions, most of the time.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := child(told); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deadly is a message whose handler kills its process. Its effect is outside, so that its lease can be short.
type deadly struct{ wrapperspb.StringValue }

func (*deadly) IdemEventType() string { return "deadly" }

// outside is a message whose effect is outside, and had once by its key.
type outside struct{ wrapperspb.StringValue }

func (*outside) IdemEventType() string { return "outside" }

// child consumes until its parent has gone. Work that says "hold" tells that it is in the handler, and waits for a line
// of its parent.
func child(told string) error {
	var c childConfig
	if err := json.Unmarshal([]byte(told), &c); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	b, err := kafka.Open(kafkaConfig(c.Brokers, log))
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(context.Background(), c.Database)
	if err != nil {
		return err
	}
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		return err
	}
	goOn := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			goOn <- struct{}{}
		}
		os.Exit(0) // the parent has gone
	}()
	hold := func(ctx context.Context, text string) {
		if text == "hold" {
			say("holds", guard.KeyOf(ctx))
			<-goOn
		}
	}
	config := c.config(log, teller{})
	config.CommitInterval = c.CommitInterval
	config.Guard = guard.Config{HandlerTimeout: c.HandlerTimeout, Lease: c.Lease}
	k, err := consumer.New(plantedBroker(b), plantedStore(s), config,
		consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *work) error {
			err := effect(ctx, tx, "child")
			hold(ctx, m.GetValue())
			return err
		}),
		consumer.Idempotent(func(ctx context.Context, m *outside) error {
			hold(ctx, m.GetValue())
			return once(context.WithoutCancel(ctx), pool, "child")
		}),
		consumer.Idempotent(func(context.Context, *deadly) error {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}))
	if err != nil {
		return err
	}
	return k.Run(context.Background())
}

// once is an effect on a server that takes each key once, as one that is handed the key does.
func once(ctx context.Context, pool *pgxpool.Pool, worker string) error {
	_, err := pool.Exec(ctx, `INSERT INTO effect (key, worker) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM effect WHERE key = $1)`, guard.KeyOf(ctx), worker)
	return err
}

var saying sync.Mutex

func say(words ...string) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Println(strings.Join(words, " "))
}

// teller tells a child's parent how deliveries ended.
type teller struct{}

func (teller) Delivery(_ context.Context, d *observe.Delivery) {
	say("ended", d.Key, d.Outcome.String())
}

func (teller) Measure(observe.Metric, observe.Labels, float64) {}

// process is a child.
type process struct {
	w       *world
	command *exec.Cmd
	in      io.WriteCloser
	said    lines
	ended   chan struct{}
}

// spawn starts a child. It is killed when the test is over.
func (w *world) spawn(c childConfig) *process {
	w.Helper()
	c.place = w.place
	told, err := json.Marshal(c)
	require.NoError(w, err)
	p := &process{w: w, command: exec.Command(os.Args[0]), ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), role+"="+string(told))
	p.command.Stdout, p.command.Stderr = &p.said, w.log
	p.in, err = p.command.StdinPipe()
	require.NoError(w, err)
	require.NoError(w, p.command.Start())
	go func() {
		_ = p.command.Wait() // how it ended is asked of ProcessState
		close(p.ended)
	}()
	w.Cleanup(p.kill)
	return p
}

// signal is for a child that lives.
func (p *process) signal(s syscall.Signal) {
	p.w.Helper()
	require.NoError(p.w, p.command.Process.Signal(s))
}

// kill ends it by -9, whether it lives or not.
func (p *process) kill() {
	_ = p.command.Process.Kill() // the error says that it is over
	<-p.ended
}

// killed says that the child has ended by -9.
func (p *process) killed() bool {
	status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// untilSaid waits for a line of the child.
func (p *process) untilSaid(words ...string) {
	p.w.Helper()
	line := strings.Join(words, " ") + "\n"
	p.w.until(func() string {
		if strings.Contains(p.said.all(), line) {
			return ""
		}
		select {
		case <-p.ended:
			p.w.Fatalf("the child ended before it said %q", line)
		default:
		}
		return "the child has not said " + line
	})
}

// goOn lets a handler that holds go on.
func (p *process) goOn() {
	p.w.Helper()
	_, err := io.WriteString(p.in, "\n")
	require.NoError(p.w, err)
}
