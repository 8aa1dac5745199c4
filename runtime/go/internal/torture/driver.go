//go:build unix

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

//go:embed ledger.sql
var ledger string

// driver is one run.
type driver struct {
	options
	servers   *servers
	processes *processes
	injector  *injector
	db        *pgxpool.Pool
	begin     time.Time
}

// verdict is what a run came to.
type verdict struct {
	violations []history.Violation
	wrong      []string // what is no violation of a promise, and not as it has to be either
}

func (v *verdict) sound() bool { return len(v.violations) == 0 && len(v.wrong) == 0 }

// torture is a run with its report.
func torture(ctx context.Context, o options) int {
	v, err := run(ctx, o)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "torture:", err)
		return exitBroken
	case !v.sound():
		fmt.Printf("\nNOT SOUND. Again: scripts/torture --seed %d --duration %v%s\n", o.seed, o.duration, plantFlag(&o))
		return exitViolated
	}
	fmt.Println("\nsound: nothing lost, nothing done twice, every lane in its order, no offset went back")
	return exitSound
}

func plantFlag(o *options) string {
	if o.bug == "" {
		return ""
	}
	return " --plant " + string(o.bug)
}

// run is everything from the start of the servers to their end.
func run(ctx context.Context, o options) (v *verdict, err error) {
	fmt.Printf("seed %d, %v%s\n", o.seed, o.duration, plantFlag(&o))
	d := &driver{options: o, begin: time.Now()}
	if d.servers, err = startServers(ctx, &o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.servers.stop(o.keep)) }()
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	defer d.db.Close()
	if d.processes, err = newProcesses(&o); err != nil {
		return nil, err
	}
	defer d.processes.end()
	return d.all(ctx)
}

func (d *driver) prepare(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if d.db, err = pgxpool.New(ctx, os.Getenv("STANDBY_URL")); err != nil {
		return err
	}
	s, err := postgres.New(d.db, postgres.Config{})
	if err != nil {
		return err
	}
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	if _, err := d.db.Exec(ctx, ledger); err != nil {
		return err
	}
	return createTopics(ctx)
}

func (d *driver) all(ctx context.Context) (*verdict, error) {
	for _, name := range fleet() {
		if err := d.processes.start(name); err != nil {
			return nil, err
		}
	}
	d.injector = &injector{processes: d.processes, servers: d.servers, done: map[string]int{}}
	live, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { d.live(live) })

	d.warmUp(ctx)
	begin := time.Now()
	faults, end := context.WithTimeout(ctx, d.duration)
	d.injector.run(faults, schedule(d.seed, planOf(&d.options)))
	<-faults.Done()
	end()
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	injected := time.Since(begin)
	v := &verdict{wrong: d.injector.wrong}
	if _, err := d.servers.run(ctx, append([]string{"start"}, d.present()...)...); err != nil {
		return nil, err
	}
	for _, name := range fleet() {
		if err := d.processes.start(name); err != nil {
			return nil, err
		}
	}
	fmt.Println("no more faults: waiting until all is quiet")
	left := d.quiet(ctx)
	if left != "" {
		v.wrong = append(v.wrong, fmt.Sprintf("not quiet %v after the last fault: %s", d.settle, left))
	}
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	quiet := time.Since(begin)
	for _, name := range fleet() {
		if err := d.processes.stop(name, 30*time.Second); err != nil {
			v.wrong = append(v.wrong, err.Error())
		}
	}
	unwanted, err := d.processes.unwanted()
	if err != nil {
		return nil, err
	}
	v.wrong = append(v.wrong, unwanted...)
	h, err := readHistory(ctx, d.db)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	v.violations = history.Check(h)
	if left != "" {
		if err := d.spare(ctx, v); err != nil {
			return nil, err
		}
	}
	return v, d.report(ctx, h, v, injected, quiet)
}

// warmUp waits until the consumers are at work, a minute at most: a short run is for faults.
func (d *driver) warmUp(ctx context.Context) {
	for range 60 {
		if f, err := d.figures(ctx); err == nil && f.effects > 200 || ctx.Err() != nil {
			return
		}
		sleep(ctx, time.Second)
	}
}

