package deadletter_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func run(t testing.TB, r *deadletter.Redriver, f store.DeadLetterFilter, want deadletter.Report) {
	t.Helper()
	got, err := r.Run(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	got.FirstError = nil
	if got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
}

func TestARedriveIsTheSameMessageInItsNextLife(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	bury(t, s, letter(1))
	run(t, redriver(t, s, deadletter.Config{}), store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	rows := due(t, s)
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	r := rows[0]
	want := []string{
		"idempotency_key", "key-1", "event_type", "paid", "topic", origin, "fingerprint", "00000000-0000000000000000",
		"retry_count", "0", "max_retry", "5", "hold_count", "0", "redrive_count", "1", "target_scope", scope, "x-other", "kept",
	}
	if got := texts(r.Headers); !slices.Equal(got, want) {
		t.Errorf("headers %v, want %v", got, want)
	}
	if r.Topic != target || string(r.Payload) != "payload-1" || string(r.MessageKey) != "biz" || r.RedriveCount != 1 || r.RetryCount != 0 ||
		r.HoldCount != 0 || r.Action != idem.ActionRedrive || r.Key != "key-1" || r.EventType != "paid" || r.BizKey != "biz" || r.EventID != "event" {
		t.Errorf("row %+v", r)
	}
	// The guard admits it, since its life is a new one.
	if lease := claim(t, s, "key-1", r.RedriveCount); !lease.Held() {
		t.Error("not admitted")
	}
}

// The record may know of a later life than the dead letter. (HDR-033)
func TestTheRecordsLifeCounts(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	d := letter(1)
	d.RedriveCount = 6 // the record's, while the header says nothing
	bury(t, s, d)
	run(t, redriver(t, s, deadletter.Config{}), store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	if rows := due(t, s); rows[0].RedriveCount != 7 {
		t.Errorf("redrive_count %d, want 7", rows[0].RedriveCount)
	}
}

// A header may claim the last life there is: the redrive would be STALE, and so lost. Once its key is forgotten it goes.
func TestAfterTheLastLifeADeadLetterStays(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	d := letter(1)
	d.RedriveCount = math.MaxInt32
	bury(t, s, d)
	report, err := redriver(t, s, deadletter.Config{}).Run(t.Context(), store.DeadLetterFilter{})
	if err != nil || report.Failed != 1 || report.FirstError == nil || !strings.Contains(report.FirstError.Error(), "forget the key") || len(due(t, s)) != 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	if _, err := s.Forget(t.Context(), scope, []string{"key-1"}); err != nil {
		t.Fatal(err)
	}
	run(t, redriver(t, s, deadletter.Config{}), store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	if lease := claim(t, s, "key-1", due(t, s)[0].RedriveCount); !lease.Held() {
		t.Error("not admitted")
	}
}

// So may that of the key by the template before, in which the same event had its lives. (DEDUP-026)
func TestTheLivesOfThePreviousKeyCount(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	bury(t, s, store.DeadLetter{Scope: scope, Key: "key-old", SourceTopic: "payments", SourceOffset: 99, Topic: "payments", RedriveCount: 4})
	d := letter(1)
	d.Headers = append(d.Headers, headers("idempotency_key_previous", "key-old")...)
	bury(t, s, d)
	report, err := redriver(t, s, deadletter.Config{}).Run(t.Context(), store.DeadLetterFilter{Key: "key-1"})
	if err != nil || report.Redriven != 1 {
		t.Fatal(report, err)
	}
	if rows := due(t, s); rows[0].RedriveCount != 5 {
		t.Errorf("redrive_count %d, want 5: a lower one than the other record's is STALE", rows[0].RedriveCount)
	}
}

func TestFault08_aMessageHasTheSameSizeAfter100Redrives(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	d := letter(1)
	d.Headers = append(d.Headers, headers("traceparent", "00-1", "traceparent", "00-2")...)
	r := redriver(t, s, deadletter.Config{})
	var first int
	for life := range 100 {
		d.RedriveCount = int32(life)
		bury(t, s, d)
		run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
		d.Headers = due(t, s)[0].Headers
		if life == 0 {
			first = len(d.Headers)
		}
		if len(d.Headers) != first {
			t.Fatalf("life %d: %d headers, %d in the first", life, len(d.Headers), first)
		}
	}
	if got := texts(d.Headers); !slices.Contains(got, "100") {
		t.Errorf("redrive_count is not 100: %v", got)
	}
}

func TestOnlyWhatTheFilterSelectsIsRedriven(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	clock := now
	s := memory.New(memory.Config{Now: func() time.Time { return clock }})
	for n := range 6 {
		d := letter(n)
		switch n {
		case 1:
			d.EventType = "refunded"
		case 2:
			d.Reason = "NO_ACCOUNT"
		case 3:
			d.Outcome = idem.OutcomeConflict
		case 4:
			d.Scope = "other"
			d.Key = "" // no record
		}
		bury(t, s, d)
		clock = clock.Add(time.Hour)
	}
	for _, c := range []struct {
		name   string
		filter store.DeadLetterFilter
		want   []string
	}{
		{"key", store.DeadLetterFilter{Key: "key-0"}, []string{"0"}},
		{"event type", store.DeadLetterFilter{EventType: "refunded"}, []string{"1"}},
		{"reason", store.DeadLetterFilter{ReasonPrefix: "NO_"}, []string{"2"}},
		{"outcome", store.DeadLetterFilter{Outcome: "CONFLICT"}, []string{"3"}},
		{"scope", store.DeadLetterFilter{Scope: "other"}, []string{"4"}},
		{"time", store.DeadLetterFilter{Since: now.Add(5 * time.Hour), Until: now.Add(6 * time.Hour)}, []string{"5"}},
		{"all, which is nothing any more", store.DeadLetterFilter{Redriven: true}, nil},
	} {
		r := redriver(t, s, deadletter.Config{})
		plan, err := r.Plan(t.Context(), c.filter, 10)
		if err != nil || plan.Count != int64(len(c.want)) || len(plan.Sample) != len(c.want) || plan.TooOld != 0 {
			t.Errorf("%s: plan %+v %v", c.name, plan, err)
		}
		if rows := due(t, s); len(rows) != 0 {
			t.Errorf("%s: a plan redrives %d", c.name, len(rows))
		}
		if _, err := r.Run(t.Context(), c.filter); err != nil {
			t.Error(err)
		}
		var got []string
		var marks []store.Mark
		for _, row := range due(t, s) {
			got = append(got, strings.TrimPrefix(string(row.Payload), "payload-"))
			marks = append(marks, store.MarkOf(&row))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if _, err := s.MarkPublished(t.Context(), marks); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsRedrivenIsNotSelectedAgain(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	bury(t, s, letter(1))
	r := redriver(t, s, deadletter.Config{})
	run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	run(t, r, store.DeadLetterFilter{Redriven: true}, deadletter.Report{})
	if plan, err := r.Plan(t.Context(), store.DeadLetterFilter{Redriven: true}, 5); err != nil || plan.Count != 0 || len(plan.Sample) != 0 {
		t.Errorf("%+v %v", plan, err)
	}
}

func TestMoreThanTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	for n := range 4 {
		bury(t, s, letter(n))
	}
	report, err := redriver(t, s, deadletter.Config{Limit: 3}).Run(t.Context(), store.DeadLetterFilter{})
	if !errors.Is(err, deadletter.ErrTooMany) || report.Matched != 4 || len(due(t, s)) != 0 {
		t.Errorf("%+v %v", report, err)
	}
	run(t, redriver(t, s, deadletter.Config{Limit: -1}), store.DeadLetterFilter{}, deadletter.Report{Matched: 4, Redriven: 4, Last: 4})
}

func TestTooOldNeedsToBeAllowed(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	old := letter(1)
	old.Outcome, old.Reason = idem.OutcomeTooOld, "TOO_OLD"
	bury(t, s, old, letter(2))
	r := redriver(t, s, deadletter.Config{})
	if plan, err := r.Plan(t.Context(), store.DeadLetterFilter{}, 0); err != nil || plan.Count != 2 || plan.TooOld != 1 || plan.Sample != nil {
		t.Errorf("plan %+v %v", plan, err)
	}
	if _, err := r.Run(t.Context(), store.DeadLetterFilter{Outcome: "TOO_OLD"}); !errors.Is(err, deadletter.ErrSecondEffect) {
		t.Errorf("%v", err)
	}
	run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 2, Redriven: 1, Refused: 1, Last: 2})
	run(t, redriver(t, s, deadletter.Config{AllowSecondEffect: true}), store.DeadLetterFilter{Outcome: "TOO_OLD"},
		deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	if _, err := r.Run(t.Context(), store.DeadLetterFilter{Outcome: "OLD"}); err == nil || !strings.Contains(err.Error(), `"OLD" is none`) {
		t.Errorf("%v", err)
	}
}

func TestARepairedPayloadHasNoFingerprint(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	for n := range 4 {
		bury(t, s, letter(n))
	}
	errRepair := errors.New("no rate for it")
	r := redriver(t, s, deadletter.Config{Repair: func(d *store.DeadLetter) ([]byte, error) {
		switch d.Key {
		case "key-0":
			return d.Payload, nil
		case "key-1":
			return []byte("repaired"), nil
		case "key-2":
			return nil, nil
		}
		return nil, errRepair
	}})
	report, err := r.Run(t.Context(), store.DeadLetterFilter{})
	if err != nil || report.Redriven != 3 || report.Failed != 1 || !errors.Is(report.FirstError, errRepair) {
		t.Errorf("%+v %v", report, err)
	}
	for _, row := range due(t, s) {
		want := map[string]string{"key-0": "payload-0", "key-1": "repaired", "key-2": ""}[row.Key]
		if string(row.Payload) != want || (row.Payload == nil) != (row.Key == "key-2") {
			t.Errorf("%s: payload %q", row.Key, row.Payload)
		}
		if has := slices.Contains(texts(row.Headers), "fingerprint"); has != (row.Key == "key-0") {
			t.Errorf("%s: fingerprint %v", row.Key, has)
		}
	}
	if n, _ := s.CountDeadLetters(t.Context(), store.DeadLetterFilter{}); n != 1 {
		t.Errorf("%d dead letters left, want the one that could not be repaired", n)
	}
}

func TestRunKeepsToItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Config{})
		for n := range 100 {
			bury(t, s, letter(n))
		}
		var reports []int64
		r := redriver(t, s, deadletter.Config{Rate: 10, Progress: func(r deadletter.Report) { reports = append(reports, r.Redriven) }})
		begin := time.Now()
		run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 100, Redriven: 100, Last: 100})
		if took := time.Since(begin); took != 9*time.Second { // ten batches of ten, a second apart
			t.Errorf("100 at 10 a second took %v", took)
		}
		if want := []int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !reflect.DeepEqual(reports, want) {
			t.Errorf("progress %v", reports)
		}
	})
}

func TestARunThatIsStoppedGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Config{})
		for n := range 30 {
			bury(t, s, letter(n))
		}
		r := redriver(t, s, deadletter.Config{Rate: 10})
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		report, err := r.Run(ctx, store.DeadLetterFilter{})
		if !errors.Is(err, context.DeadlineExceeded) || report.Redriven != 20 || !strings.Contains(err.Error(), "stopped after 20 of 30") {
			t.Errorf("%+v %v", report, err)
		}
		run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 10, Redriven: 10, Last: 30})
		if n := len(due(t, s)); n != 30 {
			t.Errorf("%d rows", n)
		}
	})
}

// failingLetters fails once it has been asked a number of times.
type failingLetters struct {
	store.DeadLetters
	good int
	lost bool // the reply alone
}

func (f *failingLetters) Redrive(ctx context.Context, ids []int64, rows []store.Retry) ([]bool, error) {
	if f.good == 0 {
		if f.lost {
			_, _ = f.DeadLetters.Redrive(ctx, ids, rows)
		}
		return nil, errDown
	}
	f.good--
	return f.DeadLetters.Redrive(ctx, ids, rows)
}

func TestAFailedRunSaysHowFarItCameAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		s := memory.New(memory.Config{})
		for n := range 10 {
			bury(t, s, letter(n))
		}
		f := &failingLetters{DeadLetters: s, good: 2, lost: lost}
		r, err := deadletter.New(f, s, deadletter.Config{Batch: 3, Log: quiet, Rate: -1})
		if err != nil {
			t.Fatal(err)
		}
		report, err := r.Run(t.Context(), store.DeadLetterFilter{})
		if !errors.Is(err, errDown) || report.Redriven != 6 || report.Last != 6 {
			t.Errorf("%+v %v", report, err)
		}
		f.good = 100
		left := int64(4)
		if lost {
			left = 1
		}
		run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: left, Redriven: left, Last: 10})
		if n := len(due(t, s)); n != 10 {
			t.Errorf("%d rows", n)
		}
	}
}

