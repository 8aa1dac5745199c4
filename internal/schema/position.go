package schema

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The field numbers of descriptor.proto that source paths are made of.
const (
	fileMessages      = 4
	fileEnums         = 5
	fileExtensions    = 7
	fileOptions       = 8
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

// Place is a declaration, or an option of it.
type Place struct {
	decl   protoreflect.Descriptor
	option []int32
}

// Decl is the place of a declaration, or of the beginning of a file.
func Decl(d protoreflect.Descriptor) Place { return Place{decl: d} }

// FieldOption is the place of (idem.v1.field) of a field, or of a part of it.
func FieldOption(d protoreflect.FieldDescriptor, numbers ...int32) Place {
	return at(d, extension).Below(numbers...)
}

// FileOption is the place of an option of a file, by its number in FileOptions.
func FileOption(f protoreflect.FileDescriptor, number int32) Place { return at(f, number) }

// Option is the place of the message's option, or of a part of it: m.Option(KeyNumber).
func (m *Message) Option(numbers ...int32) Place { return at(m.Desc, extension).Below(numbers...) }

// Option is the place of the enum's state_machine, or of a part of it.
func (e *Enum) Option(numbers ...int32) Place { return at(e.Desc, extension).Below(numbers...) }

// at is the place of an option of a declaration: the number of the extension, then field numbers
// and indexes below it.
func at(decl protoreflect.Descriptor, option ...int32) Place { return Place{decl, option} }

// Below is the place of a part of the option.
func (p Place) Below(numbers ...int32) Place {
	option := make([]int32, 0, len(p.option)+len(numbers))
	return Place{p.decl, append(append(option, p.option...), numbers...)}
}

// Decl is the declaration that the place is, or is an option of.
func (p Place) Decl() protoreflect.Descriptor { return p.decl }

// Position is where something is written.
type Position struct {
	// File is the path of the .proto file.
	File string
	// Path is the place in the file's descriptor, nil for the file itself. Where the source says nothing of
	// the place it is that of the smallest thing around it that has a position.
	Path protoreflect.SourcePath
	// Line and Column count from 1. Without source information they are 1.
	Line, Column int
	// EndLine and EndColumn are behind its last character.
	EndLine, EndColumn int
}

// Position is where the place begins and ends. What has no position of its own, as a part of an option
// that is written in braces, has that of the smallest thing around it that has one.
func (p Place) Position() Position {
	position := Position{File: p.decl.ParentFile().Path(), Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
	locations := p.decl.ParentFile().SourceLocations()
	position.Path = sourcePath(p.decl)
	shortest := len(position.Path)
	path := p.sourcePath()
	for n := len(path); n >= shortest && n > 0; n-- {
		if loc := locations.ByPath(path[:n]); loc.Path != nil {
			position.Path = path[:n]
			position.Line, position.Column = loc.StartLine+1, loc.StartColumn+1
			position.EndLine, position.EndColumn = loc.EndLine+1, loc.EndColumn+1
			break
		}
	}
	return position
}

// exactly returns the location of the place and of nothing around it.
func (p Place) exactly() protoreflect.SourceLocation {
	return p.decl.ParentFile().SourceLocations().ByPath(p.sourcePath())
}

func (p Place) sourcePath() protoreflect.SourcePath {
	path := sourcePath(p.decl)
	if len(p.option) > 0 {
		path = append(append(path, optionsNumber(p.decl)), p.option...)
	}
	return path
}

// Problem makes a problem at the place.
func (p Place) Problem(rule, what, mend string) Problem {
	return Problem{Position: p.Position(), Rule: rule, What: what, Mend: mend}
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
	case protoreflect.FileDescriptor:
		return fileOptions
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
	return at(decl).Problem(rule, what, mend)
}
