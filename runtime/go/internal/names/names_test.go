package names_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/runtime/go/internal/names"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"", "payments", "Payments.paid_2-x", ".", strings.Repeat("n", 200)} {
		assert.True(t, names.Is(name), name)
	}
	for _, other := range []string{"a b", "a/b", "a:b", "é", "a\x00", "@", "[", "`", "{", strings.Repeat("n", 201)} {
		assert.False(t, names.Is(other), other)
	}
}
