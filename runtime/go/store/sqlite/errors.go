package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// What keeps a file from working. Each error of this package that has one of these causes wraps it, and the
// driver's own error too.
var (
	// ErrFull: nothing was written. Claims that are held stay held until their lease ends.
	ErrFull = errors.New("the disk is full: make room on the volume of the file; nothing was written, and the messages will be tried again")
	// ErrLocked: another process had the writer for longer than Config.BusyTimeout.
	ErrLocked = errors.New("the file is locked: another process holds a write transaction open (sqlite3, a backup, a stopped process); end it, or raise BusyTimeout")
	// ErrReadOnly: the file, its directory or the file system does not let this user write.
	ErrReadOnly = errors.New("the file cannot be written: let this user write the file and its directory, where SQLite keeps -wal and -shm beside it")
	// ErrCannotOpen: there is no such directory, or this user may not open the file.
	ErrCannotOpen = errors.New("the file cannot be opened: make its directory, and let this user read and write both")
	// ErrNotDatabase: the file is something else, or damaged.
	ErrNotDatabase = errors.New("the file is no SQLite database, or damaged: name another file, or restore this one from a backup")
	// ErrSchema: the tables are missing or of a version that this program cannot use.
	ErrSchema = errors.New("the tables do not fit this version of idem")
	// ErrNested: the store was called from within a transaction of its own, which holds the only writer.
	ErrNested = errors.New("the store was called within its own transaction, which is SQLite's only writer: use the transaction (CompleteTx, StoreTx), or call it after InTx has returned")
)

// named puts the name of the cause into an error of the driver.
func named(action string, err error) error {
	if err == nil {
		return nil
	}
	var e *driver.Error
	if errors.As(err, &e) {
		if name := nameOf(e.Code()); name != nil {
			return fmt.Errorf("%s: %w (%w)", action, name, err)
		}
	}
	return fmt.Errorf("%s: %w", action, err)
}

// nameOf reads the lower byte of a result code: the upper ones say more about the same cause.
func nameOf(result int) error {
	switch result & 0xff {
	case code.SQLITE_FULL:
		return ErrFull
	case code.SQLITE_BUSY, code.SQLITE_LOCKED:
		return ErrLocked
	case code.SQLITE_READONLY:
		return ErrReadOnly
	case code.SQLITE_CANTOPEN, code.SQLITE_PERM, code.SQLITE_AUTH:
		return ErrCannotOpen
	case code.SQLITE_NOTADB, code.SQLITE_CORRUPT:
		return ErrNotDatabase
	}
	return nil
}
