package idemhttp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// problem is an answer of the middleware's own, by RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what to do.
	Detail string `json:"detail"`
	// Code is a word of the spec, or one like them.
	Code string `json:"code"`
}

func newProblem(status int, code, name, title, detail string) problem {
	return problem{Type: "urn:idem:problem:" + name, Title: title, Status: status, Detail: detail, Code: code}
}

var (
	problemKeyMissing = newProblem(http.StatusBadRequest, "KEY_MISSING", "key-missing", "An Idempotency-Key is needed",
		`Send the header Idempotency-Key: "<key>", one key for one intent, and the same key when you send the request again.`)
	problemKeyMalformed = newProblem(http.StatusBadRequest, "KEY_SYNTAX", "key-malformed", "The Idempotency-Key cannot be read",
		`A key is 1 to 1024 visible ASCII characters without a blank, in double quotes: Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324".`)
	problemNobody = newProblem(http.StatusUnauthorized, "PRINCIPAL_MISSING", "principal-missing", "It is not known who calls",
		"Authenticate, then send the request again with the same key.")
	problemBodyTooLarge = newProblem(http.StatusRequestEntityTooLarge, "BODY_TOO_LARGE", "body-too-large", "The body is too large",
		"Send less, or by another way: a request with an idempotency key is read as a whole.")
	problemBodyUnread = newProblem(http.StatusBadRequest, "BODY_UNREAD", "body-unread", "The body ended early",
		"Send the request again with the same key: nothing was carried out.")
	problemInProgress = newProblem(http.StatusConflict, "IN_PROGRESS", "in-progress", "A request with this key is being carried out",
		"Send it again with the same key after the time in Retry-After, to get its response.")
	problemKeyReused = newProblem(http.StatusUnprocessableEntity, "KEY_REUSED", "key-reused", "The key was used for another request",
		"The method, path or body differs from that of the first request with this key. Send what you sent then, or use a new key for a new intent.")
	problemCrashLoop = newProblem(http.StatusLoopDetected, "CRASH_LOOP", "crash-loop", "The request ended without a word, again and again",
		"It is no longer carried out. Do not send it again; tell the service's operators its key.")
	problemUnavailable = newProblem(http.StatusServiceUnavailable, "STORE_UNAVAILABLE", "store-unavailable", "The record of keys does not answer",
		"Nothing was carried out. Send the request again with the same key after the time in Retry-After.")
	problemResponseGone = newProblem(http.StatusGone, "RESPONSE_GONE", "response-gone", "The request was carried out, and its response was too large to keep",
		"Do not send it again; read the result from where it can be read. Idem-Original-Status has the status that the first request got.")
	problemRecordUnread = newProblem(http.StatusInternalServerError, "RECORD_UNREAD", "record-unread", "The response that was kept cannot be read",
		"The request was carried out. Its record was written by another version of the service; tell its operators the key.")
)

// because adds why.
func (p problem) because(err error) problem {
	if code := idem.CodeOf(err); code != "" {
		p.Code = string(code)
	}
	p.Detail = err.Error() + ". " + p.Detail
	return p
}

// write answers, with a Retry-After in whole seconds, rounded up, where wait is above 0.
func (p problem) write(w http.ResponseWriter, wait time.Duration) {
	body, _ := json.Marshal(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}
