package java

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLiteral(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":             `""`,
		"plain":        `"plain"`,
		`a"b\c`:        `"a\"b\\c"`,
		`\u0041`:       `"\\u0041"`,
		"\t\n\r":       `"\t\n\r"`,
		"\x00\x0c\x7f": `"\000\014\177"`,
		"é日":           `"\u00e9\u65e5"`,
		"😀":            `"\ud83d\ude00"`,
	} {
		assert.Equal(t, want, literal(in))
	}
}

func TestJavadoc(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "ends &#42;/ here", javadoc("ends */ here"))
	assert.Equal(t, "&#64;see &#60;b&#62; &#38; &#92;u002a/ &#233;", javadoc(`@see <b> & \u002a/ é`))
	assert.Equal(t, []string{"one", "", "  two"}, javadocLines(" one\n\n   two \n"))
	assert.Empty(t, javadocLines(" \n"))
}
