package idemhttp

import (
	"net/http"
	"strings"
	"time"
)

// maxRetryAfter is the most that a Retry-After counts for. (RETRY-011)
const maxRetryAfter = 7 * 24 * time.Hour

// RetryAfter is how long a Retry-After header asks to wait from now: delta-seconds or an HTTP date, seven days at
// most. It is 0 where there is none, where the date is past, and where the value is neither: a negative
// number, a fraction. 0 is no leave to hurry: the policy's backoff is the least (RETRY-011).
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if seconds, ok := deltaSeconds(value); ok {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), maxRetryAfter)
}

// deltaSeconds reads digits; a number of any length is at most seven days.
func deltaSeconds(s string) (int64, bool) {
	n := int64(0)
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(s[i]-'0'), int64(maxRetryAfter/time.Second))
	}
	return n, s != ""
}
