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
		records, err := s.Records(ctx, scope, []string{l.key})
		if err != nil {
			return err
		}
		if records[0] != nil {
			l.addRecord(s.Name, records[0])
		}
	}
	retries, err := s.ListRetries(ctx, store.RetryFilter{Key: l.key}, 0, mostOfAKey)
	if err != nil {
		return err
	}
	for i := range retries {
		l.addRetry(s.Name, &retries[i])
	}
	letters, err := s.RecentDeadLetters(ctx, store.DeadLetterFilter{Key: l.key, Redriven: true}, store.Cursor{}, mostOfAKey)
	if err != nil {
		return err
	}
	for i := range letters {
		l.addLetter(s.Name, &letters[i])
	}
	outgoing, err := s.FindOutgoing(ctx, l.key, newestOutgoing)
	if err != nil {
		return err
	}
	for i := range outgoing {
		l.addOutgoing(s.Name, &outgoing[i])
	}
	operations, err := s.Operations(ctx, 0, newestOperations)
	if err != nil {
		return err
	}
	for i := range operations {
		if o := &operations[i]; concerns(o, l.key, retries, letters) {
			j := operationOf(s.Name, o)
			l.add(lifeEvent{At: o.BegunAt, Kind: lifeOperation, Store: s.Name, What: operationText(o), Operation: &j})
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
	what := fmt.Sprintf("%s %d, %s: %s", r.Action, max(r.RetryCount, r.HoldCount, r.RedriveCount), due, r.Reason)
	j := retryOf(name, r)
	l.add(lifeEvent{At: r.CreatedAt, Kind: lifeRetry, Store: name, Scope: r.Scope, What: what, TraceID: traceID(r.Headers), Retry: &j})
}

func (l *lifeOf) addLetter(name string, d *store.DeadLetter) {
	j := letterOf(name, d)
	why := d.Reason
	if outcome := d.Outcome.String(); !strings.HasPrefix(why, outcome) {
		why = outcome + ": " + why
	}
	e := lifeEvent{
		At: d.CreatedAt, Kind: lifeDeadLetter, Store: name, Scope: d.Scope, What: fmt.Sprintf("dead letter %d, %s", d.ID, why),
		TraceID: traceID(d.Headers), DeadLetter: &j,
	}
	l.add(e)
	if !d.RedrivenAt.IsZero() {
		e.At, e.Kind, e.What = d.RedrivenAt, lifeRedriven, fmt.Sprintf("dead letter %d redriven", d.ID)
		l.add(e)
	}
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
func concerns(o *store.LoggedOperation, key string, retries []store.Retry, letters []store.DeadLetter) bool {
	words := strings.Fields(o.Target)
	if slices.Contains(words, key) || slices.Contains(words, "key="+key) {
		return true
	}
	isID := func(id int64) bool {
		return len(words) > 0 && words[0] == "ids" && slices.Contains(words[1:], fmt.Sprint(id))
	}
	if strings.HasPrefix(o.Command, "retry ") {
		return slices.ContainsFunc(retries, func(r store.Retry) bool { return isID(r.ID) })
	}
	return strings.HasPrefix(o.Command, "dlq ") && slices.ContainsFunc(letters, func(d store.DeadLetter) bool {
		during := o.Command == "dlq redrive" && !d.RedrivenAt.Before(o.BegunAt) && !o.EndedAt.IsZero() && !d.RedrivenAt.After(o.EndedAt)
		return isID(d.ID) || during
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
		{"WHAT", func(e *lifeEvent) string { return show.Cut(cmp.Or(e.What, e.Kind), 160) }},
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
}
