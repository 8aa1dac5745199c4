package idem

import "github.com/cespare/xxhash/v2"

// maxWait is the most milliseconds that a Retry-After or a wait counts for: seven days.
const maxWait = 604800000

// Delay is how long to wait, in milliseconds.
type Delay struct {
	// BaseMs is the part that the policy, or a Retry-After, asks for.
	BaseMs int64
	// JitterMs is the part that spreads the keys.
	JitterMs int64
}

// Ms is the whole delay in milliseconds.
func (d Delay) Ms() int64 { return d.BaseMs + d.JitterMs }

// Backoff is the n-th delay of a key, from n = 0: the schedule's n-th entry or its last, else base
// doubled n times, at most the cap; the larger of that and retryAfterMs, which is 0 where there is
// none and counts up to seven days; and the jitter, which is a hash of key and n and so the same in
// every service. Errors: CodePolicyRange, for a negative n too, then CodeKeyEmpty.
// (RETRY-010 to RETRY-014)
func Backoff(key string, n int32, p *Policy, retryAfterMs int64) (Delay, error) {
	if err := p.checkBackoff(); err != nil {
		return Delay{}, err
	}
	if n < 0 {
		return Delay{}, rule(CodePolicyRange, "a count is 0 to 2147483647")
	}
	if key == "" {
		return Delay{}, rule(CodeKeyEmpty, "a key of no bytes has no delay")
	}
	return backoff(key, n, p, retryAfterMs), nil
}

func backoff(key string, n int32, p *Policy, retryAfterMs int64) Delay {
	base := basePart(n, p)
	if retryAfterMs = atMostMaxWait(retryAfterMs); base < retryAfterMs {
		base = retryAfterMs
	}
	return Delay{BaseMs: base, JitterMs: jitter(key, n, p.BackoffJitter)}
}

func basePart(n int32, p *Policy) int64 {
	if last := len(p.BackoffSchedule) - 1; last >= 0 {
		if int64(n) < int64(last) {
			last = int(n)
		}
		return int64(p.BackoffSchedule[last])
	}
	base, most := int64(p.BackoffBase)*1000, int64(p.BackoffMax)*1000
	if n >= 63 || base > most>>uint(n) {
		return most
	}
	return base << uint(n)
}

// jitter is 0 to most milliseconds: the hash of key#n mod (most + 1), unsigned.
func jitter(key string, n, most int32) int64 {
	if most == 0 {
		return 0
	}
	var tail [12]byte
	var h xxhash.Digest
	h.Reset()
	_, _ = h.WriteString(key)
	_, _ = h.Write(AppendInt(append(tail[:0], '#'), int64(n)))
	return int64(h.Sum64() % (uint64(most) + 1))
}

// atMostMaxWait is a wait of 0 to seven days.
func atMostMaxWait(ms int64) int64 {
	if ms < 0 {
		return 0
	}
	if ms > maxWait {
		return maxWait
	}
	return ms
}
