//go:build unix

package checklist

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
)

// TestAGroupThatOthersAreInIsRefused before anything is started: two that read one topic take each other's messages.
func TestAGroupThatOthersAreInIsRefused(t *testing.T) {
	servers(t)
	a, err := ReadAdapter("testdata/plain.yaml")
	require.NoError(t, err)
	a.Build, a.Session = "", Duration{time.Second}
	o := options(t)
	o.run = "shared" + time.Now().Format("150405")
	group := strings.ReplaceAll(a.Group, "{run}", o.run)
	b, err := newBench(t.Context(), a, o)
	require.NoError(t, err)
	t.Cleanup(b.close)
	other := kafka.NewReader(kafka.ReaderConfig{
		Brokers: strings.Split(os.Getenv("KAFKA_BROKERS"), ","), GroupID: group, Topic: b.values.fill(a.Message.Topic),
		Dialer: &kafka.Dialer{ClientID: "somebody"},
	})
	t.Cleanup(func() { _ = other.Close() })
	reading, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() { _, _ = other.FetchMessage(reading) }()
	require.Eventually(t, func() bool { return len(b.members(t.Context())) == 1 }, 20*time.Second, 100*time.Millisecond)

	err = ofAdapter(a, b.start(t.Context()))
	var mistake *AdapterError
	require.ErrorAs(t, err, &mistake)
	require.ErrorContains(t, err, ": group: "+group+" has 1 member that this run has not started: somebody")
	require.Empty(t, b.service)

	require.NoError(t, other.Close())
	require.NoError(t, b.unshared(t.Context()), "it has left")
}
