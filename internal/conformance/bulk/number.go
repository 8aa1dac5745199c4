package bulk

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// edges are the integers near which languages differ.
var edges = func() []*big.Int {
	var all []*big.Int
	for _, bit := range []uint{0, 7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 65, 96} {
		power := new(big.Int).Lsh(big.NewInt(1), bit)
		for _, d := range []int64{-1, 0, 1} {
			n := new(big.Int).Add(power, big.NewInt(d))
			all = append(all, n, new(big.Int).Neg(n))
		}
	}
	return all
}()

// anyInteger returns an integer of up to 30 digits, often one of the edges.
func anyInteger(r *random) string {
	switch r.below(4) {
	case 0:
		return strconv.FormatInt(int64(r.uint64())>>r.below(64), 10)
	case 1:
		digits := string('1'+byte(r.below(9))) + digits(r, r.below(30))
		return pick(r, "", "-") + digits
	default:
		return edges[r.below(len(edges))].String()
	}
}

// in returns an integer of lo to hi: the ends, small ones, and all others.
func in(r *random, lo, hi int64) int64 {
	width := uint64(hi) - uint64(lo)
	switch r.below(10) {
	case 0:
		return lo
	case 1:
		return hi
	case 2:
		return lo + int64(min(uint64(r.below(3)), width))
	case 3:
		return hi - int64(min(uint64(r.below(3)), width))
	case 4, 5, 6:
		// As many digits in one case as in another.
		n := r.uint64() >> r.below(64)
		if lo < 0 && hi > 0 && r.percent(50) {
			return max(lo, -int64(n>>1))
		}
		if lo < 0 && hi > 0 {
			return min(hi, int64(n>>1))
		}
		return lo + int64(min(n, width))
	default:
		if width == math.MaxUint64 {
			return int64(r.uint64())
		}
		return lo + int64(r.uint64()%(width+1))
	}
}

// integer returns an integer of lo to hi; one in twelve is outside, mostly next to an end.
func integer(r *random, lo, hi int64) string {
	if r.below(12) > 0 {
		return strconv.FormatInt(in(r, lo, hi), 10)
	}
	n := big.NewInt(hi)
	switch r.below(3) {
	case 0:
		return n.Add(n, big.NewInt(1)).String()
	case 1:
		return n.Sub(big.NewInt(lo), big.NewInt(1)).String()
	default:
		return anyInteger(r)
	}
}

// good returns an integer of lo to hi as text.
func good(r *random, lo, hi int64) string { return strconv.FormatInt(in(r, lo, hi), 10) }

// digits returns n digits.
func digits(r *random, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0' + byte(r.below(10))
	}
	return string(b)
}

// fixed returns n with zeros in front, width digits in all.
func fixed(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// uncanonical writes an integer, or what takes its place, as CONF-020 does not have it.
func uncanonical(r *random, s string) string {
	switch r.below(8) {
	case 0:
		return "0" + s
	case 1:
		return "+" + s
	case 2:
		return "-0"
	case 3:
		return s + ".0"
	case 4:
		return " " + s
	case 5:
		return s + "\n"
	case 6:
		return "1e3"
	default:
		return "٣"
	}
}

// fractionDigits returns a number of digits, now and then one that there is not.
func fractionDigits(r *random) string {
	if r.percent(1) {
		return pick(r, "10", "-1", "4294967296")
	}
	return strconv.Itoa(r.below(10))
}
