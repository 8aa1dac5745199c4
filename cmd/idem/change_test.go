package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/connect"
)

func TestWhatIsTooMuchIsCounted(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		name  string
		until time.Time
		pages []int
		fails error
		want  string
	}{
		{"to the end", later, []int{1000, 7, 0}, nil, "1011 rows are selected, and --max is 3: "},
		{"none more", later, []int{0}, nil, "4 rows are selected, "},
		{"not in time", time.Now(), nil, nil, "at least 4 rows are selected, "},
		{"not any more", later, []int{1000}, errors.New("away"), "at least 1004 rows are selected, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			flags := changeFlags{max: 3}
			err := flags.tooMany(4, "rows", c.until, func() (int, error) {
				if len(c.pages) == 0 {
					return 0, c.fails
				}
				n := c.pages[0]
				c.pages = c.pages[1:]
				return n, nil
			})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, c.want, err.Error()[:len(c.want)])
		})
	}
}

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
