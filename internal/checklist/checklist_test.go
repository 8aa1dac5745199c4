//go:build unix

package checklist

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// run runs the checklist of an adapter of testdata on real servers.
func run(t *testing.T, adapter string, only ...string) *Report {
	t.Helper()
	t.Setenv("FAULTS_BIN", t.TempDir())
	a, err := ReadAdapter("testdata/" + adapter)
	require.NoError(t, err)
	report, err := Run(t.Context(), []*Adapter{a}, options(t, only...))
	require.NoError(t, err)
	return report
}

func options(t *testing.T, only ...string) Options {
	t.Helper()
	files, err := source.Read(t.Context(), "../../examples/consume/proto")
	require.NoError(t, err)
	set, problems := schema.Build(files.All, files.Paths)
	require.Empty(t, problems)
	return Options{
		Schema: set, Only: only, Outage: 3 * time.Second, Logs: t.TempDir(),
		Kafka: kafka.Config{ClientID: "idem-faults-test", Logger: slog.New(slog.DiscardHandler)},
	}
}

// servers skips a test where a server is not there.
func servers(t *testing.T) {
	t.Helper()
	for _, name := range []string{"KAFKA_BROKERS", "DATABASE_URL", "REDIS_URL"} {
		if os.Getenv(name) != "" {
			continue
		}
		if os.Getenv("IDEM_TEST_REAL") == "1" {
			t.Fatal(name + " is not set, and IDEM_TEST_REAL=1")
		}
		t.Skip(name + " is not set: scripts/services start postgres redis kafka")
	}
}

// TestWrongServicesAreCaught: each bug is found by the fault that looks for it, under its own name.
func TestWrongServicesAreCaught(t *testing.T) {
	servers(t)
	for _, c := range []struct{ service, bug, fault, kind string }{
		{"plain", "commits-before-effect", "crash-before-offset-commit", "COMMITTED EARLY"},
		{"plain", "no-dedup", "duplicate-delivery", "TWICE"},
		{"plain", "wrong-delay", "unavailable-downstream", "DELAY"},
		{"plain", "drops-poison", "poison-bytes", "LOST"},
		{"plain", "", "handler-kills-process", "CRASH LOOP"}, // a table of keys counts no attempts
		{"right", "outside-transaction", "crash-before-offset-commit", "TWICE"},
		{"right", "own-transaction", "crash-before-offset-commit", "TWICE"},
		{"right", "not-idempotent", "crash-before-offset-commit", "TWICE"},
	} {
		t.Run(strings.Trim(c.bug+" "+c.fault, " "), func(t *testing.T) {
			t.Setenv("PLAIN_BUG", c.bug)
			t.Setenv("RIGHT_BUG", c.bug)
			t.Setenv("PLAIN_PATIENCE", "8s")
			report := run(t, c.service+".yaml", c.fault)
			require.False(t, report.Green())
			result := report.Services[0].of(c.fault)
			require.Equal(t, Failed, result.Status)
			require.True(t, slices.ContainsFunc(result.Violations, func(v string) bool { return strings.HasPrefix(v, c.kind) }), "%q", result.Violations)
		})
	}
}

// TestServiceWithoutARuntimePassesWhereItIsRight: what finds the bugs finds nothing where they are not.
func TestServiceWithoutARuntimePassesWhereItIsRight(t *testing.T) {
	servers(t)
	report := run(t, "plain.yaml", "duplicate-delivery", "crash-before-offset-commit", "unavailable-downstream", "poison-bytes", "dead-letters-down", "redis-down")
	for _, r := range report.Services[0].Results {
		require.Empty(t, r.Violations, r.Fault)
		if r.Status == Passed {
			require.NotEmpty(t, r.Injected, r.Fault)
			require.NotEmpty(t, r.Proof, r.Fault)
		}
	}
	require.Equal(t, "the adapter has no redis", report.Services[0].of("redis-down").Reason)
}

// TestRecordsThatAreElsewhere: a table of records that the service does not use is no fault of it, and no kill either.
func TestRecordsThatAreElsewhere(t *testing.T) {
	servers(t)
	for name, c := range map[string]struct {
		migrate bool
		says    string
	}{
		"no table":     {false, "no kill between an effect and its record: there is no table idem_record"},
		"in the other": {true, "no kill between an effect and its record: idem_record: it has no row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FAULTS_BIN", t.TempDir())
			a, err := ReadAdapter("testdata/plain.yaml")
			require.NoError(t, err)
			a.Postgres.Migrate = c.migrate
			report, err := Run(t.Context(), []*Adapter{a}, options(t, "crash-before-offset-commit"))
			require.NoError(t, err)
			result := report.Services[0].of("crash-before-offset-commit")
			require.Empty(t, result.Violations)
			require.Contains(t, strings.Join(result.Seen, "\n"), c.says)
		})
	}
}

