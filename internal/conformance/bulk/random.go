package bulk

import "math/bits"

// random is splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
type random struct{ state uint64 }

const gamma = 0x9e3779b97f4a7c15

// newRandom returns the numbers of one case. Its start is mixed twice: neighbours would otherwise
// have the same numbers, one place apart.
func newRandom(seed, i uint64) *random {
	return &random{state: mix(mix(seed+gamma) + i*gamma)}
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) uint64() uint64 {
	r.state += gamma
	return mix(r.state)
}

// below returns a number of 0 to n-1.
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.uint64(), uint64(n))
	return int(high)
}

// between returns a number of lo to hi.
func (r *random) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// percent is true in n of 100 calls.
func (r *random) percent(n int) bool { return r.below(100) < n }

// pick returns one of the choices.
func pick[T any](r *random, choices ...T) T { return choices[r.below(len(choices))] }
