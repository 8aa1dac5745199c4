// Package java emits Java over a schema.
package java

import (
	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

// Emit is the emitter of Java.
func Emit(set *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	return nil, nil
}
