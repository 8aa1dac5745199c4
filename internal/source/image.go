package source

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/schema"
)

// ReadImage reads an image from a stream, whose name its errors give.
func ReadImage(r io.Reader, name string) (*Files, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.GetFile()) == 0 {
		return nil, fmt.Errorf("%s is no image: write one with `buf build -o image.binpb`", name)
	}
	all, err := schema.Link(set.GetFile())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Files{All: all, Paths: asked(set.GetFile())}, nil
}

// asked returns the paths of the files that an image is about. buf marks the others; without the mark
// all files are.
func asked(files []*descriptorpb.FileDescriptorProto) []string {
	var paths []string
	for _, f := range files {
		if !isImport(f.ProtoReflect().GetUnknown()) {
			paths = append(paths, f.GetName())
		}
	}
	return paths
}

// isImport looks for buf's mark in a file's unknown fields: is_import, field 1 of the message in field
// 8042 (buf.alpha.image.v1).
func isImport(unknown []byte) bool {
	mark := false
	for len(unknown) > 0 {
		number, kind, n := protowire.ConsumeTag(unknown)
		if n < 0 {
			return false
		}
		m := protowire.ConsumeFieldValue(number, kind, unknown[n:])
		if m < 0 {
			return false
		}
		value := unknown[n : n+m]
		switch {
		case number == 8042 && kind == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			mark = mark || isImport(inner)
		case number == 1 && kind == protowire.VarintType:
			is, _ := protowire.ConsumeVarint(value)
			mark = is != 0
		}
		unknown = unknown[n+m:]
	}
	return mark
}
