//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/idem-spec/idem/internal/history"
)

// mostLives is how many violations are printed with the life of their keys.
const mostLives = 5

func (d *driver) report(ctx context.Context, h *history.History, v *verdict, injected, quiet time.Duration) error {
	fmt.Printf("\nseed %d: %v of faults, quiet %v later\n", d.seed, injected.Round(time.Second), (quiet - injected).Round(time.Second))
	fmt.Printf("%d messages, %.0f/s; %d calls, %d effects, %d commits seen\n", len(h.Produced), float64(len(h.Produced))/injected.Seconds(), len(h.Calls), len(h.Effects), len(h.Commits))
	fmt.Println("faults")
	killed := 0
	for _, what := range slices.Sorted(maps.Keys(d.injector.done)) {
		fmt.Printf("  %-22s %6d\n", what, d.injector.done[what])
		if what[:4] == "kill" {
			killed += d.injector.done[what]
		}
	}
	fmt.Printf("  %-22s %6d\n", "all kills", killed)
	for title, query := range map[string]string{
		"produced":     `SELECT kind || ' ' || how || CASE WHEN acknowledged THEN '' ELSE ', not acknowledged' END, count(*) FROM produced GROUP BY 1 ORDER BY 1`,
		"deliveries":   `SELECT outcome || ' ' || action, count(*) FROM delivery GROUP BY 1 ORDER BY 2 DESC`,
		"dead letters": `SELECT outcome || CASE WHEN redriven_at IS NULL THEN '' ELSE ', redriven' END, count(*) FROM dead_letter GROUP BY 1 ORDER BY 1`,
	} {
		fmt.Println(title)
		var what string
		var n int64
		if err := each(ctx, d.db, query, []any{&what, &n}, func() { fmt.Printf("  %-40s %8d\n", what, n) }); err != nil {
			return err
		}
	}
	for _, w := range v.wrong {
		fmt.Println("WRONG", w)
	}
	counts := map[history.Kind]int{}
	for _, x := range v.violations {
		counts[x.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("VIOLATIONS %-10s %d\n", kind, counts[kind])
	}
	for _, x := range v.violations[:min(len(v.violations), mostLives)] {
		life, err := d.life(ctx, x.Key)
		if err != nil {
			return err
		}
		fmt.Printf("\n%v\n%s\n", x, indent(life))
		if x.Kind != history.Order {
			continue
		}
		for _, key := range neighbours(h, x.Key) {
			life, err := d.life(ctx, key)
			if err != nil {
				return err
			}
			fmt.Printf("  its neighbour %s\n%s\n", key, indent(life))
		}
	}
	return nil
}

// neighbours are the keys next to one in its lane.
func neighbours(h *history.History, key string) (keys []string) {
	var of history.Produced
	for _, p := range h.Produced {
		if p.Key == key {
			of = p
		}
	}
	for _, p := range h.Produced {
		if p.Lane == of.Lane && p.Key != key && p.Seq >= of.Seq-2 && p.Seq <= of.Seq+1 {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// life is all that is known of a key, in the order in which it happened.
func (d *driver) life(ctx context.Context, key string) (string, error) {
	var text, line string
	err := each(ctx, d.db, `SELECT to_char(at AT TIME ZONE 'UTC', 'HH24:MI:SS.MS') || ' ' || what FROM (
		SELECT at, format('produced %s to %s, %s copies, acknowledged %s, lane %s, %s', how, topic, copies, acknowledged, lane, seq) AS what FROM produced WHERE key = $1
		UNION ALL SELECT coalesce(claimed, started), format('claimed by %s, surely until %s', worker, to_char((claimed + make_interval(secs => lease_ms / 1000.0)) AT TIME ZONE 'UTC', 'HH24:MI:SS.MS')) FROM call WHERE key = $1
		UNION ALL SELECT started, format('call %s begins in %s', id, worker) FROM call WHERE key = $1
		UNION ALL SELECT ended, format('call %s ends: %s', id, said) FROM call JOIN call_end USING (id) WHERE key = $1
		UNION ALL SELECT at, format('EFFECT %s of call %s in %s, place %s', n, call, worker, place) FROM effect WHERE key = $1
		UNION ALL SELECT at, format('delivery %s/%s/%s in %s: %s, %s, attempt %s %s', topic, partition, position, worker, outcome, action, attempts, reason) FROM delivery WHERE key = $1
		UNION ALL SELECT created_at, format('dead letter %s: %s %s, redriven at %s', id, outcome, reason, redriven_at) FROM dead_letter WHERE idempotency_key = $1
		UNION ALL SELECT updated_at, format('record of %s: state %s, fence %s, attempts %s, position %s', scope, state, fence, attempts, position) FROM idem_record WHERE key = $1
		UNION ALL SELECT next_retry_time, format('row of msg_retry: %s %s %s', status, action, reason) FROM msg_retry WHERE idempotency_key = $1
	) life ORDER BY at`, []any{&line}, func() { text += line + "\n" }, key)
	return text, err
}