// spare takes back that something is lost which is on its way, where a run has not become quiet.
func (d *driver) spare(ctx context.Context, v *verdict) error {
	f, err := d.figures(ctx)
	if err != nil {
		return err
	}
	waiting := map[string]bool{}
	var key string
	if err := each(ctx, d.db, `SELECT idempotency_key FROM msg_retry`, []any{&key}, func() { waiting[key] = true }); err != nil {
		return err
	}
	v.violations = slices.DeleteFunc(v.violations, func(x history.Violation) bool {
		return x.Kind == history.Lost && (f.behind != 0 || f.stored != 0 || waiting[x.Key])
	})
	return nil
}

// present are the servers that are to run in the end: not a primary that was replaced.
func (d *driver) present() []string {
	if d.injector.promoted {
		return []string{"redis", "kafka-cluster"}
	}
	return serverNames
}

// figures is a look at the ledger.
type figures struct {
	produced, effects, letters, behind, retries, stored int64
	stale                                               time.Duration // of behind
}

func (d *driver) figures(ctx context.Context) (f figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	var stale float64
	err = d.db.QueryRow(ctx, `SELECT (SELECT count(*) FROM produced), (SELECT count(*) FROM effect), (SELECT count(*) FROM dead_letter WHERE redriven_at IS NULL),
		(SELECT coalesce(sum(behind), -1) FROM lag), (SELECT count(*) FROM msg_retry), (SELECT count(*) FROM outbox),
		(SELECT coalesce(extract(epoch FROM clock_timestamp() - min(at)), 1000)::float8 FROM lag)`).Scan(&f.produced, &f.effects, &f.letters, &f.behind, &f.retries, &f.stored, &stale)
	f.stale = time.Duration(stale * float64(time.Second))
	return f, err
}

// mostBehind is where producers wait, so that a run ends soon after its faults.
const mostBehind = 15_000

// live prints a line now and then, and has producers wait where consumers do not keep up.
func (d *driver) live(ctx context.Context) {
	for sleep(ctx, 5*time.Second); ctx.Err() == nil; sleep(ctx, 5*time.Second) {
		f, err := d.figures(ctx)
		if err != nil {
			fmt.Printf("%6s  the ledger cannot be read at the moment\n", d.since())
			continue
		}
		fmt.Printf("%6s  produced %d, effects %d, dead letters %d, faults %d (%d kills), lag %d, retries %d, outbox %d\n",
			d.since(), f.produced, f.effects, f.letters, d.injector.total(""), d.injector.total("kill"), f.behind, f.retries, f.stored)
		_, _ = d.db.Exec(ctx, `UPDATE control SET hold = $1 WHERE hold <> $1`, f.behind+f.retries+f.stored > mostBehind)
	}
}

func (d *driver) since() string { return time.Since(d.begin).Round(time.Second).String() }

// total is how many faults there were whose name begins so.
func (n *injector) total(prefix string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := 0
	for what, count := range n.done {
		if strings.HasPrefix(what, prefix) {
			all += count
		}
	}
	return all
}

// quiet ends the producers, waits until nothing is left to do, and says what is, where that takes too long.
func (d *driver) quiet(ctx context.Context) (left string) {
	ctx, cancel := context.WithTimeout(ctx, d.settle)
	defer cancel()
	for calm := 0; calm < 4; {
		_, err := d.db.Exec(ctx, `UPDATE control SET stop = true, calm = true`)
		var f figures
		if err == nil {
			f, err = d.figures(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return left
		case err != nil:
			left, calm = err.Error(), 0
		case f.behind != 0 || f.retries != 0 || f.stored != 0 || f.stale > 3*time.Second:
			left = fmt.Sprintf("lag %d (seen %v ago), retries %d, outbox %d", f.behind, f.stale.Round(time.Second), f.retries, f.stored)
			calm = 0
		default:
			calm++
		}
		sleep(ctx, time.Second)
	}
	return ""
}

func indent(lines string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(lines, "\n"), "\n", "\n    ")
}
