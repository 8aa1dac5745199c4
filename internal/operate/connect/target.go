package connect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
)

// Flags are what a command line says.
type Flags struct {
	Context string   // --context
	DSN     string   // --dsn
	Store   string   // --store, the name of one of a context's
	Brokers []string // --brokers
	Redis   string   // --redis
}

// Target is what a command works on.
type Target struct {
	// Context is the name of the context, or empty.
	Context string
	Stores  []Database
	Brokers []string
	Redis   string
	// ReadOnly says that nothing is to be changed.
	ReadOnly bool
	file     string
}

// Database is a store that is not open.
type Database struct{ Name, DSN string }

// The environment.
const (
	contextVariable = "IDEM_CONTEXT"
	dsnVariable     = "IDEM_DSN"
	brokersVariable = "IDEM_BROKERS"
	redisVariable   = "IDEM_REDIS"
)

// DSN is the database of the flag, or else of the environment; empty where neither says.
func DSN(flag string) string {
	return cmp.Or(flag, os.Getenv(dsnVariable), os.Getenv("DATABASE_URL"))
}

// Brokers are those of the flag, or else of the environment; none where neither says.
func Brokers(flag []string) []string {
	if len(flag) > 0 {
		return flag
	}
	text := cmp.Or(os.Getenv(brokersVariable), os.Getenv("KAFKA_BROKERS"))
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Resolve finds out what is meant. A context that is named excludes the environment: what it leaves out is not
// taken from another place.
func Resolve(f Flags) (*Target, error) {
	if f.Context != "" && f.DSN != "" {
		return nil, errors.New("--context and --dsn: say one of them")
	}
	name := f.Context
	if name == "" && f.DSN == "" {
		name = os.Getenv(contextVariable)
	}
	if name == "" {
		return plain(f)
	}
	config, err := Load()
	if err != nil {
		return nil, err
	}
	c, err := config.context(name)
	if err != nil {
		return nil, err
	}
	t := &Target{Context: name, Brokers: c.Brokers, Redis: cmp.Or(f.Redis, c.Redis), ReadOnly: !c.Write, file: config.File}
	if len(f.Brokers) > 0 {
		t.Brokers = f.Brokers
	}
	for _, store := range slices.Sorted(maps.Keys(c.Stores)) {
		if f.Store == "" || f.Store == store {
			t.Stores = append(t.Stores, Database{store, c.Stores[store]})
		}
	}
	if f.Store != "" && len(t.Stores) == 0 {
		return nil, fmt.Errorf("--store %s: the context %s has %s%s", f.Store, name, names(c.Stores), lint.DidYouMean(f.Store, slices.Sorted(maps.Keys(c.Stores))))
	}
	return t, nil
}

func names(stores map[string]string) string {
	if len(stores) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(stores)), ", ")
}

// plain is a target without a context.
func plain(f Flags) (*Target, error) {
	if f.Store != "" {
		return nil, errors.New("--store names a store of a context: say --context")
	}
	t := &Target{Brokers: Brokers(f.Brokers), Redis: cmp.Or(f.Redis, os.Getenv(redisVariable), os.Getenv("REDIS_URL"))}
	if dsn := DSN(f.DSN); dsn != "" {
		t.Stores = []Database{{DSN: dsn}}
	}
	return t, nil
}

// ErrNoStore says that there is no database to work on.
var ErrNoStore = errors.New("no database: say --context, --dsn or IDEM_DSN, as in postgres://user@host/name or sqlite:FILE")

// NeedStores says where there is no store.
func (t *Target) NeedStores() error {
	switch {
	case len(t.Stores) > 0:
		return nil
	case t.Context != "":
		return fmt.Errorf("the context %s has no stores: write them into %s", t.Context, t.file)
	}
	return ErrNoStore
}

// NeedOne says where there is not exactly one store.
func (t *Target) NeedOne() error {
	if err := t.NeedStores(); err != nil || len(t.Stores) == 1 {
		return err
	}
	var all []string
	for _, d := range t.Stores {
		all = append(all, d.Name)
	}
	return fmt.Errorf("the context %s has the stores %s: say which by --store", t.Context, strings.Join(all, ", "))
}

// ReadOnlyError says that a context does not allow a change.
type ReadOnlyError struct{ Context, File string }

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the context %s is read-only: `write: true` in %s allows changes", e.Context, e.File)
}

// NeedWrite says where nothing may be changed.
func (t *Target) NeedWrite() error {
	if t.ReadOnly {
		return &ReadOnlyError{t.Context, t.file}
	}
	return nil
}
