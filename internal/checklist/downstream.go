package checklist

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// downstream is the HTTP server that the handler calls. Since the handler waits for its answer, it is also the place
// where a handler is held, and where its process is killed.
type downstream struct {
	url    string
	answer Answer
	server *http.Server

	mu    sync.Mutex
	ids   map[string]string // idempotency key -> id
	rules map[string]*rule  // by id
	all   *rule             // of each id that has none
	calls []*call
}

// call is one request.
type call struct {
	id, key     string
	begin, end  time.Time // end is zero while it is held
	status      int       // 0 where the client went before it was answered
	aborted     bool
	heldByRules bool
}

// rule is what becomes of calls.
type rule struct {
	status int             // of the answer; 0 is the usual one
	first  int             // of this many calls alone; 0 is of all
	hold   <-chan struct{} // until when it waits; the client may go before
	then   func(*call)     // is called in mid-handler

	used int
}

func newDownstream(answer Answer) (*downstream, error) {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &downstream{url: "http://" + listen.Addr().String(), answer: answer, ids: map[string]string{}, rules: map[string]*rule{}}
	d.server = &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(listen) }()
	return d, nil
}

func (d *downstream) close() { _ = d.server.Close() }

// knows tells which calls are about a message.
func (d *downstream) knows(m *made) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[m.key] = m.id
}

// set gives an id a rule; nil takes it away.
func (d *downstream) set(id string, r *rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r == nil {
		delete(d.rules, id)
		return
	}
	d.rules[id] = r
}

// setAll gives all others a rule.
func (d *downstream) setAll(r *rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = r
}

// of gives the calls about an id, in order.
func (d *downstream) of(id string) (calls []call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.calls {
		if c.id == id {
			calls = append(calls, *c)
		}
	}
	return calls
}

// held is how many of the ids have a call that waits.
func (d *downstream) held(ids []string) int {
	n := 0
	for _, id := range ids {
		if slices.ContainsFunc(d.of(id), func(c call) bool { return c.heldByRules && c.end.IsZero() }) {
			n++
		}
	}
	return n
}

func (d *downstream) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // what cannot be read is about nothing
	c, rule := d.begin(r, string(body))
	if rule != nil && rule.then != nil {
		rule.then(c)
	}
	if rule != nil && rule.hold != nil {
		select {
		case <-rule.hold:
		case <-r.Context().Done():
			d.end(c, 0)
			return
		}
	}
	status := d.answer.Status
	if rule != nil && rule.status != 0 {
		status = rule.status
	}
	d.end(c, status)
	if status != d.answer.Status {
		http.Error(w, "a fault of the checklist", status)
		return
	}
	if strings.HasPrefix(strings.TrimSpace(d.answer.Body), "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, d.answer.Body) // who went has no use for it
}

// begin writes a call down, and gives its rule.
func (d *downstream) begin(r *http.Request, body string) (*call, *rule) {
	c := &call{key: strings.Trim(r.Header.Get("Idempotency-Key"), `"`), begin: time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.id = d.ids[c.key]
	if c.id == "" {
		for _, id := range d.ids { // the longest: f-1 is within f-12, too
			if len(id) > len(c.id) && (strings.Contains(body, id) || strings.Contains(r.URL.String(), id)) {
				c.id = id
			}
		}
	}
	d.calls = append(d.calls, c)
	rule := d.rules[c.id]
	if rule == nil {
		rule = d.all
	}
	if rule != nil {
		if rule.first > 0 && rule.used >= rule.first {
			return c, nil
		}
		rule.used++
		c.heldByRules = rule.hold != nil
	}
	return c, rule
}

func (d *downstream) end(c *call, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.end, c.status, c.aborted = time.Now(), status, status == 0
}

// effects counts what was answered: once for each idempotency key, and each call without one.
func (d *downstream) effects() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts, keys := map[string]int{}, map[string]bool{}
	for _, c := range d.calls {
		if c.status != d.answer.Status || c.key != "" && keys[c.key] {
			continue
		}
		keys[c.key] = true
		counts[c.id]++
	}
	return counts
}
