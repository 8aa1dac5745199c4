package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func newRetry(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "retry",
		Short: "Look at deliveries to come, hasten or cancel them",
		Long: `Works on deliveries that are durable and still to come, in the table msg_retry: retries, holds, deferrals and redrives.

` + placeHelp,
	}
	group(command)
	command.AddCommand(newRetryLs(std), newRetryNow(std), newRetryCancel(std))
	return command
}

// retryFilter are the flags that select deliveries to come.
type retryFilter struct {
	scope, event, key, action, status, reason string
}

func (f *retryFilter) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.scope, "scope", "", "of this scope")
	flags.StringVar(&f.event, "event-type", "", "of this event type")
	flags.StringVar(&f.key, "key", "", "of this idempotency key")
	flags.StringVar(&f.action, "action", "", "RETRY, HOLD, DEFER or REDRIVE")
	flags.StringVar(&f.status, "status", "", "PENDING, or PARKED behind the head of a lane")
	flags.StringVar(&f.reason, "reject-reason", "", "of this reason: its code, or its code and how the detail begins, as in 'BANK_DOWN: 5'")
	offer(command, "action", actions...)
	offer(command, "status", statuses...)
}

var (
	actions  = []string{idem.ActionRetry.String(), idem.ActionHold.String(), idem.ActionDefer.String(), idem.ActionRedrive.String()}
	statuses = []string{string(store.RetryPending), string(store.RetryParked)}
)

func (f *retryFilter) filter() (store.RetryFilter, error) {
	for _, c := range []struct {
		flag, value string
		known       []string
	}{{"--action", f.action, actions}, {"--status", f.status, statuses}} {
		if c.value != "" && !slices.Contains(c.known, c.value) {
			return store.RetryFilter{}, fmt.Errorf("%s %s: it is %s%s", c.flag, c.value, strings.Join(c.known, ", "), lint.DidYouMean(c.value, c.known))
		}
	}
	return store.RetryFilter{Scope: f.scope, Key: f.key, EventType: f.event, Action: f.action, Status: store.RetryStatus(f.status), ReasonPrefix: f.reason}, nil
}

func (f *retryFilter) text() string {
	var parts []string
	for _, p := range [][2]string{{"scope", f.scope}, {"event-type", f.event}, {"key", f.key}, {"action", f.action}, {"status", f.status}, {"reject-reason", f.reason}} {
		if p[1] != "" {
			parts = append(parts, p[0]+"="+p[1])
		}
	}
	return cmp.Or(strings.Join(parts, " "), "all")
}

// retryLsFlags are the flags of `idem retry ls`.
type retryLsFlags struct {
	operateFlags
	retryFilter
	watchFlags
	limit int
	after int64
}

func newRetryLs(std streams) *cobra.Command {
	var flags retryLsFlags
	command := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List deliveries to come",
		Long: `Lists deliveries to come, in the order in which they were first written. All filters have to fit.

` + placeHelp,
		Example: `  idem retry ls --context prod --watch
  idem retry ls --scope payments --action HOLD --output json`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.operateFlags.add(command)
	flags.retryFilter.add(command)
	flags.watchFlags.add(command)
	offerScopes(command, &flags.place)
	command.Flags().IntVar(&flags.limit, "limit", 50, "at most so many of each store")
	command.Flags().Int64Var(&flags.after, "after", 0, "behind this id")
	return command
}

func (f *retryLsFlags) run(ctx context.Context, std streams) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if f.limit < 1 {
		return fmt.Errorf("--limit %d: it is at least 1", f.limit)
	}
	if err := f.watchFlags.check(); err != nil {
		return err
	}
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	return f.watchFlags.run(ctx, std, func() error {
		var rows [][]string
		var more []string
		for _, s := range stores {
			list, err := s.ListRetries(ctx, filter, f.after, f.limit+1)
			if err != nil {
				return unreached(ctx, err, s.DSN)
			}
			if len(list) > f.limit {
				list = list[:f.limit]
				more = append(more, fmt.Sprintf("there are more in %s: --after %d", s.Place(), list[f.limit-1].ID))
			}
			for i := range list {
				if f.json() {
					if err := show.Line(std.out, retryOf(s.Name, &list[i])); err != nil {
						return err
					}
				}
				row := retryRow(&list[i])
				if len(stores) > 1 {
					row = append([]string{s.Name}, row...)
				}
				rows = append(rows, row)
			}
		}
		head := retryHead
		if len(stores) > 1 {
			head = append([]string{"STORE"}, head...)
		}
		switch {
		case f.json():
		case len(rows) == 0:
			fmt.Fprintln(std.err, "no deliveries to come")
		default:
			show.Table(std.out, head, rows)
		}
		for _, line := range more {
			fmt.Fprintln(std.err, line)
		}
		return nil
	})
}

var retryHead = []string{"ID", "DUE", "STATUS", "ACTION", "SCOPE", "EVENT TYPE", "KEY", "RETRIES", "REASON"}

func retryRow(r *store.Retry) []string {
	due := "now"
	if wait := time.Until(r.NextRetryTime); wait > 0 {
		due = "in " + show.Age(wait)
	}
	switch {
	case r.Status == store.RetryParked:
		due = "behind " + show.Cut(r.Lane.BizKey, 30)
	case r.Token != "":
		due = "being published"
	}
	return []string{fmt.Sprint(r.ID), due, string(r.Status), r.Action.String(), r.Scope, r.EventType, show.Cut(r.Key, 60), fmt.Sprint(r.RetryCount), show.Cut(r.Reason, 60)}
}

// retryJSON is a delivery to come in --output json. Fields are added, and never renamed or removed.
type retryJSON struct {
	Store         string     `json:"store,omitempty"`
	ID            int64      `json:"id"`
	Scope         string     `json:"scope"`
	Key           string     `json:"key"`
	EventType     string     `json:"event_type"`
	BizKey        string     `json:"biz_key"`
	EventID       string     `json:"event_id"`
	Action        string     `json:"action"`
	Status        string     `json:"status"`
	Reason        string     `json:"reason"`
	Topic         string     `json:"topic"`
	Source        sourceJSON `json:"source"`
	RedriveCount  int32      `json:"redrive_count"`
	RetryCount    int32      `json:"retry_count"`
	HoldCount     int32      `json:"hold_count"`
	Publications  int32      `json:"publications"`
	Publishing    bool       `json:"publishing"`
	LaneTopic     string     `json:"lane_topic,omitempty"`
	LaneKey       string     `json:"lane_key,omitempty"`
	NextRetryTime time.Time  `json:"next_retry_time"`
	CreatedAt     time.Time  `json:"created_at"`
	PayloadBytes  int        `json:"payload_bytes"`
}

func retryOf(name string, r *store.Retry) retryJSON {
	return retryJSON{
		Store: name, ID: r.ID, Scope: r.Scope, Key: r.Key, EventType: r.EventType, BizKey: r.BizKey, EventID: r.EventID,
		Action: r.Action.String(), Status: string(r.Status), Reason: r.Reason, Topic: r.Topic,
		Source:       sourceJSON{r.SourceTopic, r.SourcePartition, r.SourceOffset},
		RedriveCount: r.RedriveCount, RetryCount: r.RetryCount, HoldCount: r.HoldCount,
		Publications: r.Publications, Publishing: r.Token != "", LaneTopic: r.Lane.Topic, LaneKey: r.Lane.BizKey,
		NextRetryTime: r.NextRetryTime.UTC(), CreatedAt: r.CreatedAt.UTC(), PayloadBytes: len(r.Payload),
	}
}
