package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/internal/operate/connect"
)

func TestAnInterruptionSaysWhatWasChangedAndWhatGoesOn(t *testing.T) {
	t.Parallel()
	dsn := operated(t)
	for _, c := range []struct {
		name    string
		change  change
		changed int64
		want    string
	}{
		{"ids or a filter", change{count: 5}, 2, "2 of 5 were changed, and stay so; the same command goes on with the rest\n"},
		{"a campaign", change{count: 5, again: "--name x"}, 2, "2 of 5 were changed, and stay so; --name x goes on with the rest\n"},
		{"nothing yet", change{count: 5}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			var said bytes.Buffer
			flags := changeFlags{yes: true, reason: c.name}
			err := flags.carryOut(ctx, streams{err: &said}, &connect.Store{Tables: opened(t, dsn)}, c.change, func() (int64, error) {
				cancel()
				return c.changed, ctx.Err()
			})
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, c.want, said.String())
		})
	}
}
