package dial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// silent accepts connections and says nothing.
func silent(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	return l.Addr().String()
}

func TestAServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	address := silent(t)
	want := address + " does not answer within 100ms: check host and port of the DSN, and firewalls"
	_, db, err := openPostgres(context.Background(), "postgres://u:secret@"+address+"/d?sslmode=disable", 100*time.Millisecond)
	if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %s", err, want)
	}
	_ = db.Close()
	_, err = Open(t.Context(), "postgres://u:secret@"+address+"/d?sslmode=disable&connect_timeout=1", "memory:")
	if want = "open the store: " + strings.Replace(want, "100ms", "1s", 1); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestOpenSaysTheWayOutWithoutAStepOfItsOwn(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	_, err = Open(t.Context(), "postgres://u:secret@"+gone+"/d", "memory:")
	if text := fmt.Sprint(err); !strings.HasPrefix(text, "open the store: connect to "+gone+": ") ||
		!strings.HasSuffix(text, "(check that PostgreSQL runs at "+gone+")") || strings.Contains(text, "migrate up") {
		t.Error(text)
	}
}

func TestTablesOfALaterVersionAreNotOpened(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	s, err := Open(t.Context(), url, "memory:")
	if err != nil {
		t.Fatal(err)
	}
	for later := 1; later <= 2; later++ {
		if _, err := s.DB.ExecContext(t.Context(), "INSERT INTO idem_schema (version, name) VALUES ($1, 'later')", postgres.Version+later); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), url, "memory:"); !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "update this program") {
		t.Error(err)
	}
}

func TestAPasswordThatIsNotEscapedIsNotNamed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://u:hush@quiet@127.0.0.1:1/d", "postgres://u:hush/quiet@127.0.0.1:1/d", "postgres://u:hush@quiet/hush@127.0.0.1/d",
		"postgresql://u:hush/quiet@127.0.0.1:1/d?sslmode=disable",
	} {
		_, err := Open(t.Context(), address, "memory:")
		if !errors.Is(err, errEscape) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "quiet") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"postgres://u:p%40q@h/d", "postgres://u@h/d?application_name=a@b", "postgres://h/d%40e", "postgres:///d"} {
		if err := checkDSN(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAPasswordIsHiddenWhereItIsOneAndTheCauseIsKept(t *testing.T) {
	t.Parallel()
	const address = "postgres://app:d%40ta@h/data"
	cause := fmt.Errorf("cannot parse %s: the data, postgres://app:d@ta@h: %w", address, io.EOF)
	err := hidden(cause, address)
	if want := "cannot parse postgres://app:xxxxx@h/data: the data, postgres://app:xxxxx@h: EOF"; err.Error() != want || !errors.Is(err, io.EOF) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := hidden(io.EOF, "postgres://app:O@h/data"); err != io.EOF {
		t.Errorf("%v: a letter of the password is part of the error's own words", err)
	}
}

func TestBlanksBetweenBrokers(t *testing.T) {
	t.Parallel()
	_, err := Broker("kafka://127.0.0.1:1, 127.0.0.1:2")
	if err == nil || !strings.Contains(err.Error(), "open kafka at 127.0.0.1:1,127.0.0.1:2: ") {
		t.Error(err)
	}
}
