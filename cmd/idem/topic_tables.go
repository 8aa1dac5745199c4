package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/idem-spec/idem/internal/operate/connect"
)

// growDatabases count what is left for a topic in all of them. (kafka.GrowTables)
type growDatabases []growDatabase

type growDatabase struct {
	*sql.DB
	placeholder string // "$" where it is numbered
}

// openGrowDatabases opens them, and looks into each: a wrong one is to be seen at once.
func openGrowDatabases(ctx context.Context, names []string) (growDatabases, error) {
	var all growDatabases
	for i, name := range names {
		d, err := openGrowDatabase(name)
		if err == nil {
			all = append(all, d)
			_, err = d.count(ctx, "SELECT count(*) FROM outbox WHERE topic IN (?)", []string{""})
		}
		if err != nil {
			all.close()
			// By its number, since its name may have a password.
			return nil, brokenf("--database %d of %d: %w; make the tables by `idem migrate up`, or leave it out", i+1, len(names), connect.Hide(err, name))
		}
	}
	return all, nil
}

func openGrowDatabase(name string) (growDatabase, error) {
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
		return growDatabase{db, "?"}, err
	}
	config, err := pgx.ParseConfig(name)
	if err != nil {
		return growDatabase{}, err
	}
	return growDatabase{stdlib.OpenDB(*config), "$"}, nil
}

func (all growDatabases) close() {
	for _, d := range all {
		_ = d.Close()
	}
}

// Outbox is how many messages for the topics are not sent.
func (all growDatabases) Outbox(ctx context.Context, topics []string) (int64, error) {
	return all.sum(ctx, "SELECT count(*) FROM outbox WHERE topic IN (?)", topics)
}

// Retries is how many rows of msg_retry and of idem_lane there are.
func (all growDatabases) Retries(ctx context.Context, topics, scopes []string) (rows, lanes int64, err error) {
	rows, err = all.sum(ctx, "SELECT count(*) FROM msg_retry WHERE scope IN (?) AND (source_topic IN (?) OR topic IN (?) OR lane_topic IN (?))",
		scopes, topics, topics, topics)
	if err == nil {
		lanes, err = all.sum(ctx, "SELECT count(*) FROM idem_lane WHERE scope IN (?) AND topic IN (?)", scopes, topics)
	}
	return rows, lanes, err
}

func (all growDatabases) sum(ctx context.Context, query string, lists ...[]string) (int64, error) {
	total := int64(0)
	for _, d := range all {
		n, err := d.count(ctx, query, lists...)
		if err != nil {
			return 0, fmt.Errorf("count what is left in a database: %w", err)
		}
		total += n
	}
	return total, nil
}

// count puts a list in the place of each question mark.
func (d growDatabase) count(ctx context.Context, query string, lists ...[]string) (n int64, err error) {
	var (
		text      strings.Builder
		arguments []any
	)
	for i, part := range strings.Split(query, "?") {
		text.WriteString(part)
		if i == len(lists) {
			break
		}
		for j, value := range lists[i] {
			if j > 0 {
				text.WriteString(", ")
			}
			arguments = append(arguments, value)
			text.WriteString(d.placeholder)
			if d.placeholder == "$" {
				fmt.Fprint(&text, len(arguments))
			}
		}
	}
	err = d.QueryRowContext(ctx, text.String(), arguments...).Scan(&n)
	return n, err
}
