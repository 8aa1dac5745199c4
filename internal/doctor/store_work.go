package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// workChecks look at what waits in the tables.
var workChecks = []*check[*Store]{
	{Check{
		ID: "STORE_CLEANER", Severity: Warning, Spec: []string{"DEDUP-029"},
		Purpose: "Checks that expired dedup records are removed.",
		Why:     "Without a cleaner idem_record grows for ever, and each claim with it.",
	}, storeCleaner},
	{Check{
		ID: "STORE_RETRIES_OVERDUE", Severity: Warning, Spec: []string{"CONS-020"},
		Purpose: "Checks that no retry is long overdue.",
		Why:     "Where no scheduler runs, or it cannot publish, what failed once is never tried again, and nobody hears of it.",
	}, storeRetriesOverdue},
	{Check{
		ID: "STORE_OUTBOX_OVERDUE", Severity: Warning,
		Purpose: "Checks that messages do not wait long in the outbox.",
		Why:     "Where no relay runs, the business data is committed, and nobody else hears of it.",
	}, storeOutboxOverdue},
	{Check{
		ID: "STORE_OUTBOX_FAILED", Severity: Error,
		Purpose: "Checks that the relay has given up on no message.",
		Why:     "A message that failed holds back all later ones of its key, until a person looks.",
	}, storeOutboxFailed},
	{Check{
		ID: "STORE_LANES", Severity: Warning,
		Purpose: "Checks that no lane is stuck for long.",
		Why:     "All later messages of the lane's key wait behind the one that heads it.",
	}, storeLanes},
	{Check{
		ID: "STORE_DEAD_LETTERS", Severity: Warning,
		Purpose: "Says how many dead letters wait for somebody.",
		Why:     "Nobody does these messages any more. The effect of each did not happen; of KEY_REUSED that of another message with its key did, and of TOO_OLD nobody knows.",
	}, storeDeadLetters},
}

// bound is how many rows are counted at most.
const bound = 10000

// How long work may wait.
const (
	late    = time.Minute
	tooLate = 10 * time.Minute
)

func storeCleaner(ctx context.Context, s *Store, r *report) error {
	m, err := s.records(ctx)
	if err != nil {
		return err
	}
	const mend = "run the cleaner: idem worker --cleaner, or Clean of the store in the service"
	found := "%d of %d records in the sample expired more than an hour ago, the first %s ago"
	switch {
	case m.expired < 10 || m.expired*10 < m.rows:
		r.ok("%d of %d records in the sample have expired", m.expired, m.rows)
	case m.expired*2 >= m.rows:
		r.as(Error, mend, found, m.expired, m.rows, span(m.overdue))
	default:
		r.find(mend, found, m.expired, m.rows, span(m.overdue))
	}
	return nil
}

// waiting counts the rows of a query that gives an age in seconds for each. Times are compared with now(), by which an
// index can be searched, unlike clock_timestamp().
func (s *Store) waiting(ctx context.Context, query string, args ...any) (count int64, oldest time.Duration, err error) {
	var age *float64
	err = s.conn.QueryRow(ctx, "SELECT count(*), max(age)::float8 FROM ("+query+") AS w (age)", args...).Scan(&count, &age)
	return count, seconds(age), err
}

// overdue reports work of which the oldest is late.
func overdue(r *report, count int64, oldest time.Duration, what, mend string) {
	switch {
	case oldest >= tooLate:
		r.as(Error, mend, "%s %s, the oldest for %s", counted(count), what, span(oldest))
	case oldest >= late:
		r.find(mend, "%s %s, the oldest for %s", counted(count), what, span(oldest))
	}
}

// counted is a number that was counted up to the bound.
func counted(n int64) string {
	if n >= bound {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

func storeRetriesOverdue(ctx context.Context, s *Store, r *report) error {
	count, oldest, err := s.waiting(ctx, `SELECT extract(epoch FROM clock_timestamp() - next_retry_time) FROM msg_retry
		WHERE status = 'PENDING' AND next_retry_time < now() AND (claimed_until IS NULL OR claimed_until < now())
		ORDER BY next_retry_time, id LIMIT $1`, bound)
	overdue(r, count, oldest, "retries are due and not published", "run the scheduler: idem worker --scheduler, or that of the service; its log says why it cannot publish. idem retry ls shows them")
	return err
}

func storeOutboxOverdue(ctx context.Context, s *Store, r *report) error {
	count, oldest, err := s.waiting(ctx, `SELECT extract(epoch FROM clock_timestamp() - greatest(created_at, next_at)) FROM outbox
		WHERE NOT failed AND next_at < now() AND (claimed_until IS NULL OR claimed_until < now()) ORDER BY id LIMIT $1`, bound)
	overdue(r, count, oldest, "messages of the outbox are not published", "run the relay: idem worker --relay, or that of the service; or mend what STORE_OUTBOX_FAILED shows, behind which they may wait")
	return err
}

func storeOutboxFailed(ctx context.Context, s *Store, r *report) error {
	count, oldest, err := s.waiting(ctx, `SELECT extract(epoch FROM clock_timestamp() - created_at) FROM outbox WHERE failed ORDER BY id LIMIT $1`, bound)
	if err != nil || count == 0 {
		return err
	}
	var topic, cause string
	if err := s.conn.QueryRow(ctx, "SELECT topic, last_error FROM outbox WHERE failed ORDER BY id LIMIT 1").Scan(&topic, &cause); err != nil {
		return err
	}
	r.find("mend the cause; then RetryFailed of the store, or UPDATE outbox SET failed = false, next_at = clock_timestamp() WHERE failed;", "%s messages, the oldest %s old: to %s, %q", counted(count), span(oldest), topic, cause)
	return nil
}

func storeLanes(ctx context.Context, s *Store, r *report) error {
	count, oldest, err := s.waiting(ctx, "SELECT extract(epoch FROM clock_timestamp() - since) FROM idem_lane ORDER BY since LIMIT $1", bound)
	if err != nil || oldest < time.Hour {
		return err
	}
	var scope, topic, head string
	if err := s.conn.QueryRow(ctx, "SELECT scope, topic, head_key FROM idem_lane ORDER BY since LIMIT 1").Scan(&scope, &topic, &head); err != nil {
		return err
	}
	status := Warning
	if oldest >= 24*time.Hour {
		status = Error
	}
	r.as(status, "see what its head waits for: idem retry ls --scope "+scope+" --key "+quoted(head)+", and idem dedup show "+quoted(head), "%s lanes are stuck, the oldest for %s: in scope %s, of topic %s, behind %s", counted(count), span(oldest), scope, topic, head)
	return nil
}

// quoted is a word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func storeDeadLetters(ctx context.Context, s *Store, r *report) error {
	const waiting = "FROM dead_letter WHERE redriven_at IS NULL ORDER BY created_at, id LIMIT $1"
	count, oldest, err := s.waiting(ctx, "SELECT extract(epoch FROM clock_timestamp() - created_at) "+waiting, bound)
	if err != nil || count == 0 {
		return err
	}
	var outcomes string
	err = s.conn.QueryRow(ctx, `SELECT coalesce(string_agg(n || ' ' || outcome, ', ' ORDER BY n DESC, outcome), '')
		FROM (SELECT outcome, count(*) AS n FROM (SELECT outcome `+waiting+`) AS w GROUP BY outcome) AS o`, bound).Scan(&outcomes)
	if err != nil {
		return err
	}
	r.find("idem dlq ls; then idem dlq redrive once the cause is mended, or idem dlq drop", "%s dead letters (%s), the oldest for %s", counted(count), outcomes, span(oldest))
	return nil
}
