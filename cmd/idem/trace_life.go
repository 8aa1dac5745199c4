package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// lifeOf is what is known of a key.
type lifeOf struct {
	key    string
	scopes []string
	events []lifeEvent

	records  map[string]*store.Record // by scope
	redrives []topicRedrive
}

// lifeEvent is a line of a life, and what it is in --output json. Fields are added, and never renamed or removed.
type lifeEvent struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Store   string    `json:"store,omitempty"`
	Scope   string    `json:"scope,omitempty"`
	Key     string    `json:"key"`
	What    string    `json:"what"`
	TraceID string    `json:"trace_id,omitempty"`

	Record     *recordJSON    `json:"record,omitempty"`
	Retry      *retryJSON     `json:"retry,omitempty"`
	DeadLetter *letterJSON    `json:"dead_letter,omitempty"`
	Outbox     *outgoingJSON  `json:"outbox,omitempty"`
	Operation  *operationJSON `json:"operation,omitempty"`
	Redrive    *redriveJSON   `json:"redrive,omitempty"`
	Message    *messageJSON   `json:"message,omitempty"`
}

// The kinds of events.
const (
	lifeClaimed    = "claimed"     // a record was made
	lifeState      = "state"       // its state, and since when
	lifeRetry      = "retry"       // a delivery to come was written
	lifeDeadLetter = "dead_letter" // the message ended
	lifeRedriven   = "redriven"    // and was given another life
	lifeOutbox     = "outbox"      // a message waits for the broker
	lifeOperation  = "operation"   // an operator changed something
	lifeMessage    = "message"     // a message is on Kafka
)

// How many of the newest rows are looked at where there is no index of keys.
const (
	newestOutgoing   = 20_000
	newestOperations = 2_000
)

// mostOfAKey is how many rows of each kind one key may have.
const mostOfAKey = 1000

func (l *lifeOf) add(e lifeEvent) {
	e.Key, e.At = l.key, e.At.UTC()
	l.events = append(l.events, e)
}

// readStore adds what a store knows.
func (l *lifeOf) readStore(ctx context.Context, s *connect.Store) error {
	scopes, err := s.Scopes(ctx)
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		if !slices.Contains(l.scopes, scope) {
			l.scopes = append(l.scopes, scope)
		}
	}
	facts, err := factsOf(ctx, s, l.key, scopes)
	if err != nil {
		return err
	}
	for _, r := range facts.records {
		l.records[r.Scope] = r
		l.addRecord(s.Name, r)
	}
	for i := range facts.retries {
		l.addRetry(s.Name, &facts.retries[i])
	}
	for i := range facts.letters {
		if err := l.addLetter(ctx, s, &facts, &facts.letters[i]); err != nil {
			return err
		}
	}
	outgoing, err := s.FindOutgoing(ctx, l.key, newestOutgoing)
	if err != nil {
		return err
	}
	for i := range outgoing {
		l.addOutgoing(s.Name, &outgoing[i])
	}
	for i := range facts.operations {
		switch o := &facts.operations[i]; {
		case facts.concerns(o, l.key):
			j := operationOf(s.Name, o)
			l.add(lifeEvent{At: o.BegunAt, Kind: lifeOperation, Store: s.Name, What: operationText(o), Operation: &j})
		case strings.HasPrefix(o.Target, "topic "): // the messages tell
			l.redrives = append(l.redrives, topicRedrive{s.Name, *o})
		}
	}
	return nil
}

func (l *lifeOf) addRecord(name string, r *store.Record) {
	j := recordOf(name, r)
	l.add(lifeEvent{At: r.CreatedAt, Kind: lifeClaimed, Store: name, Scope: r.Scope, What: "first claimed", Record: &j})
	what := fmt.Sprintf("%s; attempts %d, fence %d", stateText(r), r.Attempts, r.Fence)
	l.add(lifeEvent{At: r.UpdatedAt, Kind: lifeState, Store: name, Scope: r.Scope, What: what, Record: &j})
}

func (l *lifeOf) addRetry(name string, r *store.Retry) {
	due := "due at " + r.NextRetryTime.UTC().Format(time.RFC3339)
	switch {
	case r.Status == store.RetryParked:
		due = "behind the head of lane " + r.Lane.BizKey
	case r.Token != "":
		due = "being published"
	}
	what := fmt.Sprintf("%s %d, %s", r.Action, max(r.RetryCount, r.HoldCount, r.RedriveCount), due)
	if r.Reason != "" {
		what += ": " + r.Reason
	}
	j := retryOf(name, r)
	l.add(lifeEvent{At: r.CreatedAt, Kind: lifeRetry, Store: name, Scope: r.Scope, What: what, TraceID: traceID(r.Headers), Retry: &j})
}

