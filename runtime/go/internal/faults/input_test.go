//go:build unix

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// TestInputStoreThatCannotBeUsed: wrong credentials, missing rights, missing tables, tables of another version, a disk
// that is full: the log says what to do, nothing is lost, and once it is done the consumer goes on by itself.
func TestInputStoreThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role  string         // that the consumer connects as
		spoil func(w *world) // before it starts, or, with late, while it runs
		late  bool
		says  []string       // in the log
		mend  func(w *world) // what the log says
	}{
		"a user that does not exist": {
			role: "idem_nobody_", spoil: func(*world) {}, says: []string{"the store is not ready", "check user and password of the DSN"},
			mend: func(w *world) {
				w.exec(`CREATE ROLE ` + w.guest + ` LOGIN`)
				w.grant()
			},
		},
		"a user without rights": {
			role: "idem_guest_", spoil: func(w *world) { w.exec(`CREATE ROLE ` + w.guest + ` LOGIN`) },
			says: []string{"the store is not ready", "grant it SELECT, INSERT, UPDATE and DELETE"}, mend: (*world).grant,
		},
		"no tables": {
			spoil: func(w *world) { require.NoError(w, w.store.MigrateTo(w.Context(), 0)) },
			says:  []string{"the store is not ready", "idem migrate up"},
			mend:  func(w *world) { require.NoError(w, w.store.Migrate(w.Context())) },
		},
		"tables of a later version": {
			spoil: func(w *world) { w.exec(`UPDATE idem_schema SET version = version + 7`) },
			says:  []string{"the store is not ready", "update this program"},
			mend:  func(w *world) { w.exec(`UPDATE idem_schema SET version = version - 7`) },
		},
		"a table that goes away": {
			late: true, spoil: func(w *world) { w.exec(`ALTER TABLE idem_record RENAME TO gone`) },
			says: []string{"messages wait, and none is lost", "idem migrate up"},
			mend: func(w *world) { w.exec(`ALTER TABLE gone RENAME TO idem_record`) },
		},
		"a table without a column": {
			late: true, spoil: func(w *world) { w.exec(`ALTER TABLE idem_record RENAME COLUMN fence TO gone`) },
			says: []string{"messages wait, and none is lost", "idem migrate up"},
			mend: func(w *world) { w.exec(`ALTER TABLE idem_record RENAME COLUMN gone TO fence`) },
		},
		// What the server says when it has no room, said by a trigger: another test's database is on the same disk.
		"a full disk": {
			late: true, spoil: func(w *world) {
				w.exec(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
				w.exec(`CREATE TRIGGER full_disk BEFORE INSERT ON idem_record FOR EACH ROW EXECUTE FUNCTION full_disk()`)
			},
			says: []string{"messages wait, and none is lost", "the server's disk is full: make room on its volume"},
			mend: func(w *world) { w.exec(`DROP TRIGGER full_disk ON idem_record`) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			database := w.Database
			if c.role != "" {
				u, err := url.Parse(database)
				require.NoError(t, err)
				w.guest = c.role + strings.ReplaceAll(w.Topic[len("idem-test-"):], "-", "_")
				u.User = url.User(w.guest)
				database = u.String()
				t.Cleanup(func() {
					for _, sql := range []string{`DROP OWNED BY ` + w.guest, `DROP ROLE IF EXISTS ` + w.guest} {
						if _, err := w.pool.Exec(context.Background(), sql); err != nil {
							t.Log(err)
						}
					}
				})
			}
			if !c.late {
				c.spoil(w)
			}
			stop := w.start(storeOf(t, w.connect(database)), w.config(), consumer.Tx(simply))
			done := 0
			if c.late {
				w.send(w.works("before", 5)...)
				w.untilDone(5)
				c.spoil(w)
				done = 5
			}
			w.send(w.works("k", 20)...)
			for _, text := range c.says {
				w.untilTold(text)
			}
			require.Len(t, w.effects(), done)
			c.mend(w)
			w.judge()
			w.untilTold("works again")
			require.Len(t, w.effects(), done+20)
			require.Empty(t, w.letters())
			stop()
		})
	}
}

