package worker

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func statusOf(w *Worker) int {
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	return answer.Code
}

func TestAWorkerIsUnhealthyOnceAPartIsHinderedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &part{log: slog.New(slog.DiscardHandler), dsn: "postgres://u:hunter2@db/x"}
		w := &Worker{parts: []*part{p}}
		p.hindered(errors.New("no answer of u:hunter2@db"))
		time.Sleep(unhealthyAfter)
		p.hindered(errors.New("still none"))
		assert.Equal(t, http.StatusOK, statusOf(w))
		time.Sleep(time.Second)
		assert.Equal(t, http.StatusServiceUnavailable, statusOf(w), "since the first error, not the last")
		p.hindered(nil)
		assert.Equal(t, http.StatusOK, statusOf(w))
		p.hindered(errors.New("no answer of u:hunter2@db"))
		assert.NotContains(t, w.Health().Parts[0].Error, "hunter2")
	})
}

func TestAPartThatEndsIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		p := &part{log: slog.New(slog.DiscardHandler), run: func(ctx context.Context) error {
			switch runs++; runs {
			case 1:
				return nil
			case 2:
				panic("a bug")
			}
			<-ctx.Done()
			return nil
		}}
		w := &Worker{parts: []*part{p}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.Run(ctx) }()
		time.Sleep(again + time.Second)
		assert.Equal(t, "panic: a bug", w.Health().Parts[0].Error)
		time.Sleep(again)
		synctest.Wait()
		assert.Equal(t, 3, runs)
		cancel()
		<-done
		assert.Equal(t, "draining", w.Health().Phase)
		assert.Equal(t, http.StatusServiceUnavailable, statusOf(w))
	})
}
