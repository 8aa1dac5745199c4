package idem_test

import (
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestDateIsOneThatTheCalendarHas(t *testing.T) {
	t.Parallel()
	for _, year := range []int32{-1, 0, 1, 4, 100, 400, 1582, 1900, 2000, 2023, 2024, 9999, 10000} {
		for month := int32(-1); month <= 13; month++ {
			for day := int32(-1); day <= 32; day++ {
				got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendDate(dst, year, month, day) })
				at := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
				if year >= 1 && year <= 9999 && at.Day() == int(day) && at.Month() == time.Month(month) {
					want(t, got, code, at.Format("2006-01-02"), "")
				} else {
					want(t, got, code, "", idem.CodeDateRange)
				}
			}
		}
	}
}
