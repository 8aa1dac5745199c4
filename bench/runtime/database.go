package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// database is one of this process's own on the server of DATABASE_URL.
type database struct {
	pool  *pgxpool.Pool
	store *postgres.Store
	// cpu is the processor time of the server, where it runs on this machine, else nil.
	cpu  func() time.Duration
	drop func()
	// effects is what was changed in the account table so far.
	effects int
}

// open makes a database with idem's tables, and those that a bare comparison writes to, for a pool of so many
// connections. Tables grow from round to round, as they do in life: emptied ones would have each connection plan its
// statements anew.
func open(ctx context.Context, connections int32, c postgres.Config) (*database, error) {
	url := os.Getenv("DATABASE_URL")
	if url == "" {
		return nil, errors.New(`DATABASE_URL is not set: eval "$(scripts/services env postgres)"`)
	}
	admin, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("idem_bench_%d", os.Getpid())
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, errors.Join(err, admin.Close(ctx))
	}
	d := &database{cpu: serverCPU(ctx, admin)}
	d.drop = func() {
		if d.pool != nil {
			d.pool.Close()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, _ = admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		_ = admin.Close(ctx)
	}
	if err := d.fill(ctx, url, name, connections, c); err != nil {
		d.drop()
		return nil, err
	}
	return d, nil
}

func (d *database) fill(ctx context.Context, url, name string, connections int32, c postgres.Config) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	config.ConnConfig.Database, config.MaxConns = name, connections
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	if d.store, err = postgres.New(d.pool, c); err != nil {
		return err
	}
	if err := d.store.Migrate(ctx); err != nil {
		return err
	}
	return d.exec(ctx, bareTable, accountTable, fmt.Sprintf("INSERT INTO account SELECT i, 0 FROM generate_series(0, %d) i", orders-1))
}

// bareTable has what a claim has to hold: whose it is, until when, and what became of it. accountTable is what a
// handler changes; half of a page stays free, so that an update finds room beside the row.
const (
	bareTable = `CREATE TABLE bare (scope text, key text COLLATE "C", state smallint, fence bigint, owner text,
		lease_until timestamptz, PRIMARY KEY (scope, key)) WITH (fillfactor = 50)`
	accountTable = `CREATE TABLE account (id int PRIMARY KEY, balance bigint) WITH (fillfactor = 50)`
)

func (d *database) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := d.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%.40s: %w", sql, err)
		}
	}
	return nil
}

// serverCPU counts the processor time of the server's processes, those that have ended too. They are the children of
// its first one, which is the parent of this connection's.
func serverCPU(ctx context.Context, conn *pgx.Conn) func() time.Duration {
	var pid int
	if conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid) != nil {
		return nil
	}
	own := procStat(pid)
	if own == nil || !strings.HasPrefix(own[0], "postgres") {
		return nil // the server runs elsewhere
	}
	parent := own[2]
	return func() time.Duration {
		ticks := 0
		entries, _ := filepath.Glob("/proc/[0-9]*")
		for _, entry := range entries {
			pid, _ := strconv.Atoi(filepath.Base(entry))
			s := procStat(pid)
			switch {
			case s == nil:
			case strconv.Itoa(pid) == parent: // utime, stime, and those of children that have ended
				ticks += number(s[12]) + number(s[13]) + number(s[14]) + number(s[15])
			case s[2] == parent:
				ticks += number(s[12]) + number(s[13])
			}
		}
		return time.Duration(ticks) * 10 * time.Millisecond
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// procStat is /proc/PID/stat from the command's name on: then state, parent, and so on. nil: no such process.
func procStat(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, text, _ := strings.Cut(string(raw), "(")
	name, rest, _ := strings.Cut(text, ") ")
	return append([]string{name}, strings.Fields(rest)...)
}
