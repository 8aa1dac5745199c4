//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/broker"
	torturev1 "github.com/idem-spec/idem/runtime/go/internal/torture/gen/torture/v1"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// The kinds of messages, each of one route.
const (
	blocked = "blocked"
	parked  = "parked"
	loose   = "loose"
	outside = "outside"
	order   = "order"
)

// lanesEach is how many lanes of each kind and topic a producer has.
const lanesEach = 25

// producer is the role producer: it writes into the ledger what it is about to publish, or in the same
// transaction, and what it was told of it.
type producer struct {
	*worker
	outbox *outbox.Outbox
	lanes  map[string]int64 // and the seq of their last message
	names  []string
	sent   []broker.Message // some that were acknowledged, to be sent again
	orders int
}

// made is a message on its way.
type made struct {
	key, kind, lane string
	seq             int64
	message         broker.Message
	copies          int
}

func produce(ctx context.Context, w *worker) error {
	c := outbox.Config{}
	if w.bug != "" {
		c.Timeout = time.Second
	}
	o, err := outbox.New(w.store, w.broker, c)
	if err != nil {
		return err
	}
	p := &producer{worker: w, outbox: o}
	for try := 0; ; try++ {
		if err = p.adopt(ctx); err == nil || ctx.Err() != nil {
			break
		}
		slog.Warn("lanes not read", "error", err)
		sleep(ctx, time.Second)
	}
	for next := time.Now(); ctx.Err() == nil; {
		hold, stop, err := p.control(ctx)
		if stop || hold || err != nil {
			sleep(ctx, 500*time.Millisecond)
			next = time.Now()
			continue
		}
		const batch = 12
		if err := p.batch(ctx, batch); err != nil {
			slog.Warn("batch", "error", err)
			sleep(ctx, 300*time.Millisecond)
		}
		next = next.Add(batch * time.Second / time.Duration(p.rate))
		if late := time.Since(next); late > time.Second { // no more than it was to have
			next = time.Now()
		}
		sleep(ctx, time.Until(next))
	}
	return ctx.Err()
}

func (p *producer) control(ctx context.Context) (hold, stop bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err = p.ledger.QueryRow(ctx, `SELECT hold, stop FROM control`).Scan(&hold, &stop)
	return hold, stop, err
}

// adopt takes over the lanes of the process before it.
func (p *producer) adopt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var names []string
	for _, topic := range []string{plainTopic, tieredTopic} {
		for _, kind := range []string{blocked, parked, loose, outside} {
			for i := range lanesEach {
				names = append(names, fmt.Sprintf("%s.%s.%s.%d", topic, kind, p.name, i))
			}
		}
	}
	_, err := p.ledger.Exec(ctx, `INSERT INTO lane SELECT unnest($1::text[]), $2, 0 ON CONFLICT DO NOTHING`, names, p.name)
	p.names = names
	return err
}

// batch makes some messages and sends them, in one of two ways.
func (p *producer) batch(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if p.chance.in(5000) {
		return p.stored(ctx, n)
	}
	return p.direct(ctx, n)
}

// stored is PublishTx: the ledger's row and the outbox's are one transaction.
func (p *producer) stored(ctx context.Context, n int) error {
	return p.store.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		batch, err := p.make(ctx, tx, n)
		if err != nil {
			return err
		}
		if err := write(ctx, tx, batch, "tx", true); err != nil {
			return err
		}
		return outbox.PublishTx(ctx, p.outbox, p.store, tx, messagesOf(batch)...)
	})
}

// direct is Publish: the intent is durable before, and what came of it afterwards.
func (p *producer) direct(ctx context.Context, n int) error {
	var batch []made
	err := p.store.InTx(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if batch, err = p.make(ctx, tx, n); err != nil {
			return err
		}
		return write(ctx, tx, batch, "direct", false)
	})
	if err != nil {
		return err
	}
	messages := messagesOf(batch)
	results, err := p.outbox.Publish(ctx, messages...)
	yes, no := []string{}, []string{}
	at := 0
	for i := range batch {
		good, confirmed := true, true
		for range batch[i].copies {
			good = good && results[at] != outbox.Neither
			confirmed = confirmed && results[at] == outbox.Confirmed
			at++
		}
		if confirmed { // what is stored waits behind others of its key, and nobody may go past them with it
			p.remember(batch[i].message)
		}
		if good {
			yes = append(yes, batch[i].key)
		} else {
			no = append(no, batch[i].key)
		}
	}
	for try := 0; try < 20; try++ { // the database may be on its way to another server
		_, e := p.ledger.Exec(context.WithoutCancel(ctx), `UPDATE produced SET acknowledged = key = ANY($1), doubt = key = ANY($2) WHERE key = ANY($1) OR key = ANY($2)`, yes, no)
		if e == nil {
			break
		}
		slog.Warn("acknowledgement not noted", "error", e)
		time.Sleep(500 * time.Millisecond)
	}
	p.again(ctx)
	return err
}

