package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func newDedup(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "dedup",
		Short: "Look at dedup records, release claims, forget keys",
		Long: `Works on what is known of idempotency keys, in the table idem_record.

` + placeHelp,
	}
	group(command)
	command.AddCommand(newDedupShow(std), newDedupRelease(std), newDedupForget(std))
	return command
}

// dedupShowFlags are the flags of `idem dedup show`.
type dedupShowFlags struct {
	operateFlags
	scope string
}

func newDedupShow(std streams) *cobra.Command {
	var flags dedupShowFlags
	command := &cobra.Command{
		Use:   "show KEY...",
		Short: "Show what is known of keys",
		Long: `Shows the records of keys: the state, who holds a claim and until when, and the counts. Without --scope all scopes of
the database are asked. The exit code is 1 where nothing is known of any.

` + placeHelp,
		Example: `  idem dedup show 'payments.succeeded:v1:p-1'
  idem dedup show --scope payments 'payments.succeeded:v1:p-1' --output json`,
		Args:              atLeastOne("KEY"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.add(command)
	command.Flags().StringVar(&flags.scope, "scope", "", "the scope (default: all)")
	offerScopes(command, &flags.place)
	return command
}

func (f *dedupShowFlags) run(ctx context.Context, std streams, keys []string) error {
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	found := 0
	for _, s := range stores {
		scopes, err := f.scopes(ctx, s)
		if err != nil {
			return err
		}
		for _, scope := range scopes {
			records, err := s.Records(ctx, scope, keys)
			if err != nil {
				return unreached(ctx, err, s.DSN)
			}
			for _, r := range records {
				if r == nil {
					continue
				}
				found++
				if err := f.print(std, s, r, found > 1); err != nil {
					return err
				}
			}
		}
	}
	if found == 0 {
		why := cmp.Or(f.whyNoScope(ctx, stores...), ": it is new, or older than the retention, or of another store or scope")
		return failf("nothing is known of %s%s%s", show.Text(strings.Join(keys, ", ")), why, cutKey(keys...))
	}
	return nil
}

// whyNoScope says which scope was probably meant where --scope is none.
func (f *dedupShowFlags) whyNoScope(ctx context.Context, stores ...*connect.Store) string {
	var known []string
	for _, s := range stores {
		if scopes, err := s.Scopes(ctx); err == nil { // what cannot be read is not known
			known = both(known, scopes)
		}
	}
	return whyNone("none", "records", filterValue{"scope", f.scope, known})
}

// scopes are those to ask for.
func (f *dedupShowFlags) scopes(ctx context.Context, s *connect.Store) ([]string, error) {
	if f.scope != "" {
		return []string{f.scope}, nil
	}
	scopes, err := s.Scopes(ctx)
	if err != nil {
		return nil, unreached(ctx, err, s.DSN)
	}
	return scopes, nil
}

func (f *dedupShowFlags) print(std streams, s *connect.Store, r *store.Record, another bool) error {
	if f.json() {
		return show.Line(std.out, recordOf(s.Name, r))
	}
	if another {
		fmt.Fprintln(std.out)
	}
	t := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, show.Text(value)) }
	if s.Name != "" {
		line("store", s.Name)
	}
	line("scope", r.Scope)
	line("key", r.Key)
	line("state", stateText(r))
	line("attempts", fmt.Sprint(r.Attempts))
	line("counts", fmt.Sprintf("retries %d, holds %d, redrives %d", r.RetryCount, r.HoldCount, r.RedriveCount))
	line("fence", fmt.Sprint(r.Fence))
	line("fingerprint", r.Fingerprint)
	line("result", fmt.Sprintf("%d bytes", len(r.Result)))
	line("created", r.CreatedAt.UTC().Format(time.RFC3339))
	line("updated", r.UpdatedAt.UTC().Format(time.RFC3339))
	line("kept until", r.ExpiresAt.UTC().Format(time.RFC3339))
	return t.Flush()
}

// stateText says what a state means for a delivery that comes now.
func stateText(r *store.Record) string {
	switch r.State {
	case idem.StateProcessing:
		until := time.UnixMilli(r.LeaseUntilMs)
		if time.Now().Before(until) {
			return fmt.Sprintf("PROCESSING, held by %s until %s", r.Owner, until.UTC().Format(time.RFC3339))
		}
		return fmt.Sprintf("PROCESSING, and its lease ended at %s: the next delivery takes it over", until.UTC().Format(time.RFC3339))
	case idem.StateSuccess:
		if r.RedriveCount > 0 {
			return fmt.Sprintf("SUCCESS: it had its effect, in redrive %d", r.RedriveCount)
		}
		return "SUCCESS: it had its effect"
	case idem.StateFailed:
		return "FAILED: a later delivery is admitted"
	case idem.StateDead:
		return "DEAD: see idem dlq ls --key"
	}
	return r.State.String()
}

// recordJSON is a record in --output json. Fields are added, and never renamed or removed.
type recordJSON struct {
	Store        string     `json:"store,omitempty"`
	Scope        string     `json:"scope"`
	Key          string     `json:"key"`
	State        string     `json:"state"`
	Fence        int64      `json:"fence"`
	Owner        string     `json:"owner"`
	LeaseUntil   *time.Time `json:"lease_until,omitempty"`
	Attempts     int64      `json:"attempts"`
	RedriveCount int64      `json:"redrive_count"`
	RetryCount   int32      `json:"retry_count"`
	HoldCount    int32      `json:"hold_count"`
	Fingerprint  string     `json:"fingerprint"`
	ResultBytes  int        `json:"result_bytes"`
	CreatedAt    time.Time  `json:"created_at"`
	UpdatedAt    time.Time  `json:"updated_at"`
	ExpiresAt    time.Time  `json:"expires_at"`
}

func recordOf(name string, r *store.Record) recordJSON {
	j := recordJSON{
		Store: name, Scope: r.Scope, Key: r.Key, State: r.State.String(), Fence: r.Fence, Owner: r.Owner, Attempts: r.Attempts,
		RedriveCount: r.RedriveCount, RetryCount: r.RetryCount, HoldCount: r.HoldCount, Fingerprint: r.Fingerprint,
		ResultBytes: len(r.Result), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
	if r.LeaseUntilMs != 0 {
		until := time.UnixMilli(r.LeaseUntilMs).UTC()
		j.LeaseUntil = &until
	}
	return j
}

// errNoScope says that a change of records is about one scope.
var errNoScope = errors.New("no --scope: a key is another one in each scope")
