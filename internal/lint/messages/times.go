package messages

import (
	"time"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var timeRules = []*rule{
	{lint.Rule{
		ID: "IDEM_HEADER_OCCURRED_AT_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that occurred_at in the header is the time that the payload has.",
		Spec:    []string{"HDR-020", "HDR-021"},
	}, headerOccurredAtDiffers, headers | content},
	{lint.Rule{
		ID: "IDEM_HEADER_PRODUCED_BEFORE_OCCURRED", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that a message was not produced before what it tells occurred.",
		Spec:    []string{"HDR-020"},
	}, headerProducedBeforeOccurred, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_PRODUCED_IN_FUTURE", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that a message was not produced after it was there.",
		Spec:    []string{"HDR-020", "DEDUP-031"},
	}, headerProducedInFuture, headers},
}

// skew is how far two clocks may be apart without anybody being told, and farSkew how far a producer's may
// be from the broker's, or from this machine's.
const (
	skew    = time.Second
	farSkew = time.Minute
)

// time is the time in a header; false where it is not there or wrong.
func (p *pass) time(id idem.HeaderID) (time.Time, bool) {
	text, there := p.header(id)
	if !there {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

func headerOccurredAtDiffers(p *pass) {
	want := p.text(ofOccurredAt)
	if text, there := p.header(idem.OccurredAt); !there || !want.there || text == str(want.text) {
		return
	}
	got, ok := p.time(idem.OccurredAt)
	of, err := time.Parse(time.RFC3339Nano, string(want.text))
	if ok && err == nil && !got.Equal(of) {
		p.differs(idem.OccurredAt, ofOccurredAt)
	}
}

func headerProducedBeforeOccurred(p *pass) {
	produced, there := p.time(idem.ProducedAt)
	occurred, ok := p.time(idem.OccurredAt)
	if there && ok && produced.Add(skew).Before(occurred) {
		p.reportf("write into occurred_at when it happened, and set the clocks of the machines",
			"the message was produced at %s, %v before what it tells occurred", p.envelope.ProducedAt, occurred.Sub(produced))
	}
}

func headerProducedInFuture(p *pass) {
	produced, there := p.time(idem.ProducedAt)
	if !there {
		return
	}
	now, clock := p.options.Now(), "this machine's clock"
	if !p.message.Time.IsZero() {
		now, clock = p.message.Time, "the broker's timestamp"
	}
	if ahead := produced.Sub(now); ahead > farSkew {
		p.reportf("set the clock of the producer: consumers judge by produced_at what is too old",
			"the message was produced at %s, %v after %s", p.envelope.ProducedAt, ahead.Round(time.Second), clock)
	}
}
