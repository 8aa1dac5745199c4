package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// serverChecks look at the server, and at how safe a commit is.
var serverChecks = []*check[*Store]{
	{Check{
		ID: "STORE_VERSION", Severity: Error,
		Purpose: "Checks that the server is PostgreSQL 14 or later.",
		Why:     "The statements are tested on nothing older.",
	}, storeVersion},
	{Check{
		ID: "STORE_WRITABLE", Severity: Error,
		Purpose: "Checks that the server is no standby, and takes writes.",
		Why:     "Nothing can be claimed on a standby.",
	}, storeWritable},
	{Check{
		ID: "STORE_ISOLATION", Severity: Warning, Spec: []string{"DEDUP-030"},
		Purpose: "Checks that default_transaction_isolation is read committed.",
		Why:     "With repeatable read the second of two claims of a key fails with SQLSTATE 40001 in a transaction of the handler's own, and is tried again as an error.",
	}, storeIsolation},
	{Check{
		ID: "STORE_FSYNC", Severity: Error,
		Purpose: "Checks that fsync and full_page_writes are on.",
		Why:     "When the machine loses power, the database is not what it was, and may not start.",
	}, storeFsync},
	{Check{
		ID: "STORE_SYNCHRONOUS_COMMIT", Severity: Error,
		Purpose: "Checks that a commit is on disk when it is confirmed.",
		Why:     "With synchronous_commit off a crash takes back what was confirmed in the last moment: a SUCCESS whose offset is committed, or an outbox row that the caller believes in.",
	}, storeSynchronousCommit},
	{Check{
		ID: "STORE_STANDBY", Severity: Error,
		Purpose: "Says whether a synchronous standby has what was committed, and checks that one that is waited for is there.",
		Why:     "A failover to a standby that is behind takes back the last commits, effects and records together. One that is waited for and away stops all commits.",
	}, storeStandby},
	{Check{
		ID: "STORE_CLOCK", Severity: Warning, Spec: []string{"DEDUP-028"},
		Purpose: "Checks that the clocks of this machine and of the server agree.",
		Why:     "Leases and retries run on the server's clock alone, but how old a message is, is by the producers' and consumers': what is produced by a clock that is behind is TOO_OLD sooner.",
	}, storeClock},
}

func storeVersion(_ context.Context, s *Store, r *report) error {
	if s.number("server_version_num") < 140000 {
		r.find("upgrade the server", "it is PostgreSQL %s", s.settings["server_version"].value)
	} else {
		r.ok("PostgreSQL %s", s.settings["server_version"].value)
	}
	return nil
}

func storeWritable(ctx context.Context, s *Store, r *report) error {
	var standby bool
	if err := s.conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil {
		return err
	}
	const mend = "connect to the primary: target_session_attrs=read-write in the DSN finds it among several hosts"
	if standby {
		r.find(mend, "it is a standby")
	}
	// This very connection asked for it, where the source is the client.
	if set := s.settings["default_transaction_read_only"]; set.value == "on" && set.source != "client" {
		r.find(s.alter("default_transaction_read_only", "off"), "default_transaction_read_only is on, set by the %s", set.source)
	}
	return nil
}

func storeIsolation(_ context.Context, s *Store, r *report) error {
	if set := s.settings["default_transaction_isolation"]; set.value != "read committed" {
		r.find(s.alter("default_transaction_isolation", "'read committed'"), "it is %q, set by the %s", set.value, set.source)
	}
	return nil
}

func storeFsync(_ context.Context, s *Store, r *report) error {
	for _, name := range []string{"fsync", "full_page_writes"} {
		if s.settings[name].value != "on" {
			r.find(s.alter(name, "on"), "%s is %s", name, s.settings[name].value)
		}
	}
	return nil
}

func storeSynchronousCommit(_ context.Context, s *Store, r *report) error {
	if set := s.settings["synchronous_commit"]; set.value == "off" {
		r.find(s.alter("synchronous_commit", "on"), "it is off, set by the %s", set.source)
	} else {
		r.ok("%s", set.value)
	}
	return nil
}

func storeStandby(ctx context.Context, s *Store, r *report) error {
	rows, err := s.conn.Query(ctx, "SELECT coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, '') FROM pg_stat_replication")
	if err != nil {
		return err
	}
	var name, state, sync string
	var in, others []string
	hidden := false
	if _, err := pgx.ForEachRow(rows, []any{&name, &state, &sync}, func() error {
		switch {
		case sync == "":
			hidden = true
		case sync == "sync" || sync == "quorum":
			in = append(in, name)
		default:
			others = append(others, name)
		}
		return nil
	}); err != nil {
		return err
	}
	wanted := s.settings["synchronous_standby_names"].value
	switch commit := s.settings["synchronous_commit"].value; {
	case hidden:
		return &unseen{"this role may not see what standbys there are", "GRANT pg_monitor TO the role;"}
	case wanted == "":
		r.note("no standby is waited for (synchronous_standby_names is empty, %d follow): a failover may take back the last commits, and their messages, if committed, are not read again", len(others))
	case commit == "local" || commit == "off":
		r.note("synchronous_standby_names is %q, and synchronous_commit %s does not wait for it", wanted, commit)
	case len(in) == 0:
		r.find("start the standby, or "+s.alter("synchronous_standby_names", "''"), "commits wait for %q, and none of it is there", wanted)
	default:
		r.note("commits wait for %s", strings.Join(in, ", "))
	}
	return nil
}

func storeClock(ctx context.Context, s *Store, r *report) error {
	var there time.Time
	before := time.Now()
	if err := s.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return err
	}
	return compareClocks(r, before, there, time.Now())
}
