package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/fix"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// baselineFile is the file of old findings, "" where there is none.
func (l *linting) baselineFile() string {
	if l.flags.baseline != "" {
		return l.flags.baseline
	}
	if file := l.repository.Of(l.kind).Baseline; file != "" {
		return l.repository.path(file)
	}
	return ""
}

func (l *linting) readBaseline() (*suppress.Baseline, error) {
	file := l.baselineFile()
	if file == "" || l.flags.writeBaseline {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, brokenf("there is no baseline %s: write it with --write-baseline", file)
	}
	if err != nil {
		return nil, brokenf("read the baseline: %w", err)
	}
	baseline, err := suppress.ReadBaseline(file, data)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	return baseline, nil
}

func (r *lintReport) saveBaseline() error {
	var text bytes.Buffer
	if err := r.filter.WriteBaseline(&text); err != nil {
		return brokenf("write the baseline: %w", err)
	}
	if err := fix.Replace(r.baselineFile(), text.Bytes(), fileMode); err != nil {
		return brokenf("write the baseline: %w", err)
	}
	hint := ""
	if r.repository.Of(r.kind).Baseline == "" {
		hint = fmt.Sprintf(": name it in %s, below %s, as baseline:, or say --baseline each time", config.File, r.kind)
	}
	fmt.Fprintf(r.std.err, "idem: wrote %s%s\n", r.baselineFile(), hint)
	return nil
}
