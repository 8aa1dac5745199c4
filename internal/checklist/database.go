package checklist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// database is one that was made for the run, on a server that the service sees through a proxy.
type database struct {
	proxy *proxy
	dsn   string // through the proxy
	pool  *pgxpool.Pool
	hosts []string // the server, and its standby

	admin string // URL of the database to make it from
	own   *url.URL
	name  string
	made  bool // by this run, so that it is this run's to drop
}

// openDatabase makes the database.
func openDatabase(ctx context.Context, a *Adapter, address string, v values) (*database, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("postgres: it takes a URL, postgres://user@host:5432/postgres")
	}
	d := &database{admin: address, name: v.fill(a.Postgres.Database)}
	for _, host := range strings.Split(u.Host, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "5432")
		}
		d.hosts = append(d.hosts, host)
	}
	own := *u
	own.Path = "/" + d.name
	d.own = &own
	if d.proxy, err = newProxy(d.hosts[0]); err != nil {
		return nil, err
	}
	through := own
	query := through.Query()
	query.Del("target_session_attrs")
	through.RawQuery = query.Encode()
	d.dsn = d.proxy.before(through)
	if err := d.make(ctx, a, v); err != nil {
		d.close(context.WithoutCancel(ctx))
		return nil, connect.Hide(fmt.Errorf("postgres: %w", err), address)
	}
	return d, nil
}

func (d *database) make(ctx context.Context, a *Adapter, v values) error {
	if err := d.onServer(ctx, "CREATE DATABASE "+pgx.Identifier{d.name}.Sanitize()); err != nil {
		return err
	}
	d.made = true
	if err := d.connect(ctx); err != nil {
		return err
	}
	if a.Postgres.Migrate {
		s, err := postgres.New(d.pool, postgres.Config{})
		if err == nil {
			err = s.Migrate(ctx)
		}
		if err != nil {
			return err
		}
	}
	setup := a.Postgres.Setup
	if strings.HasSuffix(setup, ".sql") {
		data, err := os.ReadFile(filepath.Join(a.dir, setup))
		if err != nil {
			return fmt.Errorf("setup: %w", err)
		}
		setup = string(data)
	}
	if setup == "" {
		return nil
	}
	_, err := d.pool.Exec(ctx, v.fill(setup))
	return err
}

// connect is to the server itself; again, after a failover.
func (d *database) connect(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(d.own.String())
	if err != nil {
		return err
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	if d.pool != nil {
		d.pool.Close()
	}
	d.pool, err = pgxpool.NewWithConfig(ctx, config)
	return err
}

func (d *database) onServer(ctx context.Context, sql string) error {
	c, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, sql)
	return err
}

// close drops it. What cannot be dropped stays.
func (d *database) close(ctx context.Context) {
	d.proxy.close()
	if d.pool != nil {
		d.pool.Close()
	}
	if !d.made { // one that was there is somebody's
		return
	}
	_ = d.onServer(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{d.name}.Sanitize()+" WITH (FORCE)")
}

// counts reads rows of a text and a count.
func (d *database) counts(ctx context.Context, sql string, arguments ...any) (map[string]int, error) {
	rows, err := d.pool.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		counts[id] += n
	}
	return counts, rows.Err()
}
