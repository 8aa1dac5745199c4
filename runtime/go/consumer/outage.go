package consumer

import (
	"sync"
	"time"
)

// outage is what is down, since when, and when it was last said. Its methods may be called from several
// goroutines.
type outage struct {
	mu   sync.Mutex
	down map[string]*downSince
}

type downSince struct {
	since, said time.Time
	cause       error
}

// sayEvery is how often a log says that something is still down.
const sayEvery = 10 * time.Second

// advice is what a log line says beside the error.
var advice = map[string]string{
	"check":   "the store is not ready: nothing is fetched before it is; see the error for what to mend",
	"topics":  "the broker does not answer: check its address and credentials; this goes on by itself when it is back",
	"join":    "not in the consumer group: check that the broker is reachable; this goes on by itself when it is back",
	"fetch":   "messages are not fetched: check that the broker is reachable; this goes on by itself when it is back",
	"claim":   "messages wait, and none is lost: check that the store is reachable; this goes on by itself when it is back",
	"settle":  "messages are handled and not yet acknowledged, and none is lost: check that the store is reachable, and the topics that the error names; this goes on by itself when they are back",
	"retries": "retries that are due wait, and none is lost: see the error for what to mend; this goes on by itself then",
	"commit":  "offsets are not committed, and none is lost: check that the broker is reachable; this goes on by itself when it is back",
}

// begins takes note of a failure, and says it, but not all the time.
func (o *outage) begins(e *engine, what string, err error) {
	if e.base != nil && e.base.Err() != nil {
		return // the end of Run
	}
	o.mu.Lock()
	now := time.Now()
	if o.down == nil {
		o.down = make(map[string]*downSince)
	}
	d := o.down[what]
	if d == nil {
		d = &downSince{since: now}
		o.down[what] = d
	}
	d.cause = err
	say := now.Sub(d.said) >= sayEvery
	if say {
		d.said = now
	}
	since := d.since
	o.mu.Unlock()
	if say {
		e.warn(advice[what], "what", what, "error", err, "for", now.Sub(since).Round(time.Millisecond))
	}
}

// over takes note of a success.
func (o *outage) over(e *engine, what string) {
	o.mu.Lock()
	d := o.down[what]
	delete(o.down, what)
	o.mu.Unlock()
	if d != nil {
		e.info("works again", "what", what, "after", time.Since(d.since).Round(time.Millisecond))
	}
}

// list is what is down, by its words.
func (o *outage) list(now time.Time) map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.down) == 0 {
		return nil
	}
	list := make(map[string]string, len(o.down))
	for what, d := range o.down {
		list[what] = "for " + now.Sub(d.since).Round(time.Millisecond).String() + ": " + d.cause.Error()
	}
	return list
}

// longest is for how long something has been down.
func (o *outage) longest(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	longest := time.Duration(0)
	for _, d := range o.down {
		longest = max(longest, now.Sub(d.since))
	}
	return longest
}
