package schemas

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// What a name says is a guess: rules that go by names look at whole words, and at few of them.

// words are the words of a name in snake_case, in lower case.
func words(name protoreflect.Name) []string {
	return strings.FieldsFunc(strings.ToLower(string(name)), func(r rune) bool { return r == '_' })
}

// currencies may stand behind an amount: price_usd.
var currencies = []string{"aud", "cad", "chf", "cny", "eur", "gbp", "inr", "jpy", "usd"}

// isDecimal says whether a field is named as an amount of money, or a rate of it: amount, unit_price,
// order_total, fee_eur, tax_rate.
func isDecimal(name protoreflect.Name) bool {
	w := words(name)
	if len(w) > 1 && slices.Contains(currencies, w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	if len(w) == 0 {
		return false
	}
	last, before := w[len(w)-1], ""
	if len(w) > 1 {
		before = w[len(w)-2]
	}
	switch last {
	case "amount", "price", "subtotal", "balance", "fee", "tax", "cost":
		return true
	case "total":
		return before == "" || slices.Contains([]string{"cart", "grand", "gross", "invoice", "net", "order", "sub", "tax"}, before)
	case "rate":
		return slices.Contains([]string{"exchange", "fx", "interest", "tax", "vat"}, before)
	}
	return false
}

// isCurrency says whether a field is named as the currency of one that is named as an amount: currency,
// currency_code, amount_currency of amount, and refund_currency of refund_amount.
func isCurrency(name, amount protoreflect.Name) bool {
	if stem, ok := strings.CutSuffix(string(amount), "_amount"); ok && isCurrency(name, protoreflect.Name(stem)) {
		return true
	}
	return name == "currency" || name == "currency_code" || name == amount+"_currency" || name == amount+"_currency_code"
}

// units are the words that end the name of an integer that counts them, and the units in options.
var units = map[string]string{
	"s": "S", "sec": "S", "secs": "S", "seconds": "S",
	"ms": "MS", "msec": "MS", "millis": "MS", "milliseconds": "MS",
	"us": "US", "usec": "US", "micros": "US", "microseconds": "US",
	"ns": "NS", "nsec": "NS", "nanos": "NS", "nanoseconds": "NS",
}

// unitOf is the unit that a name ends in, "MS" of created_at_ms, and "" where it ends in none.
func unitOf(name protoreflect.Name) string {
	if w := words(name); len(w) > 1 {
		return units[w[len(w)-1]]
	}
	return ""
}

// isTime says whether a field is named as a point in time, whatever its unit: created_at, timestamp,
// event_time, epoch_ms. Of other times (lead_time, start_time) a name does not say whether they are spans
// or times of a day.
func isTime(name protoreflect.Name) bool {
	w := words(name)
	if len(w) > 1 && units[w[len(w)-1]] != "" {
		w = w[:len(w)-1]
	}
	if len(w) == 0 {
		return false
	}
	last, before := w[len(w)-1], ""
	if len(w) > 1 {
		before = w[len(w)-2]
	}
	switch last {
	case "at":
		return before != "" && before != "located"
	case "timestamp", "epoch", "datetime":
		return true
	case "time":
		return slices.Contains([]string{"create", "created", "event", "occurred", "publish", "update", "updated"}, before)
	}
	return false
}

// isDate says whether a field is named as a day: date, due_date.
func isDate(name protoreflect.Name) bool {
	w := words(name)
	return len(w) > 0 && w[len(w)-1] == "date"
}

// isUUID says whether a field is named as a UUID: uuid, order_uuid.
func isUUID(name protoreflect.Name) bool {
	w := words(name)
	return len(w) > 0 && (w[len(w)-1] == "uuid" || w[len(w)-1] == "guid")
}
