// Package postgres keeps what the runtime keeps in PostgreSQL 14 or later: the truth where several processes
// share the work. Records, retries, lanes, dead letters and the outbox are one database, so what follows from a
// delivery is written in one transaction with its record.
//
// New takes a *pgxpool.Pool and gives handlers a pgx.Tx; NewSQL takes a *sql.DB over pgx's driver and gives them
// a *sql.Tx. Both are the same store. The statements are SQL files in spec/sql/postgres.
//
// Every transaction of the store says READ COMMITTED and its time-outs itself, whatever the database's defaults
// are, and locks in the order of the keys. Times are the server's (clock_timestamp()); time zones do not matter.
// A search_path names the schema of the tables.
//
// A pooler in front (PgBouncer) may share connections by transaction; its prepared statements have to be on, or
// the pool's DefaultQueryExecMode pgx.QueryExecModeExec.
package postgres
