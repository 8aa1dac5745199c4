package schema

import (
	"strings"
	"testing"
)

// A template is refused, or is its segments joined by ':' again.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"a:{b}", "a:v1:{b.c}:{d}", "{a}{b}", "a:", "{", "{a}x", "é:{a}", "a:{_x.y9}:-._"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := parseTemplate(text)
		if err != nil {
			if err.what == "" || err.mend == "" || err.offset > len(text) {
				t.Fatalf("%q: %+v", text, err)
			}
			return
		}
		parts := make([]string, len(segments))
		for i, s := range segments {
			parts[i] = s.literal
			if s.path != "" {
				parts[i] = "{" + s.path + "}"
			}
		}
		if joined := strings.Join(parts, ":"); joined != text || len(text) > maxTemplate || !strings.Contains(text, "{") {
			t.Fatalf("%q came back as %q", text, joined)
		}
	})
}
