package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// placeHelp is the part of a help text about where operators' commands work.
const placeHelp = `The database is --dsn, a context's stores (--context, or IDEM_CONTEXT), or else IDEM_DSN or DATABASE_URL. Contexts
are in idem/config.yaml of your own config directory, ~/.config on Linux, or in the file that IDEM_CONFIG names, and are
read-only unless they say write: true:

  contexts:
    prod:
      brokers: [kafka-1:9092]
      stores:
        payments: postgres://ops@db.internal/payments
        orders: postgres://ops@db.internal/orders`

// operateFlags are those of all operators' commands.
type operateFlags struct {
	place  connect.Flags
	output string
}

func (f *operateFlags) add(command *cobra.Command) {
	addPlace(command, &f.place)
	command.Flags().StringVarP(&f.output, "output", "o", "table", "table or json, an object a line")
	offer(command, "output", "table", "json")
}

// addPlace adds the flags that say which stores.
func addPlace(command *cobra.Command, place *connect.Flags) {
	f := command.Flags()
	f.StringVar(&place.DSN, "dsn", "", "the database: a PostgreSQL URL or key=value pairs, or sqlite:FILE (default: IDEM_DSN, DATABASE_URL)")
	f.StringVar(&place.Store, "store", "", "one of the context's stores")
	addContext(command, &place.Context)
	offerFunc(command, "store", func(*cobra.Command) []string {
		target, err := connect.Resolve(connect.Flags{Context: place.Context})
		if err != nil {
			return nil
		}
		var names []string
		for _, d := range target.Stores {
			names = append(names, d.Name)
		}
		return names
	})
}

// addContext adds --context.
func addContext(command *cobra.Command, name *string) {
	command.Flags().StringVar(name, "context", "", "a context of the config (default: IDEM_CONTEXT)")
	offerFunc(command, "context", func(*cobra.Command) []string {
		config, err := connect.Load()
		if err != nil {
			return nil
		}
		return config.Names()
	})
}

// offerScopes has the shell complete --scope with those of the database.
func offerScopes(command *cobra.Command, place *connect.Flags) {
	offerFunc(command, "scope", func(cmd *cobra.Command) []string { return scopesOf(cmd.Context(), place) })
}

func scopesOf(ctx context.Context, place *connect.Flags) []string {
	return stored(ctx, place, func(ctx context.Context, s *connect.Store) ([]string, error) { return s.Scopes(ctx) })
}

// stored is what the stores have that answer at once, to complete a flag; what cannot be offered is typed.
func stored(ctx context.Context, place *connect.Flags, read func(context.Context, *connect.Store) ([]string, error)) (offered []string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	target, err := connect.Resolve(*place)
	if err != nil {
		return nil
	}
	for _, d := range target.Stores {
		s, err := d.Open(ctx, true)
		if err != nil {
			continue
		}
		found, _ := read(ctx, s)
		offered = append(offered, found...)
		s.Close()
	}
	slices.Sort(offered)
	return slices.Compact(offered)
}

func (f *operateFlags) json() bool { return f.output == "json" }

func (f *operateFlags) check() error {
	if f.output != "table" && f.output != "json" {
		return fmt.Errorf("--output %s: it is table or json", f.output)
	}
	return nil
}

// openAll opens all stores, to read.
func (f *operateFlags) openAll(ctx context.Context) ([]*connect.Store, func(), error) {
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	target, err := connect.Resolve(f.place)
	if err != nil {
		return nil, nil, err
	}
	return openEach(ctx, target, func(d connect.Database) (*connect.Store, error) { return d.Open(ctx, true) })
}

// openEach opens all stores, or none.
func openEach(ctx context.Context, target *connect.Target, open func(connect.Database) (*connect.Store, error)) ([]*connect.Store, func(), error) {
	if err := target.NeedStores(); err != nil {
		return nil, nil, err
	}
	var all []*connect.Store
	closeAll := func() {
		for _, s := range all {
			s.Close()
		}
	}
	for _, d := range target.Stores {
		s, err := open(d)
		if err != nil {
			closeAll()
			return nil, nil, unreached(ctx, err, d.DSN)
		}
		all = append(all, s)
	}
	return all, closeAll, nil
}

// openOne opens the one store that a command is about.
func (f *operateFlags) openOne(ctx context.Context, write bool) (*connect.Store, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	target, err := connect.Resolve(f.place)
	if err != nil {
		return nil, err
	}
	if err := target.NeedOne(); err != nil {
		return nil, err
	}
	if write {
		if err := target.NeedWrite(); err != nil {
			return nil, failf("%w", err)
		}
	}
	d := target.Stores[0]
	s, err := d.Open(ctx, !write)
	if err != nil {
		return nil, unreached(ctx, err, d.DSN)
	}
	return s, nil
}

// unreached is the error of a database that cannot be asked, without its password.
func unreached(ctx context.Context, err error, dsn string) error {
	err = connect.Hide(err, dsn)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, postgres.ErrSchema), errors.Is(err, postgres.ErrReadOnly):
		return failf("%w", err)
	}
	return brokenf("%w", err)
}
