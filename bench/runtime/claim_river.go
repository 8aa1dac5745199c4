package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverQueue is River on the same database.
type riverQueue struct{ *database }

type job struct {
	OrderID string `json:"order_id"`
}

func (job) Kind() string { return "refund" }

type worker struct {
	river.WorkerDefaults[job]
	count func()
}

func (w *worker) Work(context.Context, *river.Job[job]) error { w.count(); return nil }

func newRiver(ctx context.Context, d *database) (*riverQueue, error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(d.pool), nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	return &riverQueue{d}, nil
}

// work measures jobs from the start of a client to the end of its last one's completion. The settings are those of
// River's own benchmark. That jobs have to be inserted first is not counted.
func (r *riverQueue) work(ctx context.Context, n int) (usage, error) {
	done := make(chan struct{})
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{count: countdown(n, func() { close(done) }, none)})
	client, err := river.NewClient(riverpgxv5.New(r.pool), &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}, Workers: workers,
	})
	if err != nil {
		return usage{}, err
	}
	if err := r.insert(ctx, client, n); err != nil {
		return usage{}, err
	}
	measured := start(r.cpu)
	if err := client.Start(ctx); err != nil {
		return usage{}, err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return usage{}, ctx.Err()
	}
	if err := client.Stop(ctx); err != nil {
		return usage{}, err
	}
	u := measured.stop(n)
	var open int
	err = r.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&open)
	if err == nil && open > 0 {
		err = fmt.Errorf("%d jobs are not complete", open)
	}
	return u, err
}

func (r *riverQueue) insert(ctx context.Context, client *river.Client[pgx.Tx], n int) error {
	for n > 0 {
		jobs := make([]river.InsertManyParams, min(n, 2000))
		for i := range jobs {
			made++
			jobs[i].Args = job{OrderID: fmt.Sprintf("order-%d", made%orders)}
		}
		if _, err := client.InsertManyFast(ctx, jobs); err != nil {
			return err
		}
		n -= len(jobs)
	}
	return nil
}
