package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/idem-spec/idem/internal/doctor"
	"github.com/idem-spec/idem/internal/operate/show"
)

// listedCheck is a check as JSON.
type listedCheck struct {
	Check    string   `json:"check"`
	Severity string   `json:"severity"`
	Purpose  string   `json:"purpose"`
	Why      string   `json:"why"`
	Spec     []string `json:"spec,omitempty"`
}

func writeChecks(w io.Writer, json bool) error {
	var rows [][]string
	for _, c := range doctor.Checks() {
		if json {
			if err := show.Line(w, listedCheck{c.ID, c.Severity.String(), c.Purpose, c.Why, c.Spec}); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{c.ID, c.Severity.String(), c.Purpose})
	}
	if !json {
		show.Table(w, []string{"CHECK", "SEVERITY", "PURPOSE"}, rows)
	}
	return nil
}

// checkResult is a result as JSON.
type checkResult struct {
	Check  string   `json:"check"`
	Status string   `json:"status"`
	Place  string   `json:"place"`
	Server string   `json:"server,omitempty"`
	Found  string   `json:"found"`
	Why    string   `json:"why"`
	Mend   string   `json:"mend,omitempty"`
	Spec   []string `json:"spec,omitempty"`
}

func writeResults(w io.Writer, results []doctor.Result, json, all bool) error {
	if !json {
		writeDiagnosis(w, doctor.Together(results), all)
		return nil
	}
	for _, r := range results {
		if r.Status == doctor.OK && !all {
			continue
		}
		if err := show.Line(w, checkResult{r.ID, r.Status.String(), r.Place, r.Server, r.Found, r.Why, r.Mend, r.Spec}); err != nil {
			return err
		}
	}
	return nil
}

// writeDiagnosis writes the results by their places, the worst of each first. Why a check is there is said once.
func writeDiagnosis(w io.Writer, results []doctor.Result, all bool) {
	said := map[string]bool{}
	for _, place := range places(results) {
		of := slices.DeleteFunc(slices.Clone(results), func(r doctor.Result) bool {
			return r.Place != place || r.Status == doctor.OK && !all
		})
		if len(of) == 0 {
			continue
		}
		slices.SortStableFunc(of, func(a, b doctor.Result) int { return cmp.Compare(b.Status, a.Status) })
		fmt.Fprintf(w, "%s\n", show.Text(place))
		for i, r := range of {
			if i > 0 && alike(of[i-1], r) {
				continue
			}
			ids := r.ID
			for j := i + 1; j < len(of) && alike(r, of[j]); j++ {
				ids += ", " + of[j].ID
			}
			fmt.Fprintf(w, "  %-7s  %s%s\n", r.Status, ids, lead(": ", r.Found))
			if r.Status > doctor.Unknown && !said[r.ID] {
				said[r.ID] = true
				fmt.Fprintf(w, "           why: %s\n", show.Text(r.Why))
			}
			if r.Mend != "" {
				fmt.Fprintf(w, "           mend: %s\n", show.Text(r.Mend))
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, doctor.Count(results))
}

// alike says that two results could not be looked at for one reason.
func alike(a, b doctor.Result) bool {
	return a.Status == doctor.Unknown && b.Status == doctor.Unknown && a.Found == b.Found && a.Mend == b.Mend
}

// lead is a text behind what leads it, or nothing.
func lead(with, text string) string {
	if text == "" {
		return ""
	}
	return with + show.Text(text)
}

// places are those of the results, as they come.
func places(results []doctor.Result) (all []string) {
	for _, r := range results {
		if !slices.Contains(all, r.Place) {
			all = append(all, r.Place)
		}
	}
	return all
}
