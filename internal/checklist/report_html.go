package checklist

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

//go:embed report.html.tmpl
var page string

var pages = template.Must(template.New("report").Funcs(template.FuncMap{
	"short": func(d time.Duration) string { return d.Round(100 * time.Millisecond).String() },
	"parts": (*Result).parts,
	"name":  func(p part) string { return p.name },
	"lines": func(p part) []string { return p.lines },
	"title": (*Service).title,
	"count": func(s *Service, status string) int { return s.count(Status(status)) },
}).Parse(page))

// WriteHTML writes the report as one page that loads nothing.
func (r *Report) WriteHTML(w io.Writer) error {
	return pages.Execute(w, map[string]any{"Report": r, "Verdict": r.verdict(), "Started": r.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
}
