package consumer

import "time"

// Breaker says when a route rests: an outage must not empty a topic into the dead letters. (RETRY-031)
type Breaker struct {
	// Failures is how many failures of different keys have to follow each other, without a success between
	// them, for the route to rest: 10 where it is 0. Below 0 it never rests.
	Failures int
	// Pause is how long it rests before the first probe: 1 s where it is 0. Each probe that fails doubles it,
	// up to MaxPause: 30 s where it is 0.
	Pause, MaxPause time.Duration
}

func (b Breaker) withDefaults() Breaker {
	if b.Failures == 0 {
		b.Failures = 10
	}
	if b.Pause <= 0 {
		b.Pause = time.Second
	}
	if b.MaxPause <= 0 {
		b.MaxPause = 30 * time.Second
	}
	b.MaxPause = max(b.MaxPause, b.Pause)
	return b
}

// breakerState is where a breaker is.
type breakerState uint8

const (
	breakerClosed  breakerState = iota // the route works
	breakerOpen                        // it rests, until the time of the next probe
	breakerProbing                     // one delivery is on its way
)

func (s breakerState) String() string { return [...]string{"closed", "open", "probing"}[s] }

// breaker is the circuit breaker of one route. Time is an argument. It is not safe for concurrent use.
type breaker struct {
	Breaker
	state breakerState
	// failed are the keys of the failures that follow each other, at most Failures of them.
	failed []string
	pause  time.Duration
	until  time.Time // of the next probe
	probed string    // the key of the last probe
}

// verdict is what one delivery says of what the route depends on.
type verdict uint8

const (
	worked  verdict = iota // the handler succeeded
	broke                  // RETRYABLE or THROTTLED
	neither                // it was never asked, or answered with a refusal
)

// admits says whether a delivery of key may start. Where the breaker is open this is the time of a probe,
// and other says that no delivery of another key is waiting.
func (b *breaker) admits(key string, now time.Time, only bool) bool {
	switch b.state {
	case breakerClosed:
		return true
	case breakerOpen:
		return !now.Before(b.until) && (key != b.probed || only)
	}
	return false
}

// starts takes note of a delivery that admits let pass, and says whether it is a probe.
func (b *breaker) starts(key string) (probe bool) {
	if b.state != breakerOpen {
		return false
	}
	b.state, b.probed = breakerProbing, key
	return true
}

// ends takes note of what became of a delivery. It says whether the failure costs nothing: it is a DEFER,
// since the route rests.
func (b *breaker) ends(key string, v verdict, probe bool, now time.Time) (deferred bool) {
	if b.Failures < 0 {
		return false
	}
	if probe {
		return b.probeEnds(v, now)
	}
	switch v {
	case worked:
		// Where the breaker is open, a delivery that began before says little of the present.
		if b.state == breakerClosed {
			b.failed = b.failed[:0]
		}
	case broke:
		if b.state != breakerClosed {
			return true
		}
		for _, k := range b.failed {
			if k == key {
				return false
			}
		}
		b.failed = append(b.failed, key)
		if len(b.failed) >= b.Failures {
			b.state, b.pause, b.probed = breakerOpen, b.Pause, ""
			b.until, b.failed = now.Add(b.pause), b.failed[:0]
			return true
		}
	}
	return false
}

func (b *breaker) probeEnds(v verdict, now time.Time) (deferred bool) {
	switch v {
	case worked:
		b.state, b.pause, b.probed = breakerClosed, 0, ""
	case broke:
		b.pause = min(2*b.pause, b.MaxPause)
		b.state, b.until = breakerOpen, now.Add(b.pause)
		return true
	case neither: // it says nothing: another one, now
		b.state, b.until = breakerOpen, now
	}
	return false
}