// TestServiceOnTheRuntimeIsGreen runs the whole checklist.
func TestServiceOnTheRuntimeIsGreen(t *testing.T) {
	servers(t)
	if os.Getenv("IDEM_TEST_REAL") != "1" {
		t.Skip("it waits for leases and sessions, three minutes of them; IDEM_TEST_REAL=1 runs it, as CI does")
	}
	report := run(t, "right.yaml")
	for _, r := range report.Services[0].Results {
		require.Empty(t, r.Violations, "%s: %q\n%s", r.Fault, r.Injected, r.Log)
	}
	require.Equal(t, 12, report.Count(Passed))
	require.Equal(t, 3, report.Count(Skipped))
}

// TestADatabaseThatIsThereStays: one that the run has not made is not the run's to drop.
func TestADatabaseThatIsThereStays(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/plain.yaml")
	require.NoError(t, err)
	a.Build, a.Postgres.Database, a.Postgres.Setup = "", "idem_faults_precious", ""
	server := &database{admin: a.Postgres.URL}
	require.NoError(t, server.onServer(t.Context(), "CREATE DATABASE idem_faults_precious"))
	_, err = Run(t.Context(), []*Adapter{a}, options(t))
	require.ErrorContains(t, err, "already exists")
	require.NoError(t, server.onServer(t.Context(), "DROP DATABASE idem_faults_precious"), "it has to be there still")
}

// TestAnEffectOfWhatNobodyHasSentIsNone: an adapter that says so of each message would find nothing ever.
func TestAnEffectOfWhatNobodyHasSentIsNone(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/plain.yaml")
	require.NoError(t, err)
	a.Build, a.Service = "", Process{Command: Command{"/bin/sh", "-c", "echo ready; exec sleep 60"}, Ready: "ready", StartTimeout: Duration{10 * time.Second}}
	a.Message.Effect = Effect{SQL: "SELECT unnest($1::text[]), 1"}
	_, err = Run(t.Context(), []*Adapter{a}, options(t))
	require.ErrorContains(t, err, "which nobody has sent yet")
}

// TestQuestionsThatNobodyCanAnswer are mistakes of the adapter, told with their line before a fault is injected.
func TestQuestionsThatNobodyCanAnswer(t *testing.T) {
	servers(t)
	for name, c := range map[string]struct {
		mistake func(a *Adapter)
		says    string
	}{
		"an effect": {func(a *Adapter) {
			a.Message.Effect.SQL = "SELECT order_id, count(*) FROM refnd WHERE order_id = ANY($1) GROUP BY 1"
		}, `message.effect.sql: effects: ERROR: relation "refnd" does not exist`},
		"a hold":        {func(a *Adapter) { a.Message.Hold = "SELECT FROM refnd WHERE order_id = ANY($1) FOR UPDATE" }, `message.hold: hold: ERROR: relation "refnd" does not exist`},
		"a dead letter": {func(a *Adapter) { a.DeadLetters = &DeadLetters{Table: "dead_lettr", Key: "key"} }, `dead_letters: ERROR: relation "dead_lettr" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ReadAdapter("testdata/plain.yaml")
			require.NoError(t, err)
			a.Build, a.Service = "", Process{Command: Command{"/bin/sh", "-c", "echo ready; exec sleep 60"}, Ready: "ready", StartTimeout: Duration{10 * time.Second}}
			c.mistake(a)
			_, err = Run(t.Context(), []*Adapter{a}, options(t, "duplicate-delivery"))
			var mistake *AdapterError
			require.ErrorAs(t, err, &mistake)
			require.ErrorContains(t, err, c.says)
			require.Regexp(t, `^testdata/plain\.yaml:\d+: `, err.Error())
		})
	}
}

// TestServiceThatIsGoneAtTheEnd has a report all the same; and one in which all was skipped is not green.
func TestServiceThatIsGoneAtTheEnd(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/plain.yaml")
	require.NoError(t, err)
	a.Build, a.Patience = "", Duration{time.Second}
	a.Service = Process{Command: Command{"/bin/sh", "-c", "echo ready; exec sleep 1"}, Ready: "ready", StartTimeout: Duration{10 * time.Second}}
	a.Message.Effect = Effect{URL: "http://127.0.0.1:1/"}
	report, err := Run(t.Context(), []*Adapter{a}, options(t, "duplicate-delivery"))
	require.NoError(t, err)
	require.Equal(t, 1, report.Count(Failed))
	report, err = Run(t.Context(), []*Adapter{a}, options(t, "redis-down"))
	require.NoError(t, err)
	require.Equal(t, 1, report.Count(Skipped))
	require.False(t, report.Green())
}

// TestServiceThatDoesNotStart says why, with what the service said.
func TestServiceThatDoesNotStart(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/right.yaml")
	require.NoError(t, err)
	a.Build, a.Redis = "", nil
	a.Service = Process{Command: Command{"/bin/sh", "-c", "echo no license; exit 7"}, StartTimeout: Duration{10 * time.Second}}
	_, err = Run(t.Context(), []*Adapter{a}, options(t))
	var start *StartError
	require.ErrorAs(t, err, &start)
	require.ErrorContains(t, err, "exit status 7")
	require.ErrorContains(t, err, "no license")

	a.Service = Process{Command: Command{"sleep", "60"}, Ready: "ready", StartTimeout: Duration{time.Second}}
	_, err = Run(t.Context(), []*Adapter{a}, options(t))
	require.ErrorContains(t, err, `it has not said "ready"`)
}
