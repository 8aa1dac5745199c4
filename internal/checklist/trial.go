package checklist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
)

// trial is one fault: what was sent, and what is to become of it.
type trial struct {
	*bench
	result *Result
	begun  time.Time

	messages []*made
	ends     map[string]ending // by key; absent: done
	patience time.Duration
	judged   bool
}

// ending is how a message has to end.
type ending int

const (
	done ending = iota
	dead        // as a dead letter, without an effect
)

func (t *trial) injected(format string, args ...any) {
	t.result.Injected = append(t.result.Injected, fmt.Sprintf(format, args...))
}

func (t *trial) seen(format string, args ...any) {
	t.result.Seen = append(t.result.Seen, fmt.Sprintf(format, args...))
}

func (t *trial) proof(format string, args ...any) {
	t.result.Proof = append(t.result.Proof, fmt.Sprintf(format, args...))
}

func (t *trial) violate(kind, format string, args ...any) {
	t.result.Violations = append(t.result.Violations, kind+" "+fmt.Sprintf(format, args...))
}

// fresh makes messages that nobody has sent yet, and what they need to be there.
func (t *trial) fresh(ctx context.Context, n int) ([]*made, error) {
	all := make([]*made, n)
	for i := range all {
		m, err := t.maker.make(t.adapter.Message)
		if err != nil {
			return nil, err
		}
		all[i] = m
	}
	return all, t.track(ctx, all...)
}

// track has messages judged at the end, and prepares for them.
func (t *trial) track(ctx context.Context, messages ...*made) error {
	t.messages = append(t.messages, messages...)
	return t.prepare(ctx, messages...)
}

