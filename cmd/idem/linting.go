package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/report"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// lintFlags are the flags that lint, breaking and check have in common.
type lintFlags struct {
	format        string
	config        string
	baseline      string
	writeBaseline bool
}

func (f *lintFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.format, "format", report.Formats()[0], "format of the findings: "+strings.Join(report.Formats(), ", "))
	flags.StringVar(&f.config, "config", "", "idem.yaml (default: here or above within the repository)")
	flags.StringVar(&f.baseline, "baseline", "", "file of old findings, which are dropped (default: what idem.yaml says)")
	flags.BoolVar(&f.writeBaseline, "write-baseline", false, "write the findings to the baseline, so that the next run drops them")
	offer(command, "format", report.Formats()...)
}

// linting is one run of lint, breaking or check: what idem.yaml says of it, and what becomes of findings.
type linting struct {
	flags      *lintFlags
	kind       lint.Kind
	repository *repository
	selection  *suppress.Selection
	// mending says that the run is about what can be mended, and not about what idem.yaml lacks.
	mending bool
}

// begin reads idem.yaml. A repository without one wants all rules.
func (f *lintFlags) begin(kind lint.Kind) (*linting, error) {
	if _, err := report.New(nil, f.format, report.Options{Kind: kind}); err != nil {
		return nil, err
	}
	r, err := f.repository()
	if err != nil {
		return nil, err
	}
	l := &linting{flags: f, kind: kind, repository: r, selection: suppress.Select(kind, r.Config, catalog.Rules())}
	if f.writeBaseline && l.baselineFile() == "" {
		return nil, fmt.Errorf("--write-baseline: say --baseline FILE, or baseline below %s in idem.yaml", kind)
	}
	return l, nil
}

func (f *lintFlags) repository() (*repository, error) {
	if f.config != "" {
		return readConfigFile(f.config)
	}
	r, err := readConfig()
	if errors.Is(err, errNoConfig) {
		return &repository{new(config.Config), "."}, nil
	}
	return r, err
}

// facts are what idem.yaml declares.
func (l *linting) facts() config.Facts { return l.repository.Facts }

// wanted says whether a rule runs.
func (l *linting) wanted(r *lint.Rule) bool { return l.selection.Wanted(r) }
