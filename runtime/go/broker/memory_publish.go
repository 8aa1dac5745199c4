package broker

import (
	"context"
	"fmt"
	"time"
)

// Publish appends copies of the messages; it keeps none of their bytes.
func (m *Memory) Publish(ctx context.Context, messages []Message) []error {
	p := publication{broker: m, messages: messages, packer: newPacker(messages), now: m.config.Clock()}
	var topic *memoryTopic
	for i := range messages {
		message := &messages[i]
		var err error
		if topic == nil || topic.name != message.Topic {
			topic, err = m.topic(message.Topic)
		}
		switch {
		case err != nil:
			err = fmt.Errorf("publish: %w", err)
		case p.blocked(message):
			err = fmt.Errorf("publish to %s: %w", message.Topic, ErrBehindFailed)
		default:
			err = p.publish(ctx, topic, message)
		}
		if err != nil {
			p.fail(i, err)
		}
	}
	return p.errs
}

// publication is one call of Publish.
type publication struct {
	broker   *Memory
	messages []Message
	packer   *packer
	now      time.Time
	errs     []error
	failed   map[topicKey]bool
}

type topicKey struct{ topic, key string }

func (p *publication) publish(ctx context.Context, t *memoryTopic, message *Message) error {
	var fault PublishFault
	if ask := p.broker.config.Faults.Publish; ask != nil {
		fault = ask(ctx, message)
	}
	if err := sleep(ctx, fault.Delay); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	partition := PartitionOf(message.Key, int32(len(t.partitions)))
	if partition < 0 {
		partition = int32((t.next.Add(1) - 1) % uint32(len(t.partitions)))
	}
	log := t.partitions[partition]
	c := p.packer.pack(message, p.now)
	if fault.Err != nil {
		switch {
		case fault.Delivered && fault.Late > 0:
			time.AfterFunc(fault.Late, func() { log.append(c, fault.Copies) })
		case fault.Delivered:
			log.append(c, fault.Copies)
		}
		return fault.Err
	}
	log.append(c, fault.Copies)
	return nil
}

// blocked says that an earlier message of this key has failed. Messages without a key have no order.
func (p *publication) blocked(message *Message) bool {
	return p.failed != nil && message.Key != nil && p.failed[topicKey{message.Topic, string(message.Key)}]
}

func (p *publication) fail(i int, err error) {
	if p.errs == nil {
		p.errs = make([]error, len(p.messages))
		p.failed = map[topicKey]bool{}
	}
	p.errs[i] = err
	if message := &p.messages[i]; message.Key != nil {
		p.failed[topicKey{message.Topic, string(message.Key)}] = true
	}
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
