package main

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func paid(order, amount string) effect { return effect{Order: order, Amount: amount, Kind: "payment"} }

func TestWhatIsDoneTwiceIsFound(t *testing.T) {
	t.Parallel()
	a := make(accounts)
	a.enter("", []effect{paid("1", "5"), paid("2", "5"), paid("2", "5"), {Order: "1", Kind: "mail", Template: "a"}, {Order: "1", Kind: "mail", Template: "b"}})
	a.enter("outside: ", []effect{paid("1", "5"), paid("3", "5"), paid("3", "6")})
	want := []string{"2: payment, 2 times", "3: outside: payment, 2 times"}
	if got := a.twice(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnOrderNeedsWhatTheServicesThatRunDoForIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		services []string
		outside  string
		sold     sold
		missing  []string
	}{
		{"payments alone", []string{"payments"}, "", sold{}, nil},
		{"a refund that is missing", []string{"payments"}, "", sold{refunded: true}, []string{"refund"}},
		{"no mail", []string{"payments", "notifications"}, "", sold{}, []string{"mail payment_succeeded"}},
		{"not in the bank's ledger", []string{"payments"}, "http://bank", sold{}, []string{"outside: payment"}},
		{"not paid in the order's state", []string{"orders"}, "", sold{refunded: true}, []string{"state PAID", "state REFUNDED"}},
	} {
		b := &books{databases: make(map[string]*pgxpool.Pool), outside: c.outside}
		for _, s := range c.services {
			b.databases[s] = new(pgxpool.Pool)
		}
		a := make(accounts)
		a.enter("", []effect{paid("1", "5")})
		if missing := b.missing(a, "1", c.sold); !slices.Equal(missing, c.missing) {
			t.Errorf("%s: %q, want %q", c.name, missing, c.missing)
		}
	}
}

func TestAnAmountIsTheOrdersWhateverItsForm(t *testing.T) {
	t.Parallel()
	orders := map[string]sold{"1": {total: "100.00"}, "2": {total: "100.00"}}
	a := make(accounts)
	a.enter("", []effect{paid("1", "100.0"), paid("2", "100.01"), paid("somebody else's", "1")})
	want := []string{"2: costs 100.00, and 100.01 was paid"}
	if got := a.otherAmounts(orders); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
