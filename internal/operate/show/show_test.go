package show_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/show"
)

func TestTextIsHarmlessOnATerminal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain: Ünïcode 世界 🙂": "plain: Ünïcode 世界 🙂",
		"\x1b[2J\x1b]0;x\a":   `\u001b[2J\u001b]0;x\u0007`,
		"a\r\nb\tc":           `a\u000d\u000ab\u0009c`,
		"del\x7f c1\u009b":    `del\u007f c1\u009b`,
		"bidi\u202eexe":       `bidi\u202eexe`,
		"tag\U000e0041":       `tag\udb40\udc41`,
		"raw\xff\xc3":         `raw\xff\xc3`,
		"wide\u00a0blank":     `wide\u00a0blank`,
	} {
		assert.Equal(t, want, show.Text(in))
	}
}

func TestJSONStaysTheSameAndIsHarmless(t *testing.T) {
	t.Parallel()
	value := map[string]string{"a": "\x1b[31m\u009b \u202e \U000e0041 世 \x7f <&>"}
	var out bytes.Buffer
	require.NoError(t, show.Line(&out, value))
	for _, r := range out.String() {
		assert.True(t, r == '\n' || r == ' ' || unicode.IsPrint(r), "%U", r)
	}
	assert.Contains(t, out.String(), "<&>")
	var back map[string]string
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	assert.Equal(t, value, back)
}

func TestTableEscapesItsCells(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	show.Table(&out, []string{"ID", "KEY"}, [][]string{{"1", "a\tb\nc"}, {"22", ""}})
	assert.Equal(t, "ID  KEY\n1   a\\u0009b\\u000ac\n22  \n", out.String())
}

func TestAges(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m1s", 90 * time.Minute: "1h30m", 50 * time.Hour: "2d2h",
	} {
		assert.Equal(t, want, show.Age(d))
	}
}

func TestCutCountsCharacters(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "世界", show.Cut("世界", 2))
	assert.Equal(t, "世…", show.Cut("世界!", 2))
}
