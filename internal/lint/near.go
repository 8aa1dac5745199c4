package lint

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near is what was probably meant by a word that is none of these, or "".
func Near(word string, known []string) string {
	near, least := "", 1+max(2, len(word)/5)
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		// Words that have nothing in common are not near, however short.
		if n := levenshtein.ComputeDistance(word, k); n < least && n < max(len(word), len(k)) {
			near, least = k, n
		}
	}
	return near
}

// DidYouMean continues an error about such a word: "; did you mean …?", or nothing.
func DidYouMean(word string, known []string) string {
	if near := Near(word, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
