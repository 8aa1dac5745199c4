package observe

import (
	"context"
	"strconv"
)

// Safe contains what an observer panics with: it is dropped, and the delivery has the outcome that it has. A
// nil observer observes nothing.
func Safe(o Observer) Observer {
	switch o := o.(type) {
	case nil:
		return None{}
	case None, safe:
		return o
	}
	return safe{o}
}

type safe struct{ o Observer }

func (s safe) Delivery(ctx context.Context, d *Delivery) {
	defer drop()
	s.o.Delivery(ctx, d)
}

func (s safe) Measure(m Metric, labels Labels, value float64) {
	defer drop()
	s.o.Measure(m, labels, value)
}

func (s safe) Batch(ctx context.Context, b *Batch) {
	defer drop()
	TellBatch(ctx, s.o, b)
}

func drop() { _ = recover() }

// Multi tells several observers, in order, each of them Safe: one that fails does not keep the others from
// hearing. Nil ones are left out.
func Multi(observers ...Observer) Observer {
	var all multi
	for _, o := range observers {
		if inner, ok := o.(multi); ok {
			all = append(all, inner...)
		} else if o = Safe(o); o != (None{}) {
			all = append(all, o)
		}
	}
	switch len(all) {
	case 0:
		return None{}
	case 1:
		return all[0]
	}
	return all
}

type multi []Observer

func (all multi) Delivery(ctx context.Context, d *Delivery) {
	for _, o := range all {
		o.Delivery(ctx, d)
	}
}

func (all multi) Measure(m Metric, labels Labels, value float64) {
	for _, o := range all {
		o.Measure(m, labels, value)
	}
}

func (all multi) Batch(ctx context.Context, b *Batch) {
	for _, o := range all {
		TellBatch(ctx, o, b)
	}
}

func decimal(v int32) string { return strconv.Itoa(int(v)) }
