// Package sqlite keeps what the runtime keeps in one SQLite file, without cgo: the embedded default, good for
// one machine.
//
//	s, err := sqlite.Open("idem.db", sqlite.Config{})
//
// SQLite has one writer. Every write of this store takes it with BEGIN IMMEDIATE, which stands where
// PostgreSQL has SKIP LOCKED: claims never wait for rows, they wait for the writer, at most
// Config.BusyTimeout where it is another process. A handler's transaction, InTx, is the same writer, so that
// under Tx handlers run one at a time, and claims wait until the handler is done; a handler should not wait
// for the network there. The lease covers the handler's timeout and nobody renews it. Calling the store from
// within its own transaction can only wait for itself, and is ErrNested.
//
// A commit is on the disk when it returns (synchronous=FULL): with the writer's journal in WAL mode, NORMAL
// would survive a crash of the process, but a power failure could take the last commits back, and with them a
// SUCCESS whose effect went elsewhere. Config.Synchronous says NORMAL for what is not money.
//
// The SQL texts and the tables are in spec/sql/sqlite. Open migrates.
package sqlite
