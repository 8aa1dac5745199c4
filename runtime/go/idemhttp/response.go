package idemhttp

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// recorder keeps a response back until its record is durable. One that grows over the limit is sent as it
// comes from there on, and only its status is kept.
type recorder struct {
	w         http.ResponseWriter
	header    http.Header
	status    int
	body      bytes.Buffer
	limit     int
	kept      map[string]bool
	sent      http.Header // the headers as they were at WriteHeader
	streaming bool
}

func (rec *recorder) Header() http.Header { return rec.header }

func (rec *recorder) WriteHeader(status int) {
	if rec.status != 0 {
		return
	}
	if status < 200 { // informational: goes out at once, as net/http has it
		maps.Copy(rec.w.Header(), rec.header)
		rec.w.WriteHeader(status)
		return
	}
	rec.status, rec.sent = status, rec.header.Clone()
	for _, name := range announced(rec.sent) {
		delete(rec.sent, name)
	}
}

func (rec *recorder) Write(b []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	if !rec.streaming && rec.body.Len()+len(b) <= rec.limit {
		return rec.body.Write(b)
	}
	if !rec.streaming {
		rec.send()
		rec.streaming = true
	}
	return rec.w.Write(b)
}

// Flush sends what there is only of a response that is sent as it comes.
func (rec *recorder) Flush() {
	if rec.streaming {
		_ = http.NewResponseController(rec.w).Flush()
	}
}

// code is the status; 200 where the handler wrote nothing.
func (rec *recorder) code() int {
	if rec.status == 0 {
		return http.StatusOK
	}
	return rec.status
}

// send sends the response, whatever is kept of it; of one that is sent as it comes, the trailers.
func (rec *recorder) send() {
	rec.WriteHeader(http.StatusOK)
	if rec.streaming {
		maps.Copy(rec.w.Header(), rec.trailers())
		return
	}
	maps.Copy(rec.w.Header(), rec.sent)
	maps.Copy(rec.w.Header(), rec.trailers())
	if rec.sent.Get("Content-Type") == "" && rec.body.Len() > 0 {
		rec.w.Header().Set("Content-Type", http.DetectContentType(rec.body.Bytes()))
	}
	rec.w.WriteHeader(rec.status)
	_, _ = rec.w.Write(rec.body.Bytes())
	rec.body.Reset()
}

// The forms of a result, its first byte.
const (
	formWhole    = 1 // status, headers and trailers, body
	formTooLarge = 2 // status
)

// result is the response for the record: what respondAgain reads.
func (rec *recorder) result() []byte {
	rec.WriteHeader(http.StatusOK)
	if !rec.streaming {
		b := binary.AppendUvarint([]byte{formWhole}, uint64(rec.status))
		headers := rec.trailers()
		for name, values := range rec.sent {
			if rec.kept[name] {
				headers[name] = values
			}
		}
		if rec.body.Len() > 0 && len(headers["Content-Type"]) == 0 {
			headers["Content-Type"] = []string{http.DetectContentType(rec.body.Bytes())}
		}
		n := 0
		for _, values := range headers {
			n += len(values)
		}
		b = binary.AppendUvarint(b, uint64(n))
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			for _, value := range headers[name] {
				b = appendText(appendText(b, name), value)
			}
		}
		if len(b)+rec.body.Len() <= rec.limit {
			return append(b, rec.body.Bytes()...)
		}
	}
	return binary.AppendUvarint([]byte{formTooLarge}, uint64(rec.status))
}

// respondAgain writes a response that was kept.
func respondAgain(w http.ResponseWriter, result []byte) {
	r := reader{result}
	form := r.byte()
	status := r.number()
	switch {
	case form == formTooLarge && !r.failed():
		w.Header().Set("Idem-Original-Status", strconv.FormatUint(status, 10))
		problemResponseGone.write(w, 0)
		return
	case form == formWhole:
		for n := r.number(); n > 0 && !r.failed(); n-- {
			name := r.text()
			w.Header().Add(name, r.text())
			if trailer, is := strings.CutPrefix(name, http.TrailerPrefix); is && !slices.Contains(announced(w.Header()), trailer) {
				w.Header().Add("Trailer", trailer)
			}
		}
	}
	if form != formWhole || r.failed() || status < 200 || status > 999 {
		clear(w.Header())
		problemRecordUnread.write(w, 0)
		return
	}
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(int(status))
	_, _ = w.Write(r.rest)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader takes a result apart. After a fault it gives zeros, and failed.
type reader struct{ rest []byte }

func (r *reader) failed() bool { return r.rest == nil }

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.rest = nil
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) text() string {
	n := r.number()
	if r.failed() || n > uint64(len(r.rest)) {
		r.rest = nil
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}
