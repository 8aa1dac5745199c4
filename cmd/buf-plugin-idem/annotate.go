package main

import (
	"buf.build/go/bufplugin/check"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/report"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// annotation is a finding as buf has it.
type annotation []check.AddAnnotationOption

// annotate says where a finding is now, and where the declaration was before, if there was one. What is
// about a file that is no more has a place before alone.
func annotate(f lint.Finding, now, before compiled) annotation {
	a := annotation{check.WithMessage(report.Sentence(f))}
	at := f.Position
	file := now.file(at.File)
	if file == nil {
		return append(a, check.WithAgainstFileNameAndSourcePath(at.File, at.Path))
	}
	a = append(a, check.WithFileNameAndSourcePath(at.File, at.Path))
	if was := before.declaration(suppress.Declaration(file, at.Path)); was != nil {
		a = append(a, check.WithAgainstDescriptor(was))
	}
	return a
}
