package messages

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var orderRules = []*rule{
	{lint.Rule{
		ID: "IDEM_RECORD_KEY_DIFFERS", Kind: lint.Message, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that the key of a record is the biz key, or null where a message has none.",
		Spec:    []string{"HASH-020"},
	}, recordKeyDiffers, headers},
	{lint.Rule{
		ID: "IDEM_RECORD_PARTITION_WRONG", Kind: lint.Message, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that a record is in the partition of its biz key.",
		Spec:    []string{"HASH-020", "HASH-021"},
	}, recordPartitionWrong, headers | record},
}

// bizKey is the message's biz key: what the payload gives, else the header's. Not certain is where neither
// is there and the message may have one.
func (p *pass) bizKey() (key string, certain bool) {
	if t := p.text(ofBizKey); t.there {
		return str(t.text), true
	}
	if key, there := p.header(idem.BizKey); there {
		return key, true
	}
	return "", p.event != nil && p.event.BizKey == nil && !p.faulty(idem.BizKey)
}

func recordKeyDiffers(p *pass) {
	want, certain := p.bizKey()
	m := p.message
	if !m.HasKey || !certain || string(m.Key) == want && (m.Key != nil) == (want != "") {
		return
	}
	const mend = "publish with the biz key as the record's key: it is what orders messages"
	switch {
	case want == "":
		p.reportf("publish with a null key, or give the message a biz_key", "the record's key is %s, and %s has no biz_key", p.shown(ofBizKey, string(m.Key)), p.event.Desc.FullName())
	case m.Key == nil:
		p.reportf(mend, "the record's key is null, and the biz key is %s", cut(want))
	default:
		p.reportf(mend, "the record's key is %s, and the biz key is %s", p.shown(ofBizKey, string(m.Key)), cut(want))
	}
}

// recordPartitionWrong is about records with the right key alone: another key is another partition.
func recordPartitionWrong(p *pass) {
	m := p.message
	n := m.Partitions
	if n == 0 {
		n = p.options.Partitions
	}
	key, certain := p.bizKey()
	if n < 1 || m.Partition < 0 || !certain || key == "" || m.HasKey && string(m.Key) != key {
		return
	}
	if want := broker.PartitionOf([]byte(key), n); want != m.Partition {
		p.reportf("use Kafka's own partitioner: librdkafka needs partitioner=murmur2_random; a topic that got more partitions has such records from before",
			"the record is in partition %d of %d, and its biz key %s belongs in %d", m.Partition, n, cut(key), want)
	}
}
