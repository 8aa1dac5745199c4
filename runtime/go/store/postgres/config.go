package postgres

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// MaxPartitions is how many may be locked by one statement beside its other locks, on a server as it comes.
const MaxPartitions = 64

// Config is a store's. Its zero value is safe for money.
type Config struct {
	// Retention is how long a record is kept after its last change; 0 is store.DefaultRetention. It has to
	// exceed the retention of the topics. (DEDUP-029)
	Retention time.Duration
	// LockTimeout is how long a statement waits for what another transaction has locked; 0 is 250 ms. A batch of
	// claims that runs into it is halved, until the key that is locked is alone, and IN_PROGRESS.
	LockTimeout time.Duration
	// Wait is after how long a key is worth asking for again that another transaction has locked; 0 is 1 s.
	Wait time.Duration
	// StatementTimeout bounds each statement of the store; 0 is 10 s.
	StatementTimeout time.Duration
	// IdleTimeout is how long the server lets a transaction of the store wait for its next statement, as where the
	// process is stopped; 0 is 5 s. Claims use half of their lease where that is less.
	IdleTimeout time.Duration
	// HandlerTimeout bounds each statement of a handler's transaction, and how long it may be idle, where the
	// context has no deadline; 0 is 5 minutes. With a deadline it is the time until then.
	HandlerTimeout time.Duration
	// Partitions is in how many partitions Migrate makes idem_record, by a hash of the key; 0 is one table, which is
	// faster. Tables that are there are not changed.
	Partitions int
}

func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"Retention", &c.Retention, store.DefaultRetention},
		{"LockTimeout", &c.LockTimeout, 250 * time.Millisecond},
		{"Wait", &c.Wait, time.Second},
		{"StatementTimeout", &c.StatementTimeout, 10 * time.Second},
		{"IdleTimeout", &c.IdleTimeout, 5 * time.Second},
		{"HandlerTimeout", &c.HandlerTimeout, 5 * time.Minute},
	} {
		switch {
		case *d.value == 0:
			*d.value = d.zero
		case *d.value < time.Millisecond:
			return c, fmt.Errorf("postgres.Config.%s is %v: it is at least a millisecond, or 0 for the default", d.name, *d.value)
		}
	}
	if c.Partitions < 0 || c.Partitions > MaxPartitions {
		return c, fmt.Errorf("postgres.Config.Partitions is %d: it is 0 to %d", c.Partitions, MaxPartitions)
	}
	if c.LockTimeout >= c.StatementTimeout {
		return c, fmt.Errorf("postgres.Config.LockTimeout is %v: it has to be less than StatementTimeout, which is %v", c.LockTimeout, c.StatementTimeout)
	}
	return c, nil
}

// expiry is when a record expires that changed now.
func (c *Config) expiry(now time.Time) time.Time { return now.Add(c.Retention) }
