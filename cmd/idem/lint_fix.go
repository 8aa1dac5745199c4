package main

import (
	"fmt"
	"io"

	"github.com/idem-spec/idem/internal/lint/fix"
	"github.com/idem-spec/idem/internal/lint/report"
)

// plan is what --fix would write.
func (l *lintedSchemas) plan() ([]*fix.File, error) {
	files, err := fix.Plan(l.kept, func(file string) (string, bool) {
		for _, s := range l.schemas {
			if path, ok := s.OnDisk(file); ok {
				return path, true
			}
		}
		return "", false
	})
	if err != nil {
		return nil, brokenf("mend the schema: %w", err)
	}
	return files, nil
}

// mend writes the files, says what it mended, and returns whether there was anything.
func (l *lintedSchemas) mend() (bool, error) {
	files, err := l.plan()
	if err != nil {
		return false, err
	}
	for _, file := range files {
		if err := file.Write(); err != nil {
			return false, brokenf("mend the schema: %w", err)
		}
		for _, f := range file.Fixed {
			fmt.Fprintf(l.std.err, "idem: mended %s:%d: %s\n", file.Path, f.Position.Line, f.Rule.ID)
		}
	}
	return len(files) > 0, nil
}

// showDiff writes what --fix would change. The findings are counted and not shown.
func (l *lintedSchemas) showDiff() error {
	files, err := l.plan()
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := io.WriteString(l.std.out, file.Diff()); err != nil {
			return err
		}
	}
	if l.report.writer, err = report.New(io.Discard, "text", report.Options{}); err != nil {
		return err
	}
	return l.report.finishKept(l.kept, counted(l.files, "file"))
}
