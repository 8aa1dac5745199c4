package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatDatabasesOfAServerHaveInCommonIsToldOnce(t *testing.T) {
	t.Parallel()
	found := func(place, server, id string, status Status, found, mend string) Result {
		return Result{Check: Find(id), Status: status, Place: place, Server: server, Found: found, Mend: mend}
	}
	for _, c := range []struct {
		what    string
		results []Result
		want    []string // places, with what was found
	}{
		{"one database", []Result{found("store a", "db:5432", "STORE_FSYNC", Error, "fsync is off", "turn it on")}, []string{"store a: fsync is off"}},
		{"two of one server", []Result{
			found("store a", "db:5432", "STORE_FSYNC", Error, "fsync is off", "turn it on"),
			found("store b", "db:5432", "STORE_FSYNC", Error, "fsync is off", "turn it on"),
		}, []string{"server db:5432: store a, store b: fsync is off"}},
		{"two servers", []Result{
			found("store a", "db:5432", "STORE_FSYNC", Error, "fsync is off", "turn it on"),
			found("store b", "db:5433", "STORE_FSYNC", Error, "fsync is off", "turn it on"),
		}, []string{"store a: fsync is off", "store b: fsync is off"}},
		{"numbers of two moments", []Result{
			found("store a", "db:5432", "STORE_CONNECTIONS", Warning, "90 of 97 connections of the server are taken", "more"),
			found("store b", "db:5432", "STORE_CONNECTIONS", Warning, "91 of 97 connections of the server are taken", "more"),
		}, []string{"server db:5432: store a, store b: 90 of 97 connections of the server are taken"}},
		{"one that is set otherwise", []Result{
			found("store a", "db:5432", "STORE_ISOLATION", Warning, "it is serializable", "ALTER SYSTEM"),
			found("store b", "db:5432", "STORE_ISOLATION", Warning, "it is serializable", "ALTER DATABASE b"),
			found("store c", "db:5432", "STORE_ISOLATION", Warning, "it is serializable", "ALTER SYSTEM"),
			found("store d", "db:5432", "STORE_ISOLATION", OK, "it is serializable", "ALTER SYSTEM"),
		}, []string{"server db:5432: store a, store c: it is serializable", "store b: it is serializable", "store d: it is serializable"}},
		{"two alike of one database", []Result{
			found("store a", "db:5432", "STORE_LONG_TRANSACTIONS", Warning, "transaction 1", "end it"),
			found("store a", "db:5432", "STORE_LONG_TRANSACTIONS", Warning, "transaction 2", "end it"),
			found("store b", "db:5432", "STORE_LONG_TRANSACTIONS", Warning, "transaction 1", "end it"),
		}, []string{"server db:5432: store a, store b: transaction 1", "store a: transaction 2"}},
		{"what is a database's own", []Result{
			found("store a", "", "STORE_DEAD_LETTERS", Warning, "3 wait", "look"),
			found("store b", "", "STORE_DEAD_LETTERS", Warning, "3 wait", "look"),
		}, []string{"store a: 3 wait", "store b: 3 wait"}},
	} {
		var got []string
		for _, r := range ByServer(c.results) {
			got = append(got, r.Place+": "+r.Found)
		}
		assert.Equal(t, c.want, got, c.what)
	}
}
