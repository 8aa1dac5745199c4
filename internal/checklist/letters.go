package checklist

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// letters is where a service puts its dead letters.
type letters interface {
	// of gives their payloads by idempotency key. A table without a column of payloads has nil ones.
	of(ctx context.Context, keys []string) (map[string][][]byte, error)
	// down takes the place away, and up brings it back.
	down(ctx context.Context) error
	up(ctx context.Context) error
	String() string
}

// tableLetters are in a table.
type tableLetters struct {
	b *bench
	DeadLetters
}

func (t *tableLetters) String() string { return "table " + t.Table }

func (t *tableLetters) name() string { return pgx.Identifier(strings.Split(t.Table, ".")).Sanitize() }

func (t *tableLetters) of(ctx context.Context, keys []string) (map[string][][]byte, error) {
	payload := "NULL::bytea"
	if t.Payload != "" {
		payload = pgx.Identifier{t.Payload}.Sanitize()
	}
	key := pgx.Identifier{t.Key}.Sanitize()
	sql := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ANY($1)", key, payload, t.name(), key)
	if t.Where != "" {
		sql += " AND (" + t.b.values.fill(t.Where) + ")"
	}
	rows, err := t.b.db.pool.Query(ctx, sql, keys)
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	defer rows.Close()
	found := map[string][][]byte{}
	for rows.Next() {
		var key string
		var payload []byte
		if err := rows.Scan(&key, &payload); err != nil {
			return nil, fmt.Errorf("dead letters: %w", err)
		}
		found[key] = append(found[key], payload)
	}
	return found, rows.Err()
}

const gone = "_gone_for_the_checklist"

func (t *tableLetters) down(ctx context.Context) error {
	parts := strings.Split(t.Table, ".")
	_, err := t.b.db.pool.Exec(ctx, "ALTER TABLE "+t.name()+" RENAME TO "+pgx.Identifier{parts[len(parts)-1] + gone}.Sanitize())
	return err
}

func (t *tableLetters) up(ctx context.Context) error {
	parts := strings.Split(t.Table+gone, ".")
	own := strings.Split(t.Table, ".")
	_, err := t.b.db.pool.Exec(ctx, "ALTER TABLE "+pgx.Identifier(parts).Sanitize()+" RENAME TO "+pgx.Identifier{own[len(own)-1]}.Sanitize())
	return err
}

// topicLetters are in a topic, which is read to its end again and again.
type topicLetters struct {
	b     *bench
	topic string
	next  map[broker.TopicPartition]int64
	found map[string][][]byte
	parts int32
}

func (t *topicLetters) String() string { return "topic " + t.topic }

func (t *topicLetters) of(ctx context.Context, _ []string) (map[string][][]byte, error) {
	lags, err := t.b.kafka.Lag(ctx, "idem-faults-reads-only", t.topic)
	if err != nil {
		return nil, err
	}
	for _, l := range lags {
		if _, begun := t.next[l.TopicPartition]; !begun {
			t.next[l.TopicPartition] = l.Committed
		}
		for t.next[l.TopicPartition] < l.End {
			batch, next, err := t.b.kafka.Scan(ctx, l.TopicPartition, t.next[l.TopicPartition], 1<<20)
			if err != nil {
				return nil, err
			}
			t.next[l.TopicPartition] = next
			for _, m := range batch.Messages {
				key := headerOf(m.Headers, "idempotency_key")
				t.found[key] = append(t.found[key], m.Value)
			}
		}
	}
	return maps.Clone(t.found), nil
}

func headerOf(headers idem.Headers, name string) string {
	for _, h := range headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

func (t *topicLetters) down(ctx context.Context) error {
	if _, err := t.of(ctx, nil); err != nil { // what is there is remembered
		return err
	}
	partitions, err := t.b.kafka.Partitions(ctx, t.topic)
	if err != nil {
		return err
	}
	t.parts = partitions[t.topic]
	answer, err := t.b.admin.DeleteTopics(ctx, &kafkago.DeleteTopicsRequest{Topics: []string{t.topic}})
	if err == nil {
		err = answer.Errors[t.topic]
	}
	return err
}

func (t *topicLetters) up(ctx context.Context) error {
	var err error
	for range 20 { // a deletion takes its time
		if _, err = t.b.kafka.CreateTopic(ctx, t.topic, t.parts, 0); err == nil {
			t.next = map[broker.TopicPartition]int64{}
			return nil
		}
		pause(ctx, 500*time.Millisecond)
	}
	return err
}
