package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// effect is one thing that was done: a row of a service, or an entry of a ledger outside.
type effect struct {
	Order  string `json:"order_id"`
	Amount string `json:"amount"`
	Key    string `json:"key"`
	// Kind is payment, refund, mail or state, and Template which mail or which state.
	Kind     string    `json:"kind"`
	Template string    `json:"template"`
	At       time.Time `json:"at"`
	Calls    int       `json:"calls"`
}

// rows are the effects in a service's own tables.
var rows = map[string]string{
	"orders":        `SELECT order_id, '', coalesce(idempotency_key, ''), 'state', to_status, at FROM order_event`,
	"payments":      `SELECT order_id, amount::text, idempotency_key, 'payment', '', paid_at FROM payment UNION ALL SELECT order_id, amount::text, idempotency_key, 'refund', '', at FROM refund`,
	"notifications": `SELECT order_id, '', idempotency_key, 'mail', template, sent_at FROM notification`,
}

// written are the effects in a service's database.
func (b *books) written(ctx context.Context, service string) ([]effect, error) {
	found, err := b.databases[service].Query(ctx, rows[service])
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (e effect, err error) {
		err = row.Scan(&e.Order, &e.Amount, &e.Key, &e.Kind, &e.Template, &e.At)
		return e, err
	})
}

// ledger are the effects outside, which no transaction takes back.
func (b *books) ledger(ctx context.Context) ([]effect, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.outside+"/ledger", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the ledger: %s", response.Status)
	}
	var all struct{ Effects []effect }
	err = json.NewDecoder(response.Body).Decode(&all)
	return all.Effects, err
}
