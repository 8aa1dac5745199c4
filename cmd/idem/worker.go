package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/worker"
	"github.com/idem-spec/idem/runtime/go/observe/prometheus"
	"github.com/idem-spec/idem/runtime/go/store"
)

// workerFlags are the flags of `idem worker`.
type workerFlags struct {
	place                     connect.Flags
	kafka                     kafkaFlags
	scheduler, relay, cleaner bool
	retention                 time.Duration
	alias                     map[string]string
	listen, logFormat         string
}

func newWorker(std streams) *cobra.Command {
	var flags workerFlags
	command := &cobra.Command{
		Use:   "worker",
		Short: "Run the retry scheduler, the outbox relay and the cleaner of services",
		Long: `Runs, until it is told to end, what the tables of services need beside their consumers, for services in Java or Python,
or to keep it out of those in Go: the scheduler that publishes retries and redrives when they are due, the relay that
publishes the outbox, and the cleaner that removes dedup records behind their retention. All stores of a context are
served, or the one of --dsn. Any number of workers may run on a store, and one worker's end delays its work, and loses nothing.

--scheduler, --relay and --cleaner run those that are named; without them, all three run. The cleaner alone needs no
brokers. --listen serves /healthz and Prometheus' /metrics, and has dead letters counted for the metrics too.

SIGTERM and SIGINT end it: what has begun is finished first, within half a minute. A context has to say write: true.

` + placeHelp,
		Example: `  idem worker --context prod --listen :9090 --log-format json
  idem worker --dsn postgres://app@db/shop --brokers kafka:9092
  idem worker --dsn postgres://app@db/shop --cleaner --retention 720h`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.choose(cmd); err != nil {
				return err
			}
			return flags.run(cmd.Context(), std)
		},
	}
	addPlace(command, &flags.place)
	flags.kafka.addServer(command, "brokers")
	f := command.Flags()
	f.BoolVar(&flags.scheduler, "scheduler", false, "publish retries and redrives that are due")
	f.BoolVar(&flags.relay, "relay", false, "publish the outbox")
	f.BoolVar(&flags.cleaner, "cleaner", false, "remove dedup records behind their retention")
	f.DurationVar(&flags.retention, "retention", store.DefaultRetention, "how long the services keep dedup records; longer than the topics keep messages")
	f.StringToStringVar(&flags.alias, "alias", nil, "where messages of a topic go that has moved, as in orders=orders-2")
	f.StringVar(&flags.listen, "listen", "", "address for /healthz and /metrics, as in :9090 (default: none)")
	f.StringVar(&flags.logFormat, "log-format", "text", "text or json")
	offer(command, "log-format", "text", "json")
	return command
}

// choose runs what is named, or else all but what is named with =false.
func (f *workerFlags) choose(cmd *cobra.Command) error {
	named := f.scheduler || f.relay || f.cleaner
	for name, runs := range map[string]*bool{"scheduler": &f.scheduler, "relay": &f.relay, "cleaner": &f.cleaner} {
		*runs = *runs || !named && !cmd.Flags().Changed(name)
	}
	switch {
	case !f.scheduler && !f.relay && !f.cleaner:
		return errors.New("--scheduler, --relay and --cleaner are all false: there is nothing to run")
	case f.logFormat != "text" && f.logFormat != "json":
		return fmt.Errorf("--log-format %s: it is text or json", f.logFormat)
	case f.retention < time.Second:
		return fmt.Errorf("--retention %v: it is at least 1s", f.retention)
	}
	return nil
}

func (f *workerFlags) run(ctx context.Context, std streams) (err error) {
	log := slog.New(slog.NewTextHandler(std.err, nil))
	if f.logFormat == "json" {
		log = slog.New(slog.NewJSONHandler(std.err, nil))
	}
	stores, closeAll, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	config := worker.Config{Scheduler: f.scheduler, Relay: f.relay, Cleaner: f.cleaner, Alias: f.alias, Log: log}
	if f.scheduler || f.relay {
		f.kafka.context, f.kafka.client, f.kafka.log = f.place.Context, "idem-worker", log
		b, err := f.kafka.open(true)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
		config.Publisher = b
	}
	var metrics *prometheus.Collector
	if f.listen != "" {
		if metrics, err = prometheus.New(prometheus.Config{}); err != nil {
			return err
		}
		config.Observer = metrics
	}
	w, err := worker.New(stores, config)
	if err != nil {
		return err
	}
	if metrics != nil {
		stop, err := serveWorker(f.listen, w, metrics, log)
		if err != nil {
			return err
		}
		defer stop()
	}
	log.Info("running", "stores", storeNames(stores), "scheduler", f.scheduler, "relay", f.relay, "cleaner", f.cleaner)
	w.Run(ctx)
	log.Info("drained")
	return nil
}

// open opens all stores, to write.
func (f *workerFlags) open(ctx context.Context) ([]*connect.Store, func(), error) {
	target, err := connect.Resolve(f.place)
	if err != nil {
		return nil, nil, err
	}
	if err := target.NeedWrite(); err != nil {
		return nil, nil, failf("%w", err)
	}
	return openEach(ctx, target, func(d connect.Database) (*connect.Store, error) {
		return d.Serve(ctx, "idem-worker", f.retention)
	})
}

func storeNames(stores []*connect.Store) (names []string) {
	for _, s := range stores {
		names = append(names, s.Place())
	}
	return names
}
