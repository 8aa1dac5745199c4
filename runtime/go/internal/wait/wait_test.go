package wait

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if !For(t.Context(), time.Minute) || time.Since(begin) != time.Minute {
			t.Errorf("waited %v, want a minute", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if For(ctx, time.Minute) || time.Since(begin) != time.Second {
			t.Errorf("waited %v, want a second", time.Since(begin))
		}
		if For(ctx, 0) {
			t.Error("a context that is done allows no wait of 0")
		}
	})
}

func TestBell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBell()
		begin := time.Now()
		if !b.For(t.Context(), time.Minute) || time.Since(begin) != time.Minute {
			t.Errorf("waited %v, want a minute", time.Since(begin))
		}
		b.Ring()
		b.Ring() // as one
		begin = time.Now()
		if !b.For(t.Context(), time.Minute) || time.Since(begin) != 0 {
			t.Errorf("waited %v after it rang", time.Since(begin))
		}
		go func() {
			time.Sleep(time.Second)
			b.Ring()
		}()
		if !b.For(t.Context(), time.Minute) || time.Since(begin) != time.Second {
			t.Errorf("waited %v, want a second", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if b.For(ctx, time.Minute) || b.For(ctx, 0) {
			t.Error("it waits longer than its context")
		}
	})
}

func TestOutlasting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                       string
		parent, limit, grace, want time.Duration
	}{
		{"the parent goes on", time.Hour, time.Minute, time.Second, time.Minute},
		{"the parent ends", 10 * time.Second, time.Minute, 5 * time.Second, 15 * time.Second},
		{"the parent ends late", 58 * time.Second, time.Minute, 5 * time.Second, time.Minute},
		{"the parent has ended", 0, time.Minute, 5 * time.Second, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			parent, end := context.WithTimeout(t.Context(), c.parent)
			defer end()
			begin := time.Now()
			ctx, cancel := Outlasting(parent, c.limit, c.grace)
			<-ctx.Done()
			if took := time.Since(begin); took != c.want {
				t.Errorf("%s: ended after %v, want %v", c.name, took, c.want)
			}
			cancel()
			ctx, cancel = Detached(parent, c.limit)
			cancel()
			if ctx.Err() == nil {
				t.Error("it cannot be cancelled")
			}
		})
	}
}

func TestFault07_doublingNeverOverflows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		want time.Duration
	}{
		{math.MinInt, time.Second},
		{0, time.Second},
		{1, 2 * time.Second},
		{5, 32 * time.Second},
		{6, time.Minute},
		{62, time.Minute},
		{63, time.Minute},
		{128, time.Minute},
		{math.MaxInt32, time.Minute},
	} {
		if got := Doubled(time.Second, time.Minute, c.n); got != c.want {
			t.Errorf("doubled %d times: %v, want %v", c.n, got, c.want)
		}
	}
	if got := Doubled(time.Hour, time.Minute, 0); got != time.Minute {
		t.Errorf("base above the limit: %v", got)
	}
}
