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

// noKey says of a text of which nothing is known that a key is wanted, where it looks like none: the keys of the rows
// whose id it is, or else where keys are found. Biz keys and event ids have no index.
func noKey(ctx context.Context, stores []*connect.Store, text string) string {
	if strings.Contains(text, ":") { // as keys that are derived have
		return ""
	}
	const where = "; a key is wanted, and no biz key or id: it is in the column KEY of idem dlq ls and idem retry ls, and in the header idempotency_key"
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return where
	}
	var rows []string
	for _, s := range stores {
		rows = append(rows, rowsOf(ctx, s, id)...)
	}
	if len(rows) == 0 {
		return where
	}
	return "; a key is wanted: " + strings.Join(rows, "; ")
}

// rowsOf names the keys of the dead letter and the delivery to come that have an id. What cannot be read is not known.
func rowsOf(ctx context.Context, s *connect.Store, id int64) (rows []string) {
	add := func(what, key string) {
		if key != "" {
			rows = append(rows, fmt.Sprintf("%s %d in %s is of %s", what, id, s.Place(), show.Text(key)))
		}
	}
	if d, err := letterByID(ctx, s, id); err == nil && d != nil {
		add("dead letter", d.Key)
	}
	if list, err := s.ListRetries(ctx, store.RetryFilter{}, id-1, 1); err == nil && len(list) > 0 && list[0].ID == id {
		add("the delivery to come", list[0].Key)
	}
	return rows
}
