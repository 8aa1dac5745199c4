package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// rewrites are what gateways do to headers.
var rewrites = []func(idem.Headers) idem.Headers{
	func(h idem.Headers) idem.Headers { slices.Reverse(h); return h },
	func(h idem.Headers) idem.Headers {
		return append(idem.Headers{{Name: "x-gateway", Value: []byte("eu-1")}}, h...)
	},
	without("event_id", "produced_at", "traceparent"),
	without("idempotency_key"), // consumers derive it
	capitals("event_id", "produced_at", "occurred_at", "biz_key"),
	capitals("idempotency_key", "fingerprint"),
}

func rewrite(h idem.Headers) idem.Headers {
	return rewrites[rand.IntN(len(rewrites))](slices.Clone(h))
}

func without(names ...string) func(idem.Headers) idem.Headers {
	return func(h idem.Headers) idem.Headers {
		return slices.DeleteFunc(h, func(x idem.Header) bool { return slices.Contains(names, x.Name) })
	}
}

// capitals has the names Begin_With_Capitals.
func capitals(names ...string) func(idem.Headers) idem.Headers {
	return func(h idem.Headers) idem.Headers {
		for i := range h {
			if slices.Contains(names, h[i].Name) {
				words := strings.Split(h[i].Name, "_")
				for j, w := range words {
					words[j] = strings.ToUpper(w[:1]) + w[1:]
				}
				h[i].Name = strings.Join(words, "_")
			}
		}
		return h
	}
}

func valueOf(h idem.Headers, name string) (string, bool) {
	for _, x := range h {
		if x.Name == name {
			return string(x.Value), true
		}
	}
	return "", false
}