// remember keeps a message to send it once more, much later.
func (p *producer) remember(m broker.Message) {
	if len(p.sent) < 500 {
		p.sent = append(p.sent, m)
		return
	}
	p.sent[p.chance.upTo(len(p.sent))] = m
}

// again sends a message that was acknowledged before, without anybody asking for it: a producer that was not
// sure. Those without an order go to another partition, and so to another process.
func (p *producer) again(ctx context.Context) {
	if len(p.sent) == 0 || !p.chance.in(4000) {
		return
	}
	m := p.sent[p.chance.upTo(len(p.sent))]
	if key := string(m.Key); !strings.Contains(key, "."+blocked+".") && !strings.Contains(key, "."+parked+".") && p.chance.in(7000) {
		m.Key = fmt.Appendf(nil, "%s/%d", key, p.chance.upTo(100))
	}
	p.broker.Publish(ctx, []broker.Message{m})
}

// make chooses lanes, locks them in their order, and makes the next message of each.
func (p *producer) make(ctx context.Context, tx pgx.Tx, n int) ([]made, error) {
	chosen := make([]string, 0, n)
	for len(chosen) < n {
		if name := p.names[p.chance.upTo(len(p.names))]; !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	slices.Sort(chosen)
	rows, err := tx.Query(ctx, `UPDATE lane SET seq = seq + 1 FROM (SELECT name FROM lane WHERE name = ANY($1) ORDER BY name FOR UPDATE) l
		WHERE lane.name = l.name RETURNING lane.name, lane.seq`, chosen)
	if err != nil {
		return nil, err
	}
	seqs := make(map[string]int64, n)
	var name string
	var seq int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &seq}, func() error { seqs[name] = seq; return nil }); err != nil {
		return nil, err
	}
	var batch []made
	for _, name := range chosen {
		m, err := p.message(name, seqs[name])
		if err != nil {
			return nil, err
		}
		batch = append(batch, m)
	}
	if p.chance.in(3500) {
		orders, err := p.order()
		if err != nil {
			return nil, err
		}
		batch = append(batch, orders...)
	}
	return batch, nil
}

func (p *producer) message(lane string, seq int64) (made, error) {
	topic, rest, _ := strings.Cut(lane, ".")
	kind, _, _ := strings.Cut(rest, ".")
	note := strings.Repeat("x", p.chance.upTo(200)+1)
	var m interface {
		payload.Keyed
		IdemKey() (string, error)
	}
	switch kind {
	case blocked:
		m = &torturev1.Blocked{Lane: lane, Seq: seq, Note: note}
	case parked:
		m = &torturev1.Parked{Lane: lane, Seq: seq, Note: note}
	case loose:
		m = &torturev1.Loose{Lane: lane, Seq: seq, Note: note}
	default:
		m = &torturev1.Outside{Lane: lane, Seq: seq, Note: note}
	}
	return p.made(topic, kind, lane, seq, m)
}

func (p *producer) made(topic, kind, lane string, seq int64, m interface {
	payload.Keyed
	IdemKey() (string, error)
},
) (made, error) {
	key, err := m.IdemKey()
	if err != nil {
		return made{}, err
	}
	message, err := payload.Message(topic, m, payload.Options{})
	if err != nil {
		return made{}, err
	}
	if p.chance.in(10) {
		message.Value = []byte{0xff} // poison
	}
	copies := 1
	if p.chance.in(400) {
		copies = 2
	}
	return made{key: key, kind: kind, lane: lane, seq: seq, message: message, copies: copies}, nil
}

// order is the three messages of an order, some of them the wrong way round.
func (p *producer) order() ([]made, error) {
	p.orders++
	id := fmt.Sprintf("%s.%d.%d", p.name, p.incarnation, p.orders)
	topic := []string{plainTopic, tieredTopic}[p.chance.upTo(2)]
	batch := make([]made, 3)
	for i, m := range []interface {
		payload.Keyed
		IdemKey() (string, error)
	}{&torturev1.OrderCreated{Order: id, Note: "1"}, &torturev1.OrderPaid{Order: id, Note: "2"}, &torturev1.OrderShipped{Order: id, Note: "3"}} {
		var err error
		if batch[i], err = p.made(topic, order, "order."+id, int64(i+1), m); err != nil {
			return nil, err
		}
	}
	if p.chance.in(3000) {
		i := p.chance.upTo(2)
		batch[i], batch[i+1] = batch[i+1], batch[i]
	}
	return batch, nil
}

func messagesOf(batch []made) []broker.Message {
	var messages []broker.Message
	for i := range batch {
		for range batch[i].copies {
			messages = append(messages, batch[i].message)
		}
	}
	return messages
}

func write(ctx context.Context, tx pgx.Tx, batch []made, how string, acknowledged bool) error {
	rows := make([][]any, len(batch))
	for i := range batch {
		m := &batch[i]
		rows[i] = []any{m.key, m.kind, m.message.Topic, m.lane, m.seq, how, acknowledged, m.copies}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"produced"}, []string{"key", "kind", "topic", "lane", "seq", "how", "acknowledged", "copies"}, pgx.CopyFromRows(rows))
	return err
}
