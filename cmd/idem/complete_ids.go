package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// offeredIDs are how many ids the shell offers.
const offeredIDs = 30

// offerIDs has the shell complete ids, each with what it is, where one store is meant that answers at once.
func offerIDs(command *cobra.Command, place *connect.Flags, read func(context.Context, *connect.Store) ([]cobra.Completion, error)) {
	command.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
		defer cancel()
		const how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		target, err := connect.Resolve(*place)
		if err != nil || target.NeedOne() != nil || cmd.Flags().Changed("topic") {
			return nil, how
		}
		s, err := target.Stores[0].Open(ctx, true)
		if err != nil {
			return nil, how
		}
		defer s.Close()
		offered, _ := read(ctx, s) // what cannot be offered is typed
		return slices.DeleteFunc(offered, func(c cobra.Completion) bool { return slices.Contains(args, idOf(c)) }), how
	}
}

func offerLetters(command *cobra.Command, place *connect.Flags) {
	offerIDs(command, place, func(ctx context.Context, s *connect.Store) (offered []cobra.Completion, err error) {
		letters, err := s.RecentDeadLetters(ctx, store.DeadLetterFilter{}, store.Cursor{}, offeredIDs)
		for i := range letters {
			offered = append(offered, offeredID(letters[i].ID, letters[i].Reason, letters[i].Key))
		}
		return offered, err
	})
}

func offerRetries(command *cobra.Command, place *connect.Flags) {
	offerIDs(command, place, func(ctx context.Context, s *connect.Store) (offered []cobra.Completion, err error) {
		retries, err := s.ListRetries(ctx, store.RetryFilter{}, 0, offeredIDs)
		for i := range retries {
			offered = append(offered, offeredID(retries[i].ID, retries[i].Reason, retries[i].Key))
		}
		return offered, err
	})
}

func offeredID(id int64, reason, key string) cobra.Completion {
	return cobra.CompletionWithDesc(fmt.Sprint(id), show.Text(codeOf(reason)+" "+key))
}

func idOf(c cobra.Completion) string {
	var id string
	_, _ = fmt.Sscan(c, &id) // of "17\tNO_RATE …"
	return id
}
