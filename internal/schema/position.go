package schema

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The field numbers of descriptor.proto that source paths are made of.
const (
	fileMessages      = 4
	fileEnums         = 5
	fileExtensions    = 7
	messageFields     = 2
	messageMessages   = 3
	messageEnums      = 4
	messageExtensions = 6
	messageOneofs     = 8
	messageOptions    = 7
	fieldOptions      = 8
	enumValues        = 2
	enumOptions       = 3
	enumValueOptions  = 3
)

// place is a declaration, and the path of an option of it, "" for the declaration itself.
type place struct {
	decl   protoreflect.Descriptor
	option []int32
}

// at is the place of an option of a declaration: the number of the extension, then field numbers
// and indexes below it.
func at(decl protoreflect.Descriptor, option ...int32) place { return place{decl, option} }

// below is the place of a part of the option.
func (p place) below(numbers ...int32) place {
	option := make([]int32, 0, len(p.option)+len(numbers))
	return place{p.decl, append(append(option, p.option...), numbers...)}
}

// location is where the place begins. What has no position of its own, as a part of an option that
// is written in braces, has that of the smallest thing around it that has one.
func (p place) location() (loc protoreflect.SourceLocation, ok bool) {
	locations := p.decl.ParentFile().SourceLocations()
	path := sourcePath(p.decl)
	shortest := len(path)
	if len(p.option) > 0 {
		path = append(path, optionsNumber(p.decl))
		path = append(path, p.option...)
	}
	for n := len(path); n >= shortest && n > 0; n-- {
		if loc := locations.ByPath(path[:n]); loc.Path != nil {
			return loc, true
		}
	}
	return protoreflect.SourceLocation{}, false
}

// exactly returns the location of the place and of nothing around it.
func (p place) exactly() protoreflect.SourceLocation {
	path := append(sourcePath(p.decl), optionsNumber(p.decl))
	return p.decl.ParentFile().SourceLocations().ByPath(append(path, p.option...))
}

// problem makes a problem at the place.
func (p place) problem(rule, what, mend string) Problem {
	problem := Problem{File: p.decl.ParentFile().Path(), Line: 1, Column: 1, Rule: rule, What: what, Mend: mend}
	if loc, ok := p.location(); ok {
		problem.Line, problem.Column = loc.StartLine+1, loc.StartColumn+1
	}
	return problem
}

// sourcePath is the path of a declaration in its file.
func sourcePath(d protoreflect.Descriptor) protoreflect.SourcePath {
	parent := d.Parent()
	if parent == nil {
		return nil
	}
	var kind int32
	_, inFile := parent.(protoreflect.FileDescriptor)
	switch d := d.(type) {
	case protoreflect.MessageDescriptor:
		kind = pick(inFile, fileMessages, messageMessages)
	case protoreflect.EnumDescriptor:
		kind = pick(inFile, fileEnums, messageEnums)
	case protoreflect.EnumValueDescriptor:
		kind = enumValues
	case protoreflect.OneofDescriptor:
		kind = messageOneofs
	case protoreflect.FieldDescriptor:
		kind = messageFields
		if d.IsExtension() {
			kind = pick(inFile, fileExtensions, messageExtensions)
		}
	default:
		return nil
	}
	return append(sourcePath(parent), kind, int32(d.Index()))
}

func pick(first bool, a, b int32) int32 {
	if first {
		return a
	}
	return b
}

// optionsNumber is the number of the field that holds the options of a declaration.
func optionsNumber(d protoreflect.Descriptor) int32 {
	switch d.(type) {
	case protoreflect.MessageDescriptor:
		return messageOptions
	case protoreflect.FieldDescriptor:
		return fieldOptions
	case protoreflect.EnumDescriptor:
		return enumOptions
	case protoreflect.EnumValueDescriptor:
		return enumValueOptions
	}
	return 0
}

// At makes a problem at a declaration, or at the beginning of a file.
func At(decl protoreflect.Descriptor, rule, what, mend string) Problem {
	return at(decl).problem(rule, what, mend)
}
