package suppress

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Declaration is the full name of the declaration that a place in a file is in; "" for the file itself.
func Declaration(file protoreflect.FileDescriptor, path protoreflect.SourcePath) string {
	if file == nil {
		return ""
	}
	var at protoreflect.Descriptor = file
	for len(path) >= 2 {
		inner := child(at, path[0], int(path[1]))
		if inner == nil {
			break
		}
		at, path = inner, path[2:]
	}
	if at == protoreflect.Descriptor(file) {
		return ""
	}
	return string(at.FullName())
}

// child is the declaration in another at a field of descriptor.proto and an index, or nil.
func child(at protoreflect.Descriptor, field int32, index int) protoreflect.Descriptor {
	switch at := at.(type) {
	case protoreflect.FileDescriptor:
		switch field {
		case 4:
			return get(at.Messages(), index)
		case 5:
			return get(at.Enums(), index)
		case 7:
			return get(at.Extensions(), index)
		}
	case protoreflect.MessageDescriptor:
		switch field {
		case 2:
			return get(at.Fields(), index)
		case 3:
			return get(at.Messages(), index)
		case 4:
			return get(at.Enums(), index)
		case 6:
			return get(at.Extensions(), index)
		case 8:
			return get(at.Oneofs(), index)
		}
	case protoreflect.EnumDescriptor:
		if field == 2 {
			return get(at.Values(), index)
		}
	}
	return nil
}

// get is an element of a list of declarations, or nil.
func get[D protoreflect.Descriptor](list interface {
	Len() int
	Get(int) D
}, index int) protoreflect.Descriptor {
	if index < 0 || index >= list.Len() {
		return nil
	}
	return list.Get(index)
}
