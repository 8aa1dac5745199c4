package connect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrSQLite says that a store is no server.
var ErrSQLite = errors.New("a SQLite file")

// Look opens one connection to a PostgreSQL database to look around, whatever tables are there. The server refuses
// changes, unless a pooler is between: pooled says so. It prepares no statements.
func (d Database) Look(ctx context.Context) (conn *pgx.Conn, pooled bool, err error) {
	if strings.HasPrefix(d.DSN, "sqlite:") {
		return nil, false, ErrSQLite
	}
	config, err := pgx.ParseConfig(d.DSN)
	if err != nil {
		return nil, false, Hide(fmt.Errorf("open postgres: %w", err), d.DSN)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["application_name"] = "idem-cli"
	config.RuntimeParams[readOnlySetting] = "on"
	conn, err = pgx.ConnectConfig(ctx, config)
	if refusedSetting(err) {
		delete(config.RuntimeParams, readOnlySetting)
		pooled = true
		conn, err = pgx.ConnectConfig(ctx, config)
	}
	return conn, pooled, Hide(err, d.DSN)
}

const readOnlySetting = "default_transaction_read_only"

// refusedSetting says that a PgBouncer is between, which takes no such setting. A SET would outlive the command on a
// connection of others.
func refusedSetting(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unsupported startup parameter")
}
