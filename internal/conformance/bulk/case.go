package bulk

import "encoding/json"

// Case is one question.
type Case struct {
	Op string
	// Input is a JSON object without white space.
	Input json.RawMessage
}

// Make makes the i-th case of a seed, from i = 0.
func Make(seed uint64, i uint64) Case {
	r := newRandom(seed, i)
	op := weighted[r.below(len(weighted))]
	input := makers[op](r)
	if r.percent(2) {
		spoil(r, input)
	}
	return Case{Op: op, Input: appendJSON(nil, *input)}
}

// Ops returns the operations that the stream has, in the order of chapter 12.
func Ops() []string {
	ops := make([]string, len(weights))
	for i, w := range weights {
		ops[i] = w.op
	}
	return ops
}

// weights say how often an operation is asked: more often where more can go wrong.
var weights = []struct {
	op string
	n  int
}{
	{"decimal", 9},
	{"money", 4},
	{"timestamp", 8},
	{"duration", 4},
	{"date", 3},
	{"uuid", 3},
	{"component", 9},
	{"key", 7},
	{"fingerprint", 4},
	{"hash", 4},
	{"shard", 3},
	{"lane", 3},
	{"kafka_partition", 4},
	{"policy", 4},
	{"backoff", 6},
	{"decide", 7},
	{"admit", 6},
	{"transition", 5},
	{"headers", 9},
	{"next_headers", 7},
	{"classify", 4},
}

// weighted has each operation as often as its weight says.
var weighted = func() []string {
	var ops []string
	for _, w := range weights {
		for range w.n {
			ops = append(ops, w.op)
		}
	}
	return ops
}()

var makers = map[string]func(*random) *object{
	"decimal":         decimal,
	"money":           money,
	"timestamp":       timestamp,
	"duration":        duration,
	"date":            date,
	"uuid":            uuid,
	"component":       component,
	"key":             key,
	"fingerprint":     fingerprint,
	"hash":            hash,
	"shard":           shard,
	"lane":            shard,
	"kafka_partition": kafkaPartition,
	"policy":          policy,
	"backoff":         backoff,
	"decide":          decide,
	"admit":           admit,
	"transition":      transition,
	"headers":         headers,
	"next_headers":    nextHeaders,
	"classify":        classify,
}
