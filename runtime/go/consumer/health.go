package consumer

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Health is the state of a consumer, as its endpoint tells it.
type Health struct {
	// OK says that it consumes, or has not been hindered for longer than a minute.
	OK    bool   `json:"ok"`
	Group string `json:"group"`
	Scope string `json:"scope"`
	// Phase is new, preparing, joining, running, draining or stopped, and Since when it began.
	Phase string    `json:"phase"`
	Since time.Time `json:"since"`
	// Partitions are this process's.
	Partitions []PartitionHealth `json:"partitions"`
	Routes     []RouteHealth     `json:"routes"`
	// Down is what does not answer (check, topics, join, fetch, claim, settle, commit, retries), for how long and why.
	Down map[string]string `json:"down,omitempty"`
}

// PartitionHealth is one partition's.
type PartitionHealth struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed int64  `json:"committed"`
	End       int64  `json:"end"`
	InWindow  int    `json:"in_window"` // from the oldest message that is not settled to the last that was fetched
}

// RouteHealth is one route's.
type RouteHealth struct {
	EventType string `json:"event_type"`
	Breaker   string `json:"breaker"` // closed, open or probing
	Paused    bool   `json:"paused"`
	Killed    bool   `json:"killed"`
	Waiting   int    `json:"waiting"`
	Running   int    `json:"running"` // workers at work on it
}

// unhealthyAfter is for how long it may be hindered.
const unhealthyAfter = time.Minute

// Health is the state at present.
func (c *Consumer) Health() Health {
	e, now := c.engine, time.Now()
	c.mu.Lock()
	h := Health{Group: c.config.Group, Scope: c.config.Scope, Phase: c.phase, Since: c.since}
	s := c.share
	c.mu.Unlock()
	h.Down = e.outage.list(now)
	h.OK = h.Phase != "stopped" && e.outage.longest(now) <= unhealthyAfter
	if h.Phase != "running" && now.Sub(h.Since) > unhealthyAfter {
		h.OK = false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s != nil {
		for _, p := range s.parts {
			h.Partitions = append(h.Partitions, PartitionHealth{
				Topic: p.Topic, Partition: p.Partition, Committed: p.committed, End: p.end, InWindow: p.mark.span(),
			})
		}
	}
	for _, r := range c.routes {
		h.Routes = append(h.Routes, RouteHealth{
			EventType: r.eventType, Breaker: r.breaker.state.String(), Paused: r.paused, Killed: r.killed,
			Waiting: r.waiting.len(), Running: r.running,
		})
	}
	return h
}

// ServeHTTP answers with Health as JSON: 200 where it is OK, 503 where it is not.
func (c *Consumer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := c.Health()
	body, err := json.MarshalIndent(h, "", "  ")
	if err != nil { // there is nothing in it that has no JSON
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if !h.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(body)
}
