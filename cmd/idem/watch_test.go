package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWatching(t *testing.T) {
	down := errors.New("read the dead letters: connection refused")
	for name, c := range map[string]struct {
		watch  bool
		shows  []error // what each look comes to; then the watcher is interrupted
		err    error
		looks  int
		stderr string
	}{
		"without --watch once":         {looks: 1, shows: []error{nil}},
		"without --watch fails":        {looks: 1, shows: []error{down}, err: down},
		"what was never reached fails": {watch: true, looks: 1, shows: []error{down, nil}, err: down},
		"what was reached once is looked at again": {watch: true, looks: 4, shows: []error{nil, down, nil, nil},
			stderr: "idem: read the dead letters: connection refused: --watch looks again in 1ms\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			flags, looks, stderr := watchFlags{watch: c.watch, interval: time.Millisecond}, 0, &bytes.Buffer{}
			err := flags.run(ctx, streams{out: &bytes.Buffer{}, err: stderr}, func() error {
				looks++
				if looks == len(c.shows) {
					interrupt()
				}
				return c.shows[looks-1]
			})
			assert.Equal(t, c.err, err)
			assert.Equal(t, c.looks, looks)
			assert.Equal(t, c.stderr, stderr.String())
		})
	}
}
