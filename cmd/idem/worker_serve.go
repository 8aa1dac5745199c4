package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/idem-spec/idem/internal/operate/worker"
	"github.com/idem-spec/idem/runtime/go/observe/prometheus"
)

// serveWorker serves health and metrics until it is stopped.
func serveWorker(address string, w *worker.Worker, metrics *prometheus.Collector, log *slog.Logger) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, brokenf("--listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", w)
	mux.Handle("GET /metrics", metrics.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	go func() { _ = server.Serve(listener) }() // which ends by Shutdown alone
	log.Info("listening", "address", listener.Addr().String())
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // whoever still reads is cut off
	}, nil
}
