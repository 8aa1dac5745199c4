package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

func open(t testing.TB, c sqlite.Config) *sqlite.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "idem.db"), c)
}

func openAt(t testing.TB, path string, c sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func claimOf(key, owner string) store.Claim {
	return store.Claim{Scope: "payments", Key: key, Owner: owner, MaxAttempts: idem.MaxAttempts(5), Lease: time.Minute}
}

// claim expects a claim to proceed.
func claim(t testing.TB, s *sqlite.Store, c store.Claim) store.Lease {
	t.Helper()
	grants, err := s.Claim(context.Background(), []store.Claim{c})
	if err != nil {
		t.Fatal(err)
	}
	if grants[0].Kind != idem.AdmitProceed {
		t.Fatalf("claim of %s by %s: %v", c.Key, c.Owner, grants[0].Kind)
	}
	return grants[0].Lease
}

func TestOneOfManyClaimersRunsAcrossStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "idem.db")
	stores := []*sqlite.Store{openAt(t, path, sqlite.Config{}), openAt(t, path, sqlite.Config{})}
	const keys, workers = 50, 4
	var proceeded [keys]atomic.Int32
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for k := range keys {
				grants, err := stores[w%2].Claim(context.Background(), []store.Claim{claimOf(fmt.Sprint("p:", k), fmt.Sprint("w", w))})
				if err != nil {
					t.Error(err)
					return
				}
				if grants[0].Kind == idem.AdmitProceed {
					proceeded[k].Add(1)
				}
			}
		})
	}
	wait.Wait()
	for k := range proceeded {
		if n := proceeded[k].Load(); n != 1 {
			t.Errorf("key %d was claimed %d times", k, n)
		}
	}
}

func TestFileKeepsWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space?#%.db")
	s := openAt(t, path, sqlite.Config{})
	lease := claim(t, s, claimOf("p:1", "w1"))
	if done, err := s.Complete(t.Context(), []store.Completion{{Lease: lease, Result: []byte("paid")}}); err != nil || !done[0] {
		t.Fatal(done, err)
	}
	again := openAt(t, path, sqlite.Config{})
	grants, err := again.Claim(t.Context(), []store.Claim{claimOf("p:1", "w2")})
	if err != nil || grants[0].Kind != idem.AdmitDuplicate || string(grants[0].Result) != "paid" {
		t.Fatalf("%+v %v", grants, err)
	}
}

func TestEffectAndSuccessAreOneTransaction(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Config{})
	ctx := t.Context()
	err := s.InTx(ctx, func(_ context.Context, tx *sql.Tx) error {
		_, err := tx.Exec("CREATE TABLE paid (id TEXT)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lost := claim(t, s, claimOf("p:1", "w1"))
	if _, err := s.Forget(ctx, "payments", []string{"p:1"}); err != nil { // w1 is a zombie from here on
		t.Fatal(err)
	}
	held := claim(t, s, claimOf("p:1", "w2"))
	pay := func(lease store.Lease, fail error) error {
		return s.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO paid VALUES ('p:1')"); err != nil {
				return err
			}
			if err := s.CompleteTx(ctx, tx, store.Completion{Lease: lease}); err != nil {
				return err
			}
			return fail
		})
	}
	if err := pay(lost, nil); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the zombie: %v", err)
	}
	own := errors.New("own")
	if err := pay(held, own); err != own {
		t.Errorf("the handler's error came back as %v", err)
	}
	if err := pay(held, nil); err != nil {
		t.Error(err)
	}
	var n int
	if err := s.InTx(ctx, func(_ context.Context, tx *sql.Tx) error {
		return tx.QueryRow("SELECT count(*) FROM paid").Scan(&n)
	}); err != nil || n != 1 {
		t.Errorf("%d effects, %v", n, err)
	}
}

func TestPanicInATransactionGivesTheWriterBack(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Config{})
	func() {
		defer func() { _ = recover() }()
		_ = s.InTx(t.Context(), func(context.Context, *sql.Tx) error { panic("handler") })
	}()
	claim(t, s, claimOf("p:1", "w1"))
}

func TestTransactionOfTheCallersOwnCompletes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "idem.db")
	s := openAt(t, path, sqlite.Config{})
	lease := claim(t, s, claimOf("p:1", "w1"))
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CompleteTx(t.Context(), tx, store.Completion{Lease: lease}); err != nil {
		t.Fatal(err)
	}
	message := store.Outgoing{Topic: "t", Headers: idem.Headers{{Name: "a", Value: []byte("b")}}}
	if err := s.StoreTx(t.Context(), tx, []store.Outgoing{message}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	records, err := s.Records(t.Context(), "payments", []string{"p:1"})
	if err != nil || records[0].State != idem.StateSuccess {
		t.Errorf("%+v %v", records[0], err)
	}
}

func TestNullAndEmptyBytesAreTwoThings(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Config{})
	for _, b := range [][]byte{nil, {}} {
		if err := s.Store(t.Context(), []store.Outgoing{{Topic: "t", MessageKey: b, Payload: b}}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.ClaimOutgoing(t.Context(), "r1", 10, time.Minute)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if rows[0].MessageKey != nil || rows[0].Payload != nil {
		t.Errorf("null came back as %+v", rows[0])
	}
	if rows[1].MessageKey == nil || rows[1].Payload == nil {
		t.Errorf("empty came back as %+v", rows[1])
	}
}

func TestKeysAreComparedByteByByte(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Config{})
	for _, key := range []string{"p:a", "p:A", "p:a ", "p:1", "p:1.0", "p:é", "p:e\u0301", "1", "1.0", "01"} {
		claim(t, s, claimOf(key, "w1"))
	}
}

func TestLargestIntegersComeBack(t *testing.T) {
	t.Parallel()
	s := open(t, sqlite.Config{})
	c := claimOf("p:1", "w1")
	c.RedriveCount, c.RetryCount, c.HoldCount = 1<<31-1, 1<<31-1, 1<<31-1
	claim(t, s, c)
	r, err := s.Records(t.Context(), "payments", []string{"p:1"})
	if err != nil || r[0].Position != 2*(1<<31-1) || r[0].RedriveCount != 1<<31-1 {
		t.Errorf("%+v %v", r[0], err)
	}
}

func TestConfigNamesTheField(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]sqlite.Config{
		"Retention":   {Retention: -1},
		"BusyTimeout": {BusyTimeout: -1},
		"Readers":     {Readers: -1},
		"Synchronous": {Synchronous: 7},
	} {
		if _, err := sqlite.Open(filepath.Join(t.TempDir(), "idem.db"), c); err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, path := range []string{"", ":memory:"} {
		if _, err := sqlite.Open(path, sqlite.Config{}); err == nil || !strings.Contains(err.Error(), "store/memory") {
			t.Errorf("path %q: %v", path, err)
		}
	}
}