func (b *bench) prepare(ctx context.Context, messages ...*made) error {
	bySQL := map[string][]string{}
	for _, m := range messages {
		if b.down != nil {
			b.down.knows(m)
		}
		if m.of.Prepare != "" {
			bySQL[m.of.Prepare] = append(bySQL[m.of.Prepare], m.id)
		}
	}
	for sql, ids := range bySQL {
		if _, err := b.db.pool.Exec(ctx, sql, ids); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}

// send publishes, and returns once all is confirmed.
func (b *bench) send(ctx context.Context, messages ...*made) error {
	all := make([]broker.Message, len(messages))
	for i, m := range messages {
		all[i] = m.Message
	}
	return b.publish(ctx, all...)
}

func (b *bench) publish(ctx context.Context, messages ...broker.Message) error {
	return errors.Join(b.kafka.Publish(ctx, messages)...)
}

// errPatience is what has not come in time.
var errPatience = errors.New("it did not come in time")

// until waits for what has to come, and starts again what ends by itself meanwhile. What is missing is said by text;
// empty is that nothing is.
func (t *trial) until(ctx context.Context, look func() (missing string, err error)) error {
	limit := time.Now().Add(t.patience)
	for {
		missing, err := look()
		switch {
		case err == nil && missing == "":
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(limit):
			if err != nil {
				missing = err.Error()
			}
			return fmt.Errorf("%w within %v: %s", errPatience, t.patience.Round(time.Second), missing)
		}
		if err := t.keep(ctx); err != nil {
			return err
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// state is what is seen of messages.
type state struct {
	effects map[string]int      // by key
	letters map[string][][]byte // by key
}

func (t *trial) look(ctx context.Context, messages []*made) (s state, err error) {
	if s.effects, err = t.effects(ctx, messages); err != nil {
		return s, err
	}
	if t.letters != nil {
		keys := make([]string, len(messages))
		for i, m := range messages {
			keys[i] = m.key
		}
		s.letters, err = t.letters.of(ctx, keys)
	}
	return s, err
}

// untilDone waits until messages have effects.
func (t *trial) untilDone(ctx context.Context, messages []*made) error {
	return t.until(ctx, func() (string, error) {
		s, err := t.effects(ctx, messages)
		return missing(messages, func(m *made) bool { return s[m.key] > 0 }, "have no effect"), err
	})
}

// missing names messages.
func missing(messages []*made, there func(*made) bool, what string) string {
	var ids []string
	for _, m := range messages {
		if !there(m) {
			ids = append(ids, m.id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d %s: %s", len(ids), len(messages), what, some(ids))
}

// some are the first few.
func some(ids []string) string {
	if len(ids) > 3 {
		return strings.Join(ids[:3], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// quiet is how long nothing may come any more, once all has come.
const quiet = 500 * time.Millisecond

// settle waits until each message has come to an end and the group is at the end of its topics.
func (t *trial) settle(ctx context.Context) error {
	err := t.until(ctx, func() (string, error) {
		s, err := t.look(ctx, t.messages)
		if err != nil {
			return "", err
		}
		if text := missing(t.messages, func(m *made) bool { return s.effects[m.key] > 0 || len(s.letters[m.key]) > 0 }, "have no end"); text != "" {
			return text, nil
		}
		return t.lag(ctx)
	})
	if errors.Is(err, errPatience) {
		t.violate("NOT QUIET", "%v", err)
	} else if err != nil {
		return err
	}
	pause(ctx, quiet)
	return ctx.Err()
}

// lag says where the group is behind.
func (t *trial) lag(ctx context.Context) (string, error) {
	lags, err := t.offsets.look(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range lags {
		if l.Behind > 0 {
			return fmt.Sprintf("group %s is %d messages behind in %s/%d", t.offsets.group, l.Behind, l.Topic, l.Partition), nil
		}
	}
	return "", nil
}

// judge says what is wrong with what is seen, once all is quiet.
func (t *trial) judge(ctx context.Context) error {
	if t.judged {
		return nil
	}
	t.judged = true
	var s state
	err := t.until(ctx, func() (string, error) {
		var err error
		s, err = t.look(ctx, t.messages)
		return "", err
	})
	if err != nil {
		return err
	}
	ends := map[ending]int{}
	effects, letters := 0, 0
	h := &history.History{Commits: t.offsets.take()}
	for _, m := range t.messages {
		h.Produced = append(h.Produced, history.Produced{Key: m.key, Acknowledged: true})
		for range s.effects[m.key] {
			h.Effects = append(h.Effects, history.Effect{Key: m.key})
		}
		for range s.letters[m.key] {
			h.DeadLetters = append(h.DeadLetters, history.DeadLetter{Key: m.key})
		}
		effects += s.effects[m.key]
		letters += len(s.letters[m.key])
		ends[t.ends[m.key]]++
		t.judgeEnd(m, s)
	}
	violations := history.Check(h)
	waits, err := t.whyNotDone(ctx, violations)
	if err != nil {
		return err
	}
	for _, v := range violations {
		switch {
		case v.Kind == history.Twice:
			v.Detail = fmt.Sprintf("%d effects", s.effects[v.Key])
		case v.Kind == history.Lost && waits[v.Key] != "":
			v.Kind, v.Detail = notDoneYet, waits[v.Key]
		}
		t.addOnce(v.String())
	}
	t.proof("%d messages: %d effects of %d, %d dead letters of %d; %d commits watched, none backwards",
		len(t.messages), effects, ends[done], letters, ends[dead], len(h.Commits))
	if t.ownEnds > 0 {
		t.seen("the service ended by itself %s, and was started again", plural(t.ownEnds, "time", "times"))
		t.ownEnds = 0
	}
	return nil
}

// whyNotDone says of what looks lost whether something still holds it.
func (t *trial) whyNotDone(ctx context.Context, violations []history.Violation) (map[string]string, error) {
	var keys []string
	for _, v := range violations {
		if v.Kind == history.Lost {
			keys = append(keys, v.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return t.onTheirWay(ctx, keys)
}

// judgeEnd is about messages that came to an end, and not to theirs.
func (t *trial) judgeEnd(m *made, s state) {
	switch letters := s.letters[m.key]; {
	case t.ends[m.key] == dead && s.effects[m.key] > 0:
		t.violate("DONE", "%s: it has an effect, and had to end as a dead letter", m.key)
	case t.ends[m.key] == dead && len(letters) > 0 && letters[0] != nil && !bytes.Equal(letters[0], m.Value):
		t.violate("ALTERED", "%s: its dead letter has %d bytes that are not the %d that were sent", m.key, len(letters[0]), len(m.Value))
	case t.ends[m.key] == done && len(letters) > 0:
		t.violate("GIVEN UP", "%s: it ended as a dead letter, and nothing was wrong with it", m.key)
	}
	if n := len(s.letters[m.key]); n > 1 {
		t.violate("TWICE", "%s: %d dead letters", m.key, n)
	}
}

func (t *trial) addOnce(text string) {
	if !slices.Contains(t.result.Violations, text) {
		t.result.Violations = append(t.result.Violations, text)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
