// Package python emits Python over a schema.
package python

import (
	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

// Emit is the emitter of Python.
func Emit(set *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	return nil, nil
}
