package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// noKey says where keys are found, where a text looks like none. Biz keys and event ids have no index, and are not looked
// for.
func noKey(text string) string {
	if strings.Contains(text, ":") { // as keys that are derived have
		return ""
	}
	return "; a key is wanted, and no biz key or id: it is in the column KEY of idem dlq ls and idem retry ls, and in the header idempotency_key"
}

// rowsOf names the keys of dead letters and deliveries to come whose id a text is. What cannot be read is not known.
func rowsOf(ctx context.Context, stores []*connect.Store, text string) (rows []string) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return nil
	}
	for _, s := range stores {
		add := func(what, key string) {
			if key != "" {
				rows = append(rows, fmt.Sprintf("%s %d in %s is of %s", what, id, s.Place(), show.Text(key)))
			}
		}
		if d, err := letterByID(ctx, s, id); err == nil && d != nil {
			add("dead letter", d.Key)
		}
		if list, err := s.ListRetries(ctx, store.RetryFilter{}, id-1, 1); err == nil && len(list) > 0 && list[0].ID == id {
			add("delivery to come", list[0].Key)
		}
	}
	return rows
}
