package main

import (
	"context"
	"errors"
	"slices"

	"github.com/idem-spec/idem/internal/doctor"
	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// doctorLook is what is looked at, and where nothing answered.
type doctorLook struct {
	target    *connect.Target
	brokers   *kafka.Config
	topics    []string
	groups    []doctor.Group
	timing    *doctor.Timing
	unreached int
}

// run looks at all that answers. The stores come first: they know how long things take and are kept.
func (l *doctorLook) run(ctx context.Context) []doctor.Result {
	var all []doctor.Result
	var scopes []string
	for _, d := range l.target.Stores {
		s, err := doctor.OpenStore(ctx, d)
		if errors.Is(err, connect.ErrSQLite) {
			all = append(all, doctor.Unasked("store "+d.Place(), "a SQLite file is one machine's, and has no server to look at", "idem dlq ls shows its dead letters; have PostgreSQL where several machines consume"))
			continue
		}
		if err != nil {
			all = l.missed(all, "store "+d.Place(), err)
			continue
		}
		all = append(all, doctor.LookAtStore(ctx, s)...)
		l.timing.Learn(ctx, s)
		found, _ := s.Scopes(ctx) // what it may not read, the checks have said
		scopes = append(scopes, found...)
		s.Close()
	}
	if l.brokers != nil {
		all = l.lookAtKafka(ctx, all, scopes)
	}
	if l.target.Redis != "" {
		s, err := doctor.OpenRedis(ctx, l.target.Redis, len(l.target.Stores) > 0)
		if err != nil {
			all = l.missed(all, "redis", err)
		} else {
			all = append(all, doctor.LookAtRedis(ctx, s)...)
			s.Close()
		}
	}
	return append(all, doctor.LookAtTiming(ctx, l.timing)...)
}

func (l *doctorLook) lookAtKafka(ctx context.Context, all []doctor.Result, scopes []string) []doctor.Result {
	b, err := kafka.Open(*l.brokers)
	if err != nil {
		return l.missed(all, "kafka", err)
	}
	defer func() { _ = b.Close() }()
	if len(l.groups)+len(l.topics) == 0 {
		slices.Sort(scopes)
		for _, scope := range slices.Compact(scopes) {
			l.groups = append(l.groups, doctor.Group{Name: scope, Scope: scope, Guess: true})
		}
	}
	found, err := doctor.LookAtKafka(ctx, doctor.Kafka{Broker: b, Brokers: l.brokers.Brokers, Topics: l.topics, Groups: l.groups, Tables: len(l.target.Stores) > 0}, l.timing)
	if err != nil {
		return l.missed(all, "kafka", err)
	}
	return append(all, found...)
}

// missed adds that a place does not answer.
func (l *doctorLook) missed(all []doctor.Result, place string, err error) []doctor.Result {
	l.unreached++
	return append(all, doctor.Unreached(place, err))
}
