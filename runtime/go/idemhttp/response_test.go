package idemhttp

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func kept(status int, header http.Header, body string) []byte {
	rec := &recorder{w: httptest.NewRecorder(), header: header, limit: 1000, kept: map[string]bool{"Location": true, "Content-Type": true}}
	rec.WriteHeader(status)
	_, _ = rec.Write([]byte(body))
	return rec.result()
}

func TestRecordThatCannotBeReadIs500AndNamesNothing(t *testing.T) {
	t.Parallel()
	whole := kept(201, http.Header{"Location": {"/1"}, "Content-Type": {"text/plain"}}, "")
	for n := range len(whole) {
		w := httptest.NewRecorder()
		respondAgain(w, whole[:n])
		assert.Equal(t, http.StatusInternalServerError, w.Code, "%d bytes", n)
		assert.Empty(t, w.Header().Get("Location"))
		assert.Contains(t, w.Body.String(), "RECORD_UNREAD")
	}
	w := httptest.NewRecorder()
	respondAgain(w, whole)
	assert.Equal(t, 201, w.Code)
}

func TestHeadersAfterWriteHeaderAreNotSent(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	rec := &recorder{w: w, header: http.Header{}, limit: 10}
	rec.Header().Set("X-Before", "1")
	rec.WriteHeader(202)
	rec.WriteHeader(500)
	rec.Header().Set("X-After", "1")
	rec.send()
	assert.Equal(t, 202, w.Code)
	assert.Equal(t, "1", w.Header().Get("X-Before"))
	assert.Empty(t, w.Header().Get("X-After"))
}

func FuzzRespondAgain(f *testing.F) {
	f.Add(kept(200, http.Header{"Location": {"/1"}}, "body"))
	f.Add([]byte{formTooLarge, 0xc9, 1})
	f.Add([]byte{formWhole, 0xc8, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, result []byte) {
		w := httptest.NewRecorder()
		respondAgain(w, result)
		if w.Code < 200 {
			t.Errorf("status %d", w.Code)
		}
	})
}
