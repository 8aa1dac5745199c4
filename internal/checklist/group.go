package checklist

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// unshared refuses a group that others are in: they would take messages of the checklist, and lose theirs to it. Members of a
// run that was killed are waited for.
func (b *bench) unshared(ctx context.Context) error {
	group := b.values["group"]
	for limit := time.Now().Add(b.adapter.Session.Duration + time.Second); ; {
		d, err := b.kafka.DescribeGroup(ctx, group)
		if err != nil {
			return err
		}
		if len(d.Members) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			return &placeError{"group", fmt.Errorf("%s has %s that this run has not started: %s. It takes messages of the checklist: end it, or give the adapter a group and topics of their own, as in %s-{run}",
				group, plural(len(d.Members), "member", "members"), whoIn(d.Members), b.adapter.Group)}
		}
		b.options.tell(b.adapter.Name+": starts", fmt.Sprintf("waits for %s to leave the group %s", plural(len(d.Members), "member", "members"), group))
		if !pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// whoIn names members by client and host.
func whoIn(members []kafka.GroupMember) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.ClientID + " on " + strings.TrimPrefix(m.Host, "/")
	}
	return some(names)
}
