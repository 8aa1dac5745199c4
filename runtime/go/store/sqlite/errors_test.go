package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

func openTest(t *testing.T, c Config) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idem.db")
	s, err := Open(path, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path
}

func oneClaim(key string) []store.Claim {
	return []store.Claim{{Scope: "payments", Key: key, Owner: "w1", MaxAttempts: 9, Lease: time.Minute}}
}

func wantError(t *testing.T, err, want error, action string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	if !strings.HasPrefix(err.Error(), action) {
		t.Errorf("%q does not begin with %q", err, action)
	}
}

func TestFullDiskWritesNothing(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t, Config{})
	if _, err := s.writer.Exec("PRAGMA max_page_count = 1"); err != nil { // the least it allows is what there is
		t.Fatal(err)
	}
	claims := make([]store.Claim, 2000)
	for i := range claims {
		claims[i] = oneClaim(fmt.Sprint("p:", i))[0]
	}
	_, err := s.Claim(t.Context(), claims)
	wantError(t, err, ErrFull, "claim 2000 keys: ")
	records, err := s.Records(t.Context(), "payments", []string{"p:0"})
	if err != nil || records[0] != nil {
		t.Errorf("after the error there is %+v, %v", records[0], err)
	}
	if _, err := s.writer.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), claims); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestLockedFileIsNamed(t *testing.T) {
	t.Parallel()
	s, path := openTest(t, Config{BusyTimeout: 10 * time.Millisecond})
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(t.Context(), oneClaim("p:1"))
	wantError(t, err, ErrLocked, "claim 1 keys: ")
	_, err = Open(path, Config{BusyTimeout: 10 * time.Millisecond})
	wantError(t, err, ErrLocked, "open sqlite "+path)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), oneClaim("p:1")); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyFileIsNamed(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t, Config{})
	if _, err := s.writer.Exec("PRAGMA query_only = 1"); err != nil { // root may write any file: chmod proves nothing
		t.Fatal(err)
	}
	_, err := s.Claim(t.Context(), oneClaim("p:1"))
	wantError(t, err, ErrReadOnly, "claim 1 keys: ")
}

func TestMissingDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "idem.db")
	_, err := Open(path, Config{})
	wantError(t, err, ErrCannotOpen, "open sqlite "+path)
}

func TestFileOfSomethingElseIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "idem.db")
	text := strings.Repeat("this is a letter, not a database\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, Config{})
	wantError(t, err, ErrNotDatabase, "open sqlite "+path)
	if left, err := os.ReadFile(path); err != nil || string(left) != text {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestTablesOfTheNextVersionWorkAndNoLaterOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version int
		want    error
	}{{2, nil}, {3, ErrSchema}} {
		s, path := openTest(t, Config{})
		if _, err := s.writer.Exec(texts["schema_applied"], c.version, "later", 0); err != nil {
			t.Fatal(err)
		}
		again, err := Open(path, Config{})
		if c.want != nil {
			wantError(t, err, c.want, "open sqlite "+path)
			wantError(t, s.Check(t.Context()), c.want, "check the sqlite store: ")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
}

func TestMissingTableIsNamed(t *testing.T) {
	t.Parallel()
	s, path := openTest(t, Config{})
	if _, err := s.writer.Exec("DROP TABLE outbox"); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Check(t.Context()), ErrSchema, "check the sqlite store: ")
	_, err := Open(path, Config{})
	wantError(t, err, ErrSchema, "open sqlite "+path)
}

func TestCallFromWithinATransactionIsNamed(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t, Config{})
	err := s.InTx(t.Context(), func(ctx context.Context, _ *sql.Tx) error {
		if _, err := s.Records(ctx, "payments", []string{"p:1"}); err != nil {
			t.Error(err) // readers are beside the writer
		}
		_, err := s.Claim(ctx, oneClaim("p:1"))
		return err
	})
	wantError(t, err, ErrNested, "claim 1 keys: ")
}

func TestCancelledContextChangesNothing(t *testing.T) {
	t.Parallel()
	s, _ := openTest(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Claim(ctx, oneClaim("p:1"))
	wantError(t, err, context.Canceled, "claim 1 keys: ")
}

func TestCommitIsOnTheDiskByDefault(t *testing.T) {
	t.Parallel()
	for choice, want := range map[Synchronous]int{Full: 2, Normal: 1} {
		s, _ := openTest(t, Config{Synchronous: choice})
		var got int
		if err := s.writer.QueryRow("PRAGMA synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("%v: synchronous is %d, want %d (%v)", choice, got, want, err)
		}
		var mode string
		if err := s.writer.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
			t.Errorf("journal_mode is %s, %v", mode, err)
		}
	}
}
