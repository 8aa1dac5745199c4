package dial

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

const (
	// answerWithin is how long a server has to answer, where the DSN has no connect_timeout.
	answerWithin = 10 * time.Second
	// migrateWithin is how long the tables may take, which another program may be making.
	migrateWithin = time.Minute
)

// openPostgres has the tables brought up to date, and says where they are of a version that this program does not
// work on.
func openPostgres(ctx context.Context, address string, within time.Duration) (store.Full[*sql.Tx], *sql.DB, error) {
	if err := checkDSN(address); err != nil {
		return nil, nil, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, nil, hidden(err, address)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = within
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(postgres.DefaultConns)
	db.SetMaxIdleConns(postgres.DefaultConns) // by default all but 2 are closed after each use
	s, err := postgres.NewSQL(db, postgres.Config{})
	if err != nil {
		return nil, db, err
	}
	hosts := hostsOf(config)
	// The driver has that time for each host.
	limit := config.ConnectTimeout * time.Duration(len(hosts))
	version := 0
	if err := bounded(ctx, limit, func(ctx context.Context) (err error) {
		version, err = s.TableVersion(ctx)
		return err
	}); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &worded{fmt.Sprintf("%s does not answer within %v: check host and port of the DSN, and firewalls", strings.Join(hosts, ","), limit), err}
		}
		return nil, db, err
	}
	if version < postgres.Version {
		if err := bounded(ctx, migrateWithin, s.Migrate); err != nil {
			return nil, db, fmt.Errorf("make the tables: %w", err)
		}
	}
	if err := bounded(ctx, limit, s.Check); err != nil {
		return nil, db, err
	}
	return s, db, nil
}

// bounded runs a step of the store's, within a time. Its error is without the name of the step, which is of no use
// to who only opened the store.
func bounded(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := step(ctx)
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

func hostsOf(c *pgx.ConnConfig) []string {
	hosts := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		if host := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