// raced redrives each dead letter once more, between the list and the write.
type raced struct {
	store.DeadLetters
	once bool
}

func (r *raced) Redrive(ctx context.Context, ids []int64, rows []store.Retry) ([]bool, error) {
	if !r.once {
		r.once = true
		if _, err := r.DeadLetters.Redrive(ctx, ids[:1], rows[:1]); err != nil {
			return nil, err
		}
	}
	return r.DeadLetters.Redrive(ctx, ids, rows)
}

func TestWhatSomebodyElseHasRedrivenIsSkipped(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	bury(t, s, letter(1), letter(2))
	r, err := deadletter.New(&raced{DeadLetters: s}, s, deadletter.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 2, Redriven: 1, Skipped: 1, Last: 2})
}

// A message that ends again at once must not be redriven for ever.
func TestARunEndsAlsoWhereMessagesEndAgain(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	for n := range 5 {
		bury(t, s, letter(n))
	}
	n := 0
	r := redriver(t, s, deadletter.Config{Batch: 1, Rate: -1, Progress: func(deadletter.Report) {
		n++
		again := letter(100 + n)
		bury(t, s, again)
	}})
	run(t, r, store.DeadLetterFilter{}, deadletter.Report{Matched: 5, Redriven: 5, Last: 5})
}

