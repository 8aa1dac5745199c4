package checklist

import (
	"encoding/json"
	"io"
)

type jsonReport struct {
	Green    bool          `json:"green"`
	Started  string        `json:"started_at"`
	Seconds  float64       `json:"seconds"`
	Outage   float64       `json:"outage_seconds"`
	Passed   int           `json:"passed"`
	Failed   int           `json:"failed"`
	Skipped  int           `json:"skipped"`
	Services []jsonService `json:"services"`
}

type jsonService struct {
	Name     string       `json:"name"`
	Language string       `json:"language,omitempty"`
	Adapter  string       `json:"adapter"`
	Seconds  float64      `json:"seconds"`
	Results  []jsonResult `json:"results"`
}

type jsonResult struct {
	Fault      string   `json:"fault"`
	Line       string   `json:"line"`
	Status     Status   `json:"status"`
	Reason     string   `json:"reason,omitempty"`
	Seconds    float64  `json:"seconds"`
	Injected   []string `json:"injected,omitempty"`
	Seen       []string `json:"seen,omitempty"`
	Proof      []string `json:"proof,omitempty"`
	Violations []string `json:"violations,omitempty"`
	Log        string   `json:"log,omitempty"`
}

// WriteJSON writes the report as an object.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		Green: r.Green(), Started: r.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Seconds: r.Took.Seconds(), Outage: r.Outage.Seconds(),
		Passed: r.Count(Passed), Failed: r.Count(Failed), Skipped: r.Count(Skipped),
	}
	for _, s := range r.Services {
		service := jsonService{Name: s.Name, Language: s.Language, Adapter: s.Adapter, Seconds: s.Took.Seconds()}
		for _, x := range s.Results {
			service.Results = append(service.Results, jsonResult{
				x.Fault, x.Line, x.Status, x.Reason, x.Took.Seconds(), x.Injected, x.Seen, x.Proof, x.Violations, x.Log,
			})
		}
		out.Services = append(out.Services, service)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
