package doctor

import (
	"fmt"
	"strings"
	"unicode"
)

// Together tells once what was found alike in several databases of a server, or of several topics: its place is all of
// them.
func Together(results []Result) []Result { return merge(merge(results, serverKind), topicKind) }

// kind is what a result has in common with those that are told with it; empty where it is told alone. Their place is all,
// with the names of theirs.
type kind struct {
	key  string
	name string
	all  func(r Result, names []string) Result
}

// merge tells results of a kind once, where the first of them is.
func merge(results []Result, of func(*Result) kind) []Result {
	kinds, names := make([]kind, len(results)), map[string][]string{}
	for i := range results {
		k := of(&results[i])
		if k.key == "" {
			continue
		}
		for last := len(names[k.key]) - 1; last >= 0 && names[k.key][last] == k.name; last = len(names[k.key]) - 1 {
			k.key += "+" // the second such finding of a place is another
		}
		kinds[i], names[k.key] = k, append(names[k.key], k.name)
	}
	var all []Result
	for i, r := range results {
		k := kinds[i]
		switch same := names[k.key]; {
		case len(same) < 2:
		case same[0] != k.name:
			continue
		default:
			r = k.all(r, same)
		}
		all = append(all, r)
	}
	return all
}

// serverKind is about a database server. What differs in its numbers alone, as the connections of one moment and the next, is
// alike.
func serverKind(r *Result) kind {
	if r.Server == "" {
		return kind{}
	}
	return kind{fmt.Sprintf("%s %s %s %q %q", r.Server, r.ID, r.Status, withoutDigits(r.Found), r.Mend), r.Place, func(r Result, stores []string) Result {
		r.Place = fmt.Sprintf("server %s: %s", r.Server, strings.Join(stores, ", "))
		return r
	}}
}

// topicKind is about a topic, whose name is in what to do.
func topicKind(r *Result) kind {
	name, ok := strings.CutPrefix(r.Place, "topic ")
	if !ok {
		return kind{}
	}
	found, mend := strings.ReplaceAll(r.Found, name, "TOPIC"), strings.ReplaceAll(r.Mend, name, "TOPIC")
	return kind{fmt.Sprintf("%s %s %q %q", r.ID, r.Status, found, mend), name, func(r Result, topics []string) Result {
		r.Place, r.Found = "topics "+strings.Join(topics, ", "), found
		if r.Mend = mend; strings.Contains(mend, "TOPIC") {
			r.Mend = "for each TOPIC of these: " + mend
		}
		return r
	}}
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}
