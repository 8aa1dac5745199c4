package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The parsers of values return what is wrong with the text, or "".

func atLeastOne(text string) (int64, string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, "write a whole number from 1"
	}
	return n, ""
}

const day = 24 * time.Hour

// duration reads 10m, 36h or 14d.
func duration(text string) (time.Duration, string) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 32)
		if err == nil && n >= 1 && n <= 36500 {
			return time.Duration(n) * day, ""
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, ""
	}
	return 0, "write a duration such as 14d, 36h or 10m"
}

func oneOf(words ...string) func(string) (string, string) {
	return func(text string) (string, string) {
		if !slices.Contains(words, text) {
			return "", "write " + strings.Join(words, " or ")
		}
		return text, ""
	}
}
