package main

import (
	"slices"

	"buf.build/go/bufplugin/descriptor"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// compiled is one side of a request: files, and the paths of those that are no imports.
type compiled struct {
	files    []protoreflect.FileDescriptor
	paths    []string
	registry *protoregistry.Files
}

func schemaOf(files []descriptor.FileDescriptor) compiled {
	c := compiled{registry: new(protoregistry.Files)}
	for _, f := range files {
		file := f.ProtoreflectFileDescriptor()
		_ = c.registry.RegisterFile(file) // buf's library has linked them: no two of one name
		c.files = append(c.files, file)
		if !f.IsImport() {
			c.paths = append(c.paths, file.Path())
		}
	}
	return c
}

// asked are the files that are no imports.
func (c compiled) asked() []protoreflect.FileDescriptor {
	return slices.DeleteFunc(slices.Clone(c.files), func(f protoreflect.FileDescriptor) bool { return !slices.Contains(c.paths, f.Path()) })
}

// file is the file of a path, or nil.
func (c compiled) file(path string) protoreflect.FileDescriptor {
	f, err := c.registry.FindFileByPath(path)
	if err != nil {
		return nil
	}
	return f
}

// declaration is the declaration of a full name, or nil.
func (c compiled) declaration(name string) protoreflect.Descriptor {
	d, err := c.registry.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	return d
}