func (w *world) grant() {
	w.Helper()
	w.exec(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ` + w.guest)
	w.exec(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ` + w.guest)
}

// TestInputBrokerThatRefusesTheCredentials: a password that is wrong ends the start, with what to do, and without the
// password.
func TestInputBrokerThatRefusesTheCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	secure := realtest.KafkaSASL(t)
	_, err := kafka.Open(kafka.Config{Brokers: secure.Brokers, SASL: kafka.SASL{Mechanism: "PLAIN", User: secure.User, Password: "not-the-password"}, Logger: w.log.logger()})
	require.ErrorContains(t, err, "SASL.Password")
	require.NotContains(t, err.Error(), "not-the-password")
	require.NotContains(t, w.log.all(), "not-the-password")
}

// TestInputMissingTopics: topics that are missing at the start end Run with their names and the command that makes them; a retry topic
// that is deleted later holds back its own messages alone, until it is there again.
func TestInputMissingTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	c := w.config()
	c.Scope, c.Guard.DeadLetterTopic = "elsewhere", true
	k, err := consumer.New(w.open(), w.store, c, consumer.Tx(simply))
	require.NoError(t, err)
	err = k.Run(t.Context())
	require.ErrorIs(t, err, broker.ErrUnknownTopic)
	require.ErrorContains(t, err, "create") // by which command
	for _, topic := range []string{broker.RetryTopic(w.Topic, "elsewhere"), broker.DeadLetterTopic(w.Topic, "elsewhere")} {
		require.ErrorContains(t, err, topic)
	}

	var mu sync.Mutex
	failed := map[string]bool{}
	w.start(w.store, w.config(), consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *work) error {
		mu.Lock()
		defer mu.Unlock()
		if m.GetValue() == "once" && !failed[guard.KeyOf(ctx)] {
			failed[guard.KeyOf(ctx)] = true
			return errors.New("not yet")
		}
		return effect(ctx, tx, "topics")
	}))
	w.send(w.works("before", 3)...)
	w.untilDone(3)
	retries := broker.RetryTopic(w.Topic, w.Group)
	answer, err := w.admin().DeleteTopics(t.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{retries}})
	require.NoError(t, err)
	require.NoError(t, answer.Errors[retries])
	w.send(w.message("later", "once", "backoff_schedule", "50", "backoff_jitter", "0"))
	w.untilTold("retry scheduler")
	w.untilTold(retries)
	require.Len(t, w.effects(), 3)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM msg_retry`))
	realtest.CreateTopic(t, w.Brokers, retries, 1)
	w.send(w.works("behind", 5)...)
	w.judge()
	require.Len(t, w.effects(), 9)
	require.Empty(t, w.letters())
}

// TestInputMessages: messages that no handler should see end under their names, and those around them are done.
func TestInputMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.start(w.store, w.config(), consumer.Tx(simply, consumer.Route{MaxBytes: 1000}))
	now := time.Now().UTC()
	at := func(ago time.Duration) string { return now.Add(-ago).Format("2006-01-02T15:04:05.000Z") }
	keyless := w.message("", "")
	keyless.Key, keyless.Headers = []byte("keyless"), keyless.Headers[1:]
	other := w.message("other-type", "")
	other.Headers[1].Value = []byte("nobodys")
	for _, c := range []struct {
		name    string
		message broker.Message
		outcome idem.Outcome
		reason  string
	}{
		{"too large", w.message("large", strings.Repeat("x", 2000)), idem.OutcomeMalformed, "1000"},
		{"another version of the spec", w.message("spec", "", "idem_spec", "2"), idem.OutcomeMalformed, "SPEC_VERSION"},
		{"no key", keyless, idem.OutcomeMalformed, ""},
		{"no handler", other, idem.OutcomeNonRetryable, "nobodys"},
		{"older than the records", w.message("old", "", "produced_at", at(15*24*time.Hour)), idem.OutcomeTooOld, ""},
		{"from a clock that is years ahead", w.message("ahead", "", "produced_at", at(-3*365*24*time.Hour)), idem.OutcomeOK, ""},
		{"from a clock that is a day behind", w.message("behind", "", "produced_at", at(24*time.Hour)), idem.OutcomeOK, ""},
		{"without a time", w.message("timeless", ""), idem.OutcomeOK, ""},
	} {
		letters, effects := len(w.letters()), len(w.effects())
		w.send(c.message)
		if c.outcome == idem.OutcomeOK {
			w.untilDone(effects + 1)
			continue
		}
		w.until(func() string {
			if len(w.letters()) == letters {
				return c.name + ": there is no dead letter"
			}
			return ""
		})
		all := w.letters()
		last := all[len(all)-1]
		require.Equal(t, c.outcome, last.Outcome, "%s: %s", c.name, last.Reason)
		require.Contains(t, last.Reason, c.reason, c.name)
		require.Equal(t, c.message.Value, last.Payload, c.name)
		w.untilTold("dead-lettered")
	}
	w.judge()
	require.Len(t, w.effects(), 3)
}

// TestInputMessageTooLargeForItsRetryTopic: a row that the retry topic refuses for its size waits, the log says which
// setting is too low, other rows go on, and once it is raised the message is done.
func TestInputMessageTooLargeForItsRetryTopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	retries := broker.RetryTopic(w.Topic, w.Group)
	w.setTopic(retries, "max.message.bytes", "3000")
	var mu sync.Mutex
	tries := map[string]int{}
	w.start(w.store, w.config(), consumer.Tx(func(ctx context.Context, tx pgx.Tx, _ *work) error {
		mu.Lock()
		defer mu.Unlock()
		if tries[guard.KeyOf(ctx)]++; tries[guard.KeyOf(ctx)] == 1 {
			return errors.New("not yet")
		}
		return effect(ctx, tx, "sizes")
	}, consumer.Route{Breaker: consumer.Breaker{Failures: -1}}))
	policy := []string{"backoff_schedule", "50", "backoff_jitter", "0"}
	w.send(w.message("large", strings.Repeat("x", 5000), policy...))
	w.untilTold("max.message.bytes")
	w.send(w.works("small", 10, policy...)...)
	w.untilDone(10)
	require.NotContains(t, w.effects(), "large")
	w.setTopic(retries, "max.message.bytes", "100000")
	w.judge()
	require.Len(t, w.effects(), 11)
	require.Empty(t, w.letters())
}

func (w *world) setTopic(topic, name, value string) {
	w.Helper()
	answer, err := w.admin().IncrementalAlterConfigs(w.Context(), &kafkago.IncrementalAlterConfigsRequest{
		Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet}},
		}},
	})
	require.NoError(w, err)
	for _, r := range answer.Resources {
		require.NoError(w, r.Error)
	}
}

// TestInputClockSkew: two processes whose clocks are hours apart. Leases and due times are the database's, so that
// retries come in time, and each message has one effect.
func TestInputClockSkew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	const keys = 60
	var mu sync.Mutex
	tries := map[string]int{}
	for _, skew := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		c := w.config()
		c.Guard.Now = func() time.Time { return time.Now().Add(skew) }
		w.start(storeOf(t, w.connect(w.Database)), c, consumer.Tx(func(ctx context.Context, tx pgx.Tx, _ *work) error {
			mu.Lock()
			tries[guard.KeyOf(ctx)]++
			n := tries[guard.KeyOf(ctx)]
			mu.Unlock()
			if n <= 2 {
				return errors.New("not yet")
			}
			return effect(ctx, tx, fmt.Sprint(skew))
		}, consumer.Route{Breaker: consumer.Breaker{Failures: -1}}))
	}
	policy := []string{"backoff_schedule", "300", "backoff_jitter", "100", "produced_at", time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	w.send(w.works("k", keys, policy...)...)
	w.judge()
	require.Len(t, w.effects(), keys)
	require.Empty(t, w.letters())
	for key, n := range tries {
		require.Equal(t, 3, n, "%s was handled %d times", key, n)
	}
}
