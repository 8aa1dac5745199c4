package consumer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWindowFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes int64
		span  int
		size  int64
		fits  bool
		half  bool
	}{
		"empty":                           {0, 0, 1, true, false},
		"one message short":               {3, 3, 1, true, true},
		"full of messages":                {3, 4, 1, false, true},
		"full of settled ones":            {0, 4, 1, false, true},
		"exactly full of bytes":           {90, 1, 10, true, true},
		"a byte too many":                 {90, 1, 11, false, true},
		"larger than the window, alone":   {0, 0, 1000, true, false},
		"larger than the window, beside":  {1, 1, 1000, false, false},
		"larger, behind one that settled": {0, 1, 1000, true, false},
		"empty messages take no bytes":    {100, 3, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := window{maxMessages: 4, maxBytes: 100, bytes: c.bytes}
			require.Equal(t, c.fits, w.fits(c.span, c.size))
			require.Equal(t, c.half, w.half(c.span))
		})
	}
}
