package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsAlikeIsToldOnce(t *testing.T) {
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
		{"topics", []Result{
			found("topic orders", "", "TOPIC_REPLICATION", Error, "1 replica", "move --topic orders"),
			found("topic orders", "", "TOPIC_CLEANUP_POLICY", Error, "it is compact", "set orders"),
			found("topic mails", "", "TOPIC_REPLICATION", Error, "1 replica", "move --topic mails"),
			found("topic orders.retry", "", "TOPIC_REPLICATION", Error, "1 replica", "move --topic orders.retry"),
			found("topic bills", "", "TOPIC_REPLICATION", Warning, "4 replicas", "move --topic bills"),
		}, []string{"topics orders, mails, orders.retry: 1 replica: for each TOPIC of these: move --topic TOPIC", "topic orders: it is compact: set orders", "topic bills: 4 replicas: move --topic bills"}},
		{"topics that differ in what to do", []Result{
			found("topic orders", "", "TOPIC_COMPANION_MISSING", Error, "not there", "create orders --partitions 4"),
			found("topic mails", "", "TOPIC_COMPANION_MISSING", Error, "not there", "create mails --partitions 6"),
		}, []string{"topic orders: not there: create orders --partitions 4", "topic mails: not there: create mails --partitions 6"}},
		{"topics with the same to do", []Result{
			found("topic orders", "", "TOPIC_CLOCK", Warning, "from ahead", "compare the clocks"),
			found("topic mails", "", "TOPIC_CLOCK", Warning, "from ahead", "compare the clocks"),
		}, []string{"topics orders, mails: from ahead: compare the clocks"}},
	} {
		var got []string
		for _, r := range Together(c.results) {
			line := r.Place + ": " + r.Found
			if strings.HasPrefix(r.Place, "topic") {
				line += ": " + r.Mend
			}
			got = append(got, line)
		}
		assert.Equal(t, c.want, got, c.what)
	}
}
