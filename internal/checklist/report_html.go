package checklist

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
)

//go:embed report.html.tmpl
var page string

var pages = template.Must(template.New("report").Funcs(template.FuncMap{
	"short": func(d time.Duration) string { return d.Round(100 * time.Millisecond).String() },
	"parts": (*Result).parts,
	"name":  func(p part) string { return p.name },
	"lines": func(p part) []string { return texts(p.lines) },
	"log":   func(r *Result) string { return strings.Join(texts(strings.Split(r.Log, "\n")), "\n") },
	"title": (*Service).title,
	"count": func(s *Service, status string) int { return s.count(Status(status)) },
}).Parse(page))

// texts escapes what no page should hold; the template escapes the rest.
func texts(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = show.Text(line)
	}
	return all
}

// WriteHTML writes the report as one page that loads nothing.
func (r *Report) WriteHTML(w io.Writer) error {
	return pages.Execute(w, map[string]any{"Report": r, "Verdict": r.verdict(), "Outage": r.outage(), "Started": r.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
}
