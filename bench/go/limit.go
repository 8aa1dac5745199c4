package bench

import (
	"errors"

	benchv1 "github.com/idem-spec/idem/bench/go/gen/bench/v1"
	shopv1 "github.com/idem-spec/idem/bench/go/gen/shop/v1"
)

// The limit is the key by hand, for input that is known to be canonical: the same bytes, with the checks
// that may not be left out. A component that is not set, one with a byte that would have to be escaped,
// and a key over 1024 bytes are errors. It does not see a decimal like 1.50, which is why nobody should
// write this.

var (
	errMissing = errors.New("a component is missing")
	errEscape  = errors.New("a component would have to be escaped")
	errTooLong = errors.New("a key has at most 1024 bytes")
	errRange   = errors.New("a timestamp is out of range")
)

// limitShopKey is succeeded's key by hand.
func limitShopKey(dst []byte, x *shopv1.PaymentSucceeded) ([]byte, error) {
	start := len(dst)
	dst = append(dst, "payments.payment_success:v1:"...)
	dst, err := limitText(dst, x.GetPaymentId())
	if err != nil {
		return dst[:start], err
	}
	if len(dst)-start > 1024 {
		return dst[:start], errTooLong
	}
	return dst, nil
}

// limitSettledKey is settled's key by hand.
func limitSettledKey(dst []byte, x *benchv1.PaymentSettled) ([]byte, error) {
	start := len(dst)
	dst = append(dst, "payments.payment_settled:v1:"...)
	dst, err := limitText(dst, x.GetPaymentId())
	if err != nil {
		return dst[:start], err
	}
	dst = append(dst, ':')
	if dst, err = limitText(dst, x.GetAmount()); err != nil {
		return dst[:start], err
	}
	dst = append(dst, ':')
	if dst, err = limitText(dst, x.GetCurrency()); err != nil {
		return dst[:start], err
	}
	dst = append(dst, ':')
	at := x.GetOccurredAt()
	if at == nil {
		return dst[:start], errMissing
	}
	if dst, err = limitTime(dst, at.GetSeconds(), at.GetNanos()); err != nil {
		return dst[:start], err
	}
	if len(dst)-start > 1024 {
		return dst[:start], errTooLong
	}
	return dst, nil
}

func limitText(dst []byte, s string) ([]byte, error) {
	if s == "" {
		return dst, errMissing
	}
	for i := 0; i < len(s); i++ {
		if !limitPlain[s[i]] {
			return dst, errEscape
		}
	}
	return append(dst, s...), nil
}

var limitPlain = func() (plain [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._" {
		plain[c] = true
	}
	return plain
}()

// limitTime appends a time in milliseconds, by the fastest calendar that is known (Neri and Schneider,
// Euclidean affine functions, 2022).
func limitTime(dst []byte, seconds int64, nanos int32) ([]byte, error) {
	if seconds < -62135596800 || seconds > 253402300799 || nanos < 0 || nanos > 999999999 {
		return dst, errRange
	}
	s := uint64(seconds + 62135596800)
	n, second := 4*(uint32(s/86400)+306)+3, uint32(s%86400)
	century := n / 146097
	p := uint64(2939745) * uint64(n%146097|3)
	year := 100*century + uint32(p>>32)
	dayOfYear := uint32(p) / 2939745 / 4
	n = 2141*dayOfYear + 197913
	month, day := n>>16, n&0xffff/2141+1
	if dayOfYear >= 306 {
		year, month = year+1, month-12
	}
	start := len(dst)
	dst = append(dst, "0000-00-00T00:00:00.000Z"...)
	b := (*[24]byte)(dst[start:])
	limitTwo(b[0:2], year/100)
	limitTwo(b[2:4], year%100)
	limitTwo(b[5:7], month)
	limitTwo(b[8:10], day)
	limitTwo(b[11:13], second/3600)
	limitTwo(b[14:16], second/60%60)
	limitTwo(b[17:19], second%60)
	ms := uint32(nanos) / 1000000
	limitTwo(b[20:22], ms/10)
	b[22] = byte('0' + ms%10)
	return dst, nil
}

func limitTwo(b []byte, v uint32) {
	_ = b[1]
	b[0], b[1] = byte('0'+v/10), byte('0'+v%10)
}
