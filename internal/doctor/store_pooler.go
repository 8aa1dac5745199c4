package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// poolerWait is how long a pooler may let a second connection wait.
const poolerWait = 5 * time.Second

// storePooler prepares a statement, and runs it in a transaction that a pooler has to give another server process: the
// one that it was prepared on is taken by then.
func storePooler(ctx context.Context, s *Store, r *report) error {
	ctx, cancel := context.WithTimeout(ctx, poolerWait)
	defer cancel()
	conn, _, err := s.Look(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	other, _, err := s.Look(ctx)
	if err != nil {
		return err
	}
	defer other.Close(context.Background())
	err = survives(ctx, conn, other)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &unseen{"the pooler gave no second connection within " + poolerWait.String(), "run this when there is less traffic"}
	case lost(err):
		r.find("PgBouncer 1.21 or later with max_prepared_statements = 200, or default_query_exec_mode=exec in the DSN of Go, prepareThreshold=0 in that of Java, prepare_threshold=None in Python", "prepared statements do not survive: %v", err)
		return nil
	case err != nil:
		return err
	case s.pooled:
		r.note("a pooler is between, as it refuses default_transaction_read_only; prepared statements work through it")
	}
	return nil
}

func survives(ctx context.Context, conn, other *pgx.Conn) error {
	name := fmt.Sprintf("idem_doctor_%d", time.Now().UnixNano())
	if _, err := conn.Prepare(ctx, name, "SELECT 1"); err != nil {
		return err
	}
	tx, err := other.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
		return err
	}
	_, err = conn.PgConn().ExecPrepared(ctx, name, nil, nil, nil).Close()
	if err != nil {
		return err
	}
	return conn.Deallocate(ctx, name)
}

// lost says that a server process does not know a statement, or knows another by its name.
func lost(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "26000" || e.Code == "42P05" || e.Code == "08P01")
}
