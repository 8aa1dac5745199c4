package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What keeps a server from working. Each error of this package that has one of these causes wraps it, and the
// driver's own error too.
var (
	// ErrReadOnly: a standby, or a server after a failover that the connection has not followed.
	ErrReadOnly = errors.New("the server takes no writes: connect to the primary, target_session_attrs=read-write in the DSN finds it among several hosts")
	// ErrSchema: the tables are missing or of a version that this program cannot use.
	ErrSchema = errors.New("the tables do not fit this program")
	// ErrDenied: the role may not connect, or not use the tables.
	ErrDenied = errors.New("the server refuses this role")
	// ErrFull: nothing was written. Claims that are held stay held until their lease ends.
	ErrFull = errors.New("the server's disk is full: make room on its volume; nothing was written, and the messages will be tried again")
)

var errNoDatabase = errors.New("there is no such database: create it, or correct the DSN")

// named puts the name of the cause, and the way out, into an error of the driver.
func named(action string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", action, explained(err))
}

func explained(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return unconnected(err)
	}
	if cause := causeOf(e); cause != nil {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

func causeOf(e *pgconn.PgError) error {
	switch e.Code {
	case "25006":
		return ErrReadOnly
	case "42P01", "42703": // no such table, column
		return fmt.Errorf("%w: `idem migrate validate` says what is missing, and `idem migrate up` makes the tables where there are none; or name their schema in the DSN, search_path=idem", ErrSchema)
	case "28P01", "28000":
		return fmt.Errorf("%w: check user and password of the DSN, and pg_hba.conf", ErrDenied)
	case "42501":
		return fmt.Errorf("%w: grant it SELECT, INSERT, UPDATE and DELETE on the tables of idem, and USAGE on their schema", ErrDenied)
	case "3D000":
		return errNoDatabase
	case "53100":
		return ErrFull
	}
	return nil
}

// isCollision says that the server has ended a transaction in favour of another one; it was rolled back.
func isCollision(err error) bool { return hasState(err, "40P01", "40001") }

// isLockTimeout says that something was locked for longer than Config.LockTimeout.
func isLockTimeout(err error) bool { return hasState(err, "55P03") }

func hasState(err error, states ...string) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	for _, s := range states {
		if e.Code == s {
			return true
		}
	}
	return false
}

// committed turns the COMMIT of a transaction that had failed into an error: the server answers ROLLBACK.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// isFenced says that complete_last found no row.
func isFenced(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "22P02" && strings.Contains(e.Message, "fenced out")
}