func (l *lifeOf) addLetter(ctx context.Context, s *connect.Store, facts *keyFacts, d *store.DeadLetter) error {
	j := letterOf(s.Name, d)
	why := d.Reason
	if outcome := outcomeOf(d); !strings.HasPrefix(why, outcome) {
		why = outcome + ": " + why
	}
	what := fmt.Sprintf("dead letter %d", d.ID)
	if d.RedriveCount > 0 {
		what += fmt.Sprintf(", after redrive %d", d.RedriveCount)
	}
	e := lifeEvent{
		At: d.CreatedAt, Kind: lifeDeadLetter, Store: s.Name, Scope: d.Scope, What: what + ", " + why, TraceID: traceID(d.Headers), DeadLetter: &j,
	}
	l.add(e)
	if d.RedrivenAt.IsZero() {
		return nil
	}
	redrive, err := facts.redriven(ctx, s, d)
	if err != nil {
		return err
	}
	e.At, e.Kind, e.Redrive, e.What = d.RedrivenAt, lifeRedriven, redrive, fmt.Sprintf("dead letter %d redriven", d.ID)
	if redrive.PayloadReplaced {
		e.What += " with another payload"
	}
	l.add(e)
	return nil
}

func (l *lifeOf) addOutgoing(name string, m *store.Outgoing) {
	what := fmt.Sprintf("in the outbox for %s, %d tries", m.Topic, m.Attempts)
	switch {
	case m.Failed:
		what += ", given up: " + m.LastError
	case m.LastError != "":
		what += ": " + m.LastError
	}
	j := outgoingJSON{name, m.ID, m.Topic, string(m.MessageKey), m.Attempts, m.Failed, m.LastError, m.CreatedAt.UTC(), m.NextAt.UTC(), len(m.Payload)}
	l.add(lifeEvent{At: m.CreatedAt, Kind: lifeOutbox, Store: name, What: what, TraceID: traceID(m.Headers), Outbox: &j})
}

// concerns says that an operation names a key, or a delivery to come or a dead letter of it, or redrove one.
func (f *keyFacts) concerns(o *store.LoggedOperation, key string) bool {
	words := strings.Fields(o.Target)
	keys := slices.Index(words, "keys") // else a word may be an id
	if keys >= 0 && slices.Contains(words[keys+1:], key) || slices.Contains(words, "key="+key) {
		return true
	}
	isID := func(id int64) bool {
		return len(words) > 0 && words[0] == "ids" && slices.Contains(words[1:], fmt.Sprint(id))
	}
	if strings.HasPrefix(o.Command, "retry ") {
		return slices.ContainsFunc(f.retries, func(r store.Retry) bool { return isID(r.ID) })
	}
	return strings.HasPrefix(o.Command, "dlq ") && slices.ContainsFunc(f.letters, func(d store.DeadLetter) bool {
		return isID(d.ID) || o.Command == "dlq redrive" && redrove(o, &d)
	})
}

// header is the text of a header, whatever the case of its name; empty where there is none.
func header(headers idem.Headers, id idem.HeaderID) string {
	for i := range headers {
		if strings.EqualFold(headers[i].Name, id.String()) {
			return string(headers[i].Value)
		}
	}
	return ""
}

// traceID is that of the traceparent, "00-<trace id>-<span id>-01".
func traceID(headers idem.Headers) string {
	if parts := strings.Split(header(headers, idem.Traceparent), "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return ""
}

// outgoingJSON is a row of the outbox in --output json. Fields are added, and never renamed or removed.
type outgoingJSON struct {
	Store        string    `json:"store,omitempty"`
	ID           int64     `json:"id"`
	Topic        string    `json:"topic"`
	BizKey       string    `json:"biz_key"`
	Attempts     int32     `json:"attempts"`
	Failed       bool      `json:"failed"`
	LastError    string    `json:"last_error"`
	CreatedAt    time.Time `json:"created_at"`
	NextAt       time.Time `json:"next_at"`
	PayloadBytes int       `json:"payload_bytes"`
}

// table writes the events below each other. Columns that would be empty are left out.
func (l *lifeOf) table(w io.Writer) {
	columns := []struct {
		head string
		cell func(e *lifeEvent) string
	}{
		{"TIME (UTC)", func(e *lifeEvent) string { return e.At.Format("2006-01-02 15:04:05.000") }},
		{"STORE", func(e *lifeEvent) string { return e.Store }},
		{"SCOPE", func(e *lifeEvent) string { return e.Scope }},
		{"TRACE", func(e *lifeEvent) string { return e.TraceID }},
		{"WHAT", func(e *lifeEvent) string { return show.Cut(cmp.Or(e.What, e.Kind), 240) }},
	}
	var head []string
	rows := make([][]string, len(l.events))
	for _, c := range columns {
		cells, some := make([]string, len(l.events)), false
		for i := range l.events {
			cells[i] = c.cell(&l.events[i])
			some = some || cells[i] != ""
		}
		if !some {
			continue
		}
		head = append(head, c.head)
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	show.Table(w, head, rows)
	l.outcomes(w)
}

// outcomes writes what became of redrives below the events: it is known now, and not at the time of the redrive.
func (l *lifeOf) outcomes(w io.Writer) {
	for i := range l.events {
		e := &l.events[i]
		if e.Redrive == nil {
			continue
		}
		place := ""
		if e.Store != "" {
			place = " in " + e.Store
		}
		fmt.Fprintf(w, "dead letter %d%s, redriven at %s: %s\n", e.DeadLetter.ID, place, e.At.Format(time.RFC3339), show.Text(e.Redrive.Text))
	}
}
