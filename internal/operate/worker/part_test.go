package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

func TestAPartSaysWhatHindersItWhenThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		p := &part{log: slog.New(slog.NewTextHandler(&said, nil))}
		for i := range 30 { // a second each
			p.hindered(fmt.Errorf("try %d failed", i))
			time.Sleep(time.Second)
		}
		p.hindered(nil)
		p.hindered(nil)
		assert.Equal(t, 3, strings.Count(said.String(), "level=ERROR"), said.String())
		assert.Equal(t, 1, strings.Count(said.String(), "works again"), said.String())
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
