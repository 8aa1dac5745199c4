package source

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
)

// withPositions has the parts of an option in braces have positions, as buf's compiler gives them.
const withPositions = protocompile.SourceInfoStandard | protocompile.SourceInfoExtraOptionLocations

// Mentioning are the files of Paths whose text has a word.
func (f *Files) Mentioning(word string) []string {
	return slices.DeleteFunc(slices.Clone(f.Paths), func(path string) bool {
		return !bytes.Contains(f.Source(path), []byte(word))
	})
}

// Locate adds the source positions of files that were read without. Each is compiled once more, against what
// it imports as it is.
func (f *Files) Locate(ctx context.Context, paths ...string) error {
	wanted := slices.Compact(slices.Sorted(slices.Values(paths)))
	wanted = slices.DeleteFunc(wanted, func(path string) bool { return f.bare[path] == nil })
	if len(wanted) == 0 {
		return nil
	}
	compiled := make(map[string]protocompile.SearchResult, len(f.All))
	for _, file := range f.All {
		compiled[file.Path()] = protocompile.SearchResult{Desc: file}
	}
	for _, path := range wanted {
		delete(compiled, path)
	}
	sources := resolver(f.roots, f.texts.open)
	compiler := protocompile.Compiler{
		Resolver: protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
			if result, ok := compiled[path]; ok {
				return result, nil
			}
			return sources.FindFileByPath(path)
		}),
		SourceInfoMode: withPositions,
	}
	located, err := compiler.Compile(ctx, wanted...)
	if err != nil {
		return fmt.Errorf("the schema has changed while it was read: %w", err)
	}
	for _, file := range located {
		result, ok := file.(linker.Result)
		if !ok {
			continue
		}
		bare := f.bare[file.Path()]
		bare.FileDescriptorProto().SourceCodeInfo = result.FileDescriptorProto().GetSourceCodeInfo()
		bare.PopulateSourceCodeInfo()
		delete(f.bare, file.Path())
	}
	return nil
}
