package checklist

import (
	"strings"
	"time"
)

// Status is how a fault went.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Report is of a run.
type Report struct {
	Started  time.Time
	Took     time.Duration
	Outage   time.Duration
	Services []*Service
}

// Service is a service's part.
type Service struct {
	Name, Language string
	Adapter        string // the file
	Took           time.Duration
	Results        []*Result
}

// Result is what became of a fault.
type Result struct {
	Fault, Line string
	Status      Status
	// Reason is why it was skipped.
	Reason string
	// Injected is what was done, Seen what came of it, and Proof the numbers, keys and times that show it.
	Injected, Seen, Proof []string
	// Violations are the promises that were broken: a kind, and which message.
	Violations []string
	// Log is the end of what the service said, where it failed.
	Log  string
	Took time.Duration
}

// Green says that faults were injected, and nothing was broken.
func (r *Report) Green() bool { return r.Count(Failed) == 0 && r.Count(Passed) > 0 }

// Count is how many results have a status.
func (r *Report) Count(s Status) int {
	n := 0
	for _, service := range r.Services {
		n += service.count(s)
	}
	return n
}

// outage says how long the outage was, where there was one.
func (r *Report) outage() string {
	for _, s := range r.Services {
		if result := s.of(outageName); result != nil && result.Status != Skipped {
			return "the outage was " + length(r.Outage) + " long"
		}
	}
	return ""
}

// length writes 2m for 2m0s.
func length(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (s *Service) count(status Status) int {
	n := 0
	for _, r := range s.Results {
		if r.Status == status {
			n++
		}
	}
	return n
}

// of gives the result of a fault.
func (s *Service) of(name string) *Result {
	for _, r := range s.Results {
		if r.Fault == name {
			return r
		}
	}
	return nil
}

// parts are what a report says of a result, in order.
func (r *Result) parts() []part {
	return []part{{"broken", r.Violations}, {"injected", r.Injected}, {"seen", r.Seen}, {"proof", r.Proof}}
}

type part struct {
	name  string
	lines []string
}

// title is a service's name and language.
func (s *Service) title() string {
	if s.Language == "" {
		return s.Name
	}
	return s.Name + " " + inBrackets(s.Language)
}
