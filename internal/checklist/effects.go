package checklist

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// effects counts the effects of messages, by their keys.
func (b *bench) effects(ctx context.Context, messages []*made) (map[string]int, error) {
	byEffect := map[Effect][]*made{}
	for _, m := range messages {
		byEffect[m.of.Effect] = append(byEffect[m.of.Effect], m)
	}
	all := map[string]int{}
	for effect, of := range byEffect {
		ids := make([]string, len(of))
		for i, m := range of {
			ids[i] = m.id
		}
		counts, err := b.effectsOf(ctx, effect, ids)
		if err != nil {
			return nil, fmt.Errorf("effects: %w", err)
		}
		for _, m := range of {
			all[m.key] = counts[m.id]
		}
	}
	return all, nil
}

func (b *bench) effectsOf(ctx context.Context, e Effect, ids []string) (map[string]int, error) {
	switch {
	case e.SQL != "":
		return b.db.counts(ctx, e.SQL, ids)
	case e.Downstream:
		return b.down.effects(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.values.fill(e.URL), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", e.URL, answer.Status)
	}
	return ledger(data, e.Field)
}

// ledger reads an object of ids and counts, or an array of objects, one for each effect.
func ledger(data []byte, field string) (map[string]int, error) {
	counts := map[string]int{}
	if field == "" {
		err := json.Unmarshal(data, &counts)
		return counts, err
	}
	var entries []map[string]any
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, err
	}
	for _, entry := range entries {
		counts[fmt.Sprint(entry[field])]++
	}
	return counts, nil
}
