package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newBreaker(failures int) *breaker {
	return &breaker{Breaker: Breaker{Failures: failures, Pause: time.Second, MaxPause: 5 * time.Second}.withDefaults()}
}

func TestBreakerOpensAtFailuresOfDifferentKeys(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	b := newBreaker(3)
	require.False(t, b.ends("a", broke, false, now))
	require.False(t, b.ends("b", broke, false, now))
	require.Equal(t, breakerClosed, b.state)
	require.True(t, b.ends("c", broke, false, now), "the failure that opens it costs nothing")
	require.Equal(t, breakerOpen, b.state)
	require.True(t, b.ends("d", broke, false, now), "nor does one that was on its way")
	require.False(t, b.ends("e", worked, false, now))
	require.Equal(t, breakerOpen, b.state, "a success that began before says little")
}

func TestBreakerStaysClosed(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	for name, steps := range map[string][]struct {
		key string
		v   verdict
	}{
		"one key fails for ever":   {{"a", broke}, {"a", broke}, {"a", broke}, {"a", broke}, {"a", broke}},
		"two keys fail in turn":    {{"a", broke}, {"b", broke}, {"a", broke}, {"b", broke}},
		"a success is between":     {{"a", broke}, {"b", broke}, {"x", worked}, {"c", broke}, {"d", broke}},
		"refusals are no failures": {{"a", neither}, {"b", neither}, {"c", neither}, {"d", neither}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBreaker(3)
			for _, s := range steps {
				require.False(t, b.ends(s.key, s.v, false, now))
			}
			require.Equal(t, breakerClosed, b.state)
		})
	}
	never := newBreaker(-1)
	for _, key := range []string{"a", "b", "c", "d"} {
		require.False(t, never.ends(key, broke, false, now))
	}
	require.Equal(t, breakerClosed, never.state)
}

func TestBreakerOpensAcrossRefusals(t *testing.T) {
	t.Parallel()
	b := newBreaker(2)
	b.ends("a", broke, false, time.Unix(0, 0))
	b.ends("x", neither, false, time.Unix(0, 0))
	require.True(t, b.ends("b", broke, false, time.Unix(0, 0)))
}

func TestBreakerProbesWithOneOfAnotherKeyEachTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	b := newBreaker(2)
	b.ends("a", broke, false, now)
	b.ends("b", broke, false, now)
	require.False(t, b.admits("c", now, false), "it rests")
	now = now.Add(time.Second)
	require.True(t, b.admits("c", now, false))
	require.True(t, b.starts("c"))
	require.False(t, b.admits("d", now, true), "one at a time")
	require.True(t, b.ends("c", broke, true, now), "a failed probe is a DEFER")

	require.False(t, b.admits("d", now.Add(2*time.Second-1), false), "the pause has doubled")
	now = now.Add(2 * time.Second)
	require.False(t, b.admits("c", now, false), "another key")
	require.True(t, b.admits("c", now, true), "there is no other")
	require.True(t, b.admits("d", now, false))
	require.True(t, b.starts("d"))
	require.False(t, b.ends("d", neither, true, now))
	require.True(t, b.admits("e", now, false), "a refusal says nothing: another one at once")
	require.True(t, b.starts("e"))
	require.False(t, b.ends("e", worked, true, now))
	require.Equal(t, breakerClosed, b.state)
	require.True(t, b.admits("c", now, false))
	require.False(t, b.starts("c"), "no probe")
}

// TestBreakerAlwaysHasAnExit: whatever happens, an open breaker lets a probe pass after its longest pause, and
// one success closes it.
func TestBreakerAlwaysHasAnExit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, now := newBreaker(rapid.IntRange(1, 4).Draw(t, "failures")), time.Unix(0, 0)
		probing := ""
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
			v := verdict(rapid.IntRange(0, 2).Draw(t, "verdict"))
			switch {
			case probing != "" && rapid.Bool().Draw(t, "probe ends"):
				b.ends(probing, v, true, now)
				probing = ""
			case b.admits(key, now, rapid.Bool().Draw(t, "only")):
				if b.starts(key) {
					if probing != "" {
						t.Fatal("two probes at once")
					}
					probing = key
					continue
				}
				b.ends(key, v, false, now)
			default:
				b.ends(key, v, false, now)
			}
			if b.state == breakerProbing && probing == "" {
				t.Fatal("probing without a probe")
			}
		}
		now = now.Add(b.MaxPause)
		if probing != "" {
			b.ends(probing, worked, true, now)
		} else if b.state == breakerOpen {
			if !b.admits("z", now, false) || !b.starts("z") {
				t.Fatal("no probe after the longest pause")
			}
			b.ends("z", worked, true, now)
		}
		if b.state != breakerClosed {
			t.Fatalf("%v after a success", b.state)
		}
	})
}
