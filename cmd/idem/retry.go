package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/operate/connect"
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
	return filterText([2]string{"scope", f.scope}, [2]string{"event-type", f.event}, [2]string{"key", f.key}, [2]string{"action", f.action},
		[2]string{"status", f.status}, [2]string{"reject-reason", f.reason})
}

// retryLsFlags are the flags of `idem retry ls`.
type retryLsFlags struct {
	listFlags
	retryFilter
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
	flags.retryFilter.add(command)
	flags.listFlags.add(command, "behind this id")
	offerValues(command, &flags.place, retryValues)
	return command
}

func (f *retryLsFlags) run(ctx context.Context, std streams) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if err := f.listFlags.check(); err != nil {
		return err
	}
	stores, closeAll, err := f.openStores(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	return retrySheet.list(ctx, std, &f.listFlags, stores, func() string { return f.whyNoRetry(ctx, stores...) }, func(s *connect.Store, limit int) ([]store.Retry, error) {
		return s.ListRetries(ctx, filter, f.after, limit)
	})
}

var retrySheet = sheet[store.Retry]{
	head:  []string{"ID", "DUE", "STATUS", "ACTION", "SCOPE", "EVENT TYPE", "KEY", "RETRIES", "REASON"},
	none:  "no deliveries to come",
	row:   retryRow,
	json:  func(name string, r *store.Retry) any { return retryOf(name, r) },
	id:    func(r *store.Retry) int64 { return r.ID },
	order: func(a, b *store.Retry) int { return a.CreatedAt.Compare(b.CreatedAt) },
}

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
	return []string{fmt.Sprint(r.ID), due, string(r.Status), r.Action.String(), r.Scope, r.EventType, show.Cut(r.Key, keyWidth), fmt.Sprint(r.RetryCount), show.Cut(r.Reason, 60)}
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