func TestAMessageWithoutAKeyIsRedrivenToo(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	d := letter(1)
	d.Key, d.Headers = "", idem.Headers{{Name: "x"}, {Name: "redrive_count", Value: []byte("many")}}
	bury(t, s, d)
	run(t, redriver(t, s, deadletter.Config{}), store.DeadLetterFilter{}, deadletter.Report{Matched: 1, Redriven: 1, Last: 1})
	if rows := due(t, s); rows[0].RedriveCount != 1 || rows[0].Key != "" {
		t.Errorf("%+v", rows)
	}
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	for i, f := range []func() error{
		func() error { _, err := deadletter.New(nil, s, deadletter.Config{}); return err },
		func() error { _, err := deadletter.New(s, nil, deadletter.Config{}); return err },
		func() error { _, err := deadletter.New(s, s, deadletter.Config{Batch: -1}); return err },
		func() error { _, err := deadletter.NewWatch(nil, deadletter.WatchConfig{}); return err },
		func() error { _, err := deadletter.NewWatch(s, deadletter.WatchConfig{}); return err },
	} {
		if f() == nil {
			t.Errorf("case %d is accepted", i)
		}
	}
	s.Close()
	r := redriver(t, s, deadletter.Config{})
	if _, err := r.Run(t.Context(), store.DeadLetterFilter{}); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v", err)
	}
	if _, err := r.Plan(t.Context(), store.DeadLetterFilter{}, 1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v", err)
	}
}
