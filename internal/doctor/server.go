package doctor

import (
	"fmt"
	"strings"
	"unicode"
)

// ByServer tells once what was found alike in several databases of a server: its place is the server, with those
// databases. What differs in its numbers alone, as the connections of one moment and the next, is alike.
func ByServer(results []Result) []Result {
	keys, places := make([]string, len(results)), map[string][]string{}
	for i := range results {
		r := &results[i]
		if r.Server == "" {
			continue
		}
		key := fmt.Sprintf("%s %s %s %q %q", r.Server, r.ID, r.Status, withoutDigits(r.Found), r.Mend)
		for last := len(places[key]) - 1; last >= 0 && places[key][last] == r.Place; last = len(places[key]) - 1 {
			key += "+" // the second such finding of a place is another
		}
		keys[i], places[key] = key, append(places[key], r.Place)
	}
	var all []Result
	for i, r := range results {
		of := places[keys[i]]
		switch {
		case len(of) < 2:
		case of[0] != r.Place:
			continue
		default:
			r.Place = fmt.Sprintf("server %s: %s", r.Server, strings.Join(of, ", "))
		}
		all = append(all, r)
	}
	return all
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}
