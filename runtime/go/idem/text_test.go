package idem_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func component(t *testing.T, s string) (string, idem.Code) {
	t.Helper()
	return text(t, func(dst []byte) ([]byte, error) { return idem.AppendString(dst, s) })
}

func TestStringEscapesEveryOtherByte(t *testing.T) {
	t.Parallel()
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"
	for c := 0; c < 128; c++ {
		w := fmt.Sprintf("%%%02X", c)
		if strings.IndexByte(plain, byte(c)) >= 0 {
			w = string(rune(c))
		}
		got, code := component(t, "a"+string(rune(c))+"z")
		want(t, got, code, "a"+w+"z", "")
	}
}

func TestStringIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, out string }{
		{"empty", "", ""},
		{"blank at the ends", " a ", "%20a%20"},
		{"separator", "a:b", "a%3Ab"},
		{"absence cannot be forged", "~", "%7E"},
		{"percent", "%41", "%2541"},
		{"plus", "a b+c", "a%20b%2Bc"},
		{"four bytes", "😀", "%F0%9F%98%80"},
		{"byte order mark", "\ufeffa", "%EF%BB%BFa"},
		{"noncharacter", "\uffff", "%EF%BF%BF"},
		{"not normalised", "e\u0301", "e%CC%81"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, code := component(t, c.in)
			want(t, got, code, c.out, "")
		})
	}
}

func TestStringIllFormedIsRefused(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"continuation alone": "a\x80",
		"cut sequence":       "\xf0\x9f\x98",
		"overlong":           "\xc0\x80",
		"surrogate":          "\xed\xa0\x80",
		"pair of surrogates": "\xed\xa0\xbd\xed\xb8\x80",
		"beyond Unicode":     "\xf4\x90\x80\x80",
		"never a byte":       "\xff",
		"behind a megabyte":  strings.Repeat("a", 1<<20) + "\xff",
		"behind the limit":   strings.Repeat("é", 1<<10) + "\xff",
	} {
		if _, code := component(t, in); code != idem.CodeStringUTF8 {
			t.Errorf("%s: got code %q", name, code)
		}
	}
}

// A hostile string is checked as a whole, and copied no further than the longest key.
func TestStringOutputIsBounded(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"a", "é", "a:", strings.Repeat("a", 1000) + ":", strings.Repeat(":", 341) + "a"} {
		in := strings.Repeat(piece, 1<<20/len(piece))
		got, code := component(t, in)
		if code != "" || len(got) <= idem.MaxKeyLen || len(got) > idem.MaxKeyLen+3 {
			t.Errorf("%.8q: got %d bytes, code %q", piece, len(got), code)
		}
		if !strings.HasPrefix(strings.ReplaceAll(url.QueryEscape(in), "+", "%20"), got) {
			t.Errorf("%.8q: got %q", piece, got)
		}
	}
	got, _ := component(t, strings.Repeat("é", 170)+"abcd")
	if len(got) != idem.MaxKeyLen {
		t.Errorf("got %d bytes of exactly %d", len(got), idem.MaxKeyLen)
	}
}

func TestBytesAreHex(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{nil, {}, {0, 0xff, 0x0a}, bytes.Repeat([]byte{0xab}, 512)} {
		if got := idem.AppendBytes(nil, b); string(got) != hex.EncodeToString(b) {
			t.Errorf("%x: got %s", b, got)
		}
	}
	if got := idem.AppendBytes(nil, make([]byte, 1<<20)); len(got) != idem.MaxKeyLen+2 {
		t.Errorf("a megabyte: got %d bytes", len(got))
	}
}

func TestDigestIsOfTheUnescapedText(t *testing.T) {
	t.Parallel()
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:])[:32]
	}
	for _, n := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 5000} {
		s := strings.Repeat("é", n/2) + strings.Repeat(":", n%2)
		if got := idem.AppendDigest([]byte("x"), s); string(got) != "x"+sum(s) {
			t.Errorf("%d bytes of text: got %s", n, got)
		}
		if got, err := idem.AppendStringDigest(nil, s); err != nil || string(got) != sum(s) {
			t.Errorf("%d bytes of string: got %s, %v", n, got, err)
		}
		b := bytes.Repeat([]byte{0xAB}, n)
		if got := idem.AppendBytesDigest(nil, b); string(got) != sum(hex.EncodeToString(b)) {
			t.Errorf("%d bytes: got %s", n, got)
		}
	}
	if got := idem.DigestTail([]byte("before:100"), len("before:")); string(got) != "before:"+sum("100") {
		t.Errorf("got %s", got)
	}
	_, err := idem.AppendStringDigest(nil, "\xff")
	if idem.CodeOf(err) != idem.CodeStringUTF8 {
		t.Errorf("got %v", err)
	}
}

func TestStringDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 256)
	b := []byte("0123")
	withoutAllocation(t, func() {
		buf, _ = idem.AppendString(buf[:0], "order-1")
		buf, _ = idem.AppendString(buf[:0], "order/1 é")
		buf = idem.AppendBytes(buf[:0], b)
		buf, _ = idem.AppendStringDigest(buf[:0], "a secret")
	})
}

// FuzzString: the text is well-formed or refused, the component is plain, and unescaping brings it back.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "order-1", "a:b~%", "é😀", "\xed\xa0\x80", "\xff", strings.Repeat("é", 600)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := idem.AppendString(nil, s)
		if utf8.ValidString(s) != (err == nil) {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil {
			if e := err.(*idem.Error); utf8.ValidString(s[:e.Offset]) == false || utf8.ValidString(e.Value) == false {
				t.Fatalf("%q: offset %d, value %q", s, e.Offset, e.Value)
			}
			return
		}
		if len(got) > idem.MaxKeyLen {
			return
		}
		if back, err := url.PathUnescape(string(got)); err != nil || back != s {
			t.Fatalf("%q is %q, which is %q, %v", s, got, back, err)
		}
	})
}
