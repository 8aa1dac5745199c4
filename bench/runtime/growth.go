package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// growth is a table that grows to ten million keys: what a claim and its completion cost in each tenth, how many bytes
// a key takes, and whether a cleaner keeps up with what is inserted meanwhile.
func growth(ctx context.Context, s size) (report, error) {
	d, err := open(ctx, 2*callers, postgres.Config{Retention: time.Second}) // so that all has expired at the end
	if err != nil {
		return report{}, err
	}
	defer d.drop()
	const steps, samples = 10, 10
	total := s.of(10_000_000)
	wall := comparison{Title: "claim and completion of a key, as the table grows: on the wall", Unit: "µs"}
	cpu := comparison{Title: "claim and completion of a key, as the table grows: processor time", Unit: "µs"}
	for step := range steps {
		name := fmt.Sprintf("from %.2g million keys to %.2g", float64(total)*float64(step)/steps/1e6, float64(total)*float64(step+1)/steps/1e6)
		w, c := contender{Name: name}, contender{Name: name}
		for range samples {
			n := max(total/steps/samples, 1)
			all := keys(n)
			measured := start(d.cpu)
			if err := each(all, func(keys []string) error { return d.claimAndComplete(ctx, keys) }); err != nil {
				return report{}, err
			}
			u := measured.stop(n)
			w.Rounds, c.Rounds = append(w.Rounds, micros(u.wall)/float64(n)), append(c.Rounds, micros(u.cpu)/float64(n))
		}
		wall.Contenders, cpu.Contenders = append(wall.Contenders, w), append(cpu.Contenders, c)
	}
	r := report{Comparisons: []comparison{cpu, wall}}
	sizes, err := d.sizes(ctx)
	if err != nil {
		return r, err
	}
	r.Facts = append(r.Facts, sizes)
	kept, err := d.cleaned(ctx, max(time.Duration(s.share*float64(time.Minute)), time.Second))
	r.Facts = append(r.Facts, kept)
	return r, err
}

// sizes is what the records take, in bytes a key.
func (d *database) sizes(ctx context.Context) (string, error) {
	var n, table, primary float64
	err := d.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM idem_record)::float8,
		coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)::float8,
		coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relname LIKE '%pkey'), 0)::float8
		FROM pg_class WHERE relname LIKE 'idem\_record%'`).Scan(&n, &table, &primary)
	return fmt.Sprintf("%.2g million keys take %.0f bytes each in the table, and %.0f in the index",
		n/1e6, table/n, primary/n), err
}

// cleaned inserts keys for a time, with one cleaner beside, in a table whose other keys have all expired.
func (d *database) cleaned(ctx context.Context, length time.Duration) (string, error) {
	usual, err := postgres.New(d.pool, postgres.Config{})
	if err != nil {
		return "", err
	}
	later := *d
	later.store = usual
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	removed := 0
	ended := make(chan error, 1)
	stop := make(chan struct{})
	began := time.Now()
	var cleaning time.Duration
	go func() {
		for {
			n, err := usual.Clean(ctx, 1000)
			removed += n
			cleaning = time.Since(began)
			if err != nil {
				cancel()
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil || n == 0 { // none is left
				ended <- err
				return
			}
		}
	}()
	inserted := 0
	for time.Since(began) < length {
		all := keys(callers * batch)
		if err := each(all, func(keys []string) error { return later.claimAndComplete(ctx, keys) }); err != nil {
			return "", errors.Join(err, ctx.Err())
		}
		inserted += callers * batch
	}
	took := time.Since(began)
	close(stop)
	err = <-ended
	return fmt.Sprintf("in %.0f s %d keys came at %.1f k/s, and beside them one cleaner removed %d that had expired, at %.1f k/s",
		took.Seconds(), inserted, float64(inserted)/took.Seconds()/1e3, removed, float64(removed)/cleaning.Seconds()/1e3), err
}
