package idem_test

import (
	"net/http"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	classOK        = idem.OutcomeOK
	classRetry     = idem.OutcomeRetryable
	classThrottled = idem.OutcomeThrottled
	classNever     = idem.OutcomeNonRetryable
)

func TestHTTPStatus(t *testing.T) {
	t.Parallel()
	for status, w := range map[int]idem.Outcome{
		http.StatusContinue: classRetry, http.StatusOK: classOK, 299: classOK, http.StatusMovedPermanently: classNever,
		http.StatusBadRequest: classNever, http.StatusRequestTimeout: classRetry, http.StatusConflict: classRetry,
		http.StatusMisdirectedRequest: classRetry, http.StatusLocked: classRetry, http.StatusTooEarly: classRetry,
		http.StatusUnprocessableEntity: classNever, http.StatusTooManyRequests: classThrottled, 499: classNever,
		http.StatusInternalServerError: classRetry, http.StatusNotImplemented: classNever, http.StatusBadGateway: classRetry,
		http.StatusServiceUnavailable: classThrottled, http.StatusGatewayTimeout: classRetry,
		http.StatusHTTPVersionNotSupported: classNever, http.StatusVariantAlsoNegotiates: classNever,
		http.StatusInsufficientStorage: classRetry, http.StatusLoopDetected: classNever, http.StatusNotExtended: classNever, 599: classRetry,
	} {
		if got, err := idem.ClassifyHTTP(status); got != w || err != nil {
			t.Errorf("%d: got %v, %v, want %v", status, got, err, w)
		}
	}
	for _, status := range []int{-1, 0, 99, 600} {
		if _, err := idem.ClassifyHTTP(status); idem.CodeOf(err) != idem.CodeInputInvalid {
			t.Errorf("%d: got %v", status, err)
		}
	}
}

func TestGRPCCode(t *testing.T) {
	t.Parallel()
	for code, w := range []idem.Outcome{
		classOK, classRetry, classRetry, classNever, classRetry, classNever, classNever, classNever, classThrottled,
		classNever, classRetry, classNever, classNever, classRetry, classRetry, classNever, classNever, classRetry,
	} {
		if got, err := idem.ClassifyGRPC(int32(code)); got != w || err != nil {
			t.Errorf("%d: got %v, %v, want %v", code, got, err, w)
		}
	}
	if _, err := idem.ClassifyGRPC(-1); idem.CodeOf(err) != idem.CodeInputInvalid {
		t.Errorf("-1: got %v", err)
	}
}

func TestSQLState(t *testing.T) {
	t.Parallel()
	for code, w := range map[string]idem.Outcome{
		"00000": classOK, "40001": classRetry, "40P01": classRetry, "40002": classNever, "40000": classRetry,
		"23505": classNever, "25006": classRetry, "25001": classNever, "25P02": classRetry, "25P03": classRetry, "08006": classRetry,
		"53300": classRetry, "57014": classRetry, "0A000": classNever, "2B000": classNever, "XX000": classRetry, "ZZ999": classRetry,
	} {
		if got, err := idem.ClassifySQLState(code); got != w || err != nil {
			t.Errorf("%s: got %v, %v, want %v", code, got, err, w)
		}
	}
	for _, code := range []string{"", "4000", "400011", "4000a", "4000é", "4000 "} {
		if _, err := idem.ClassifySQLState(code); idem.CodeOf(err) != idem.CodeInputInvalid {
			t.Errorf("%q: got %v", code, err)
		}
	}
}

func TestKafkaCode(t *testing.T) {
	t.Parallel()
	for code, w := range map[int16]idem.Outcome{
		-32768: classRetry, -1: classRetry, 0: classOK, 1: classNever, 3: classRetry, 10: classNever, 22: classRetry,
		64: classNever, 89: classThrottled, 90: classRetry, 128: classNever, 131: classNever, 132: classRetry, 192: classRetry, 32767: classRetry,
	} {
		if got := idem.ClassifyKafka(code); got != w {
			t.Errorf("%d: got %v, want %v", code, got, w)
		}
	}
}

func TestNetWord(t *testing.T) {
	t.Parallel()
	for word, w := range map[string]idem.Outcome{
		"timeout": classRetry, "dns_timeout": classRetry, "dns_not_found": classNever, "tls_certificate": classNever,
		"tls_hostname": classNever, "url_invalid": classNever, "something_else": classRetry,
	} {
		if got, err := idem.ClassifyNet(word); got != w || err != nil {
			t.Errorf("%s: got %v, %v, want %v", word, got, err, w)
		}
	}
	for _, word := range []string{"", "Timeout", "a b", "a1", "é"} {
		if _, err := idem.ClassifyNet(word); idem.CodeOf(err) != idem.CodeInputInvalid {
			t.Errorf("%q: got %v", word, err)
		}
	}
}
