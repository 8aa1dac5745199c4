package sqlite

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Synchronous is how far a commit has come when it returns.
type Synchronous uint8

// The choices.
const (
	// Full: on the disk. It survives a power failure, and costs an fsync for each transaction.
	Full Synchronous = iota
	// Normal: with the operating system. It survives a crash of the process; a power failure takes the last
	// commits back, and so doubles the effects that were not in this file.
	Normal
)

// Config is a store's. Its zero value is safe for money.
type Config struct {
	// Retention is how long a record is kept after its last change; 0 is store.DefaultRetention. It has to
	// exceed the retention of the topics. (DEDUP-029)
	Retention time.Duration
	// BusyTimeout is how long to wait for another process that has the writer; 0 is 5 seconds.
	BusyTimeout time.Duration
	// Synchronous is Full unless said otherwise.
	Synchronous Synchronous
	// Readers is how many connections may read beside the writer; 0 is 4.
	Readers int
	// NoMigrate has Open leave the file as it is, for programs that only look: it fails with ErrSchema where the
	// tables are not there, or of another version.
	NoMigrate bool
	// Now is the store's clock, which leases and due times run on; nil is time.Now. Processes that share a
	// file share its machine's clock.
	Now func() time.Time
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Retention < 0:
		return c, fmt.Errorf("sqlite.Config.Retention is %v: it is a time, or 0 for %v", c.Retention, store.DefaultRetention)
	case c.BusyTimeout < 0:
		return c, fmt.Errorf("sqlite.Config.BusyTimeout is %v: it is a time, or 0 for 5s", c.BusyTimeout)
	case c.Readers < 0:
		return c, fmt.Errorf("sqlite.Config.Readers is %d: it is a number of connections, or 0 for 4", c.Readers)
	case c.Synchronous > Normal:
		return c, fmt.Errorf("sqlite.Config.Synchronous is %d: it is sqlite.Full or sqlite.Normal", c.Synchronous)
	}
	if c.Retention == 0 {
		c.Retention = store.DefaultRetention
	}
	if c.BusyTimeout == 0 {
		c.BusyTimeout = 5 * time.Second
	}
	if c.Readers == 0 {
		c.Readers = 4
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}
