// Package golang emits Go over protogen.
package golang

import (
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

// Emit is the emitter of Go.
func Emit(set *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	return nil, nil
}

// CheckPackages refuses files whose Go package is not known, or is one that cannot work.
func CheckPackages(req *pluginpb.CodeGeneratorRequest, imports map[string]string) []schema.Problem {
	return nil
}
