package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Check is what is known of a check without running it.
type Check struct {
	// ID is "TOPIC_REPLICATION". It never changes, and is never given to another check.
	ID string
	// Severity is that of its findings, where they do not say another.
	Severity Status
	// Purpose is one sentence: "Checks that …".
	Purpose string
	// Why is what happens otherwise.
	Why string
	// Spec are requirements that it follows from, "DEDUP-029"; often none.
	Spec []string
}

// Status is what a check says of a place.
type Status int

// From healthy to not.
const (
	OK      Status = iota // it is as it should be
	Note                  // a fact that whoever operates this has to know
	Unknown               // it could not be looked at
	Warning               // it may be right here
	Error                 // messages are lost, doubled or held up, now or at the next fault
)

// String is the status in reports.
func (s Status) String() string { return [...]string{"ok", "note", "unknown", "warning", "error"}[s] }

// Result is what one check says of one place.
type Result struct {
	*Check
	Status Status
	// Place is "topic orders", "group payments", "store shop", "redis 10.0.0.7:6379".
	Place string
	// Server is host:port of the database server that it is about; empty where it is about anything else.
	Server string
	// Found is what is there, with its value.
	Found string
	// Mend is what to do, a command where there is one; empty where there is nothing to mend.
	Mend string
}

// check is a Check of a subject.
type check[S any] struct {
	Check
	run func(ctx context.Context, s S, r *report) error
}

// report is what one check finds at one place.
type report struct {
	check   *Check
	place   string
	results []Result
	// absent says that there is nothing that the check is about.
	absent bool
}

// find is a finding of the check's own severity.
func (r *report) find(mend, format string, args ...any) {
	r.as(r.check.Severity, mend, format, args...)
}

// note is a fact.
func (r *report) note(format string, args ...any) { r.as(Note, "", format, args...) }

// nothing says that what the check is about is not there: it is neither healthy nor not, and another check says so.
func (r *report) nothing() error {
	r.absent = true
	return nil
}

// ok is what is there where nothing is wrong with it.
func (r *report) ok(format string, args ...any) { r.as(OK, "", format, args...) }

func (r *report) as(s Status, mend, format string, args ...any) {
	r.results = append(r.results, Result{Check: r.check, Status: s, Place: r.place, Found: fmt.Sprintf(format, args...), Mend: mend})
}

// examine runs checks on a subject. An error of one is no finding: it could not be looked at.
func examine[S any](ctx context.Context, place string, subject S, checks []*check[S]) []Result {
	var all []Result
	for _, c := range checks {
		r := &report{check: &c.Check, place: place}
		if err := c.run(ctx, subject, r); err != nil {
			mend := "let this user look, or run this as one who may"
			if u := (*unseen)(nil); errors.As(err, &u) {
				mend = u.mend
			}
			r.as(Unknown, mend, "not looked at: %v", err)
		}
		if len(r.results) == 0 && !r.absent {
			r.ok("")
		}
		all = append(all, r.results...)
	}
	return all
}

// unseen is why something could not be looked at, with what lets it be.
type unseen struct{ why, mend string }

func (u *unseen) Error() string { return u.why }

// data is the data of checks.
func data[S any](checks []*check[S]) []*Check {
	var all []*Check
	for _, c := range checks {
		all = append(all, &c.Check)
	}
	return all
}

// Checks are all checks, by what they look at.
func Checks() []*Check {
	return slices.Concat([]*Check{&reach, &missing.Check}, data(topicChecks), data(companionChecks), data(producerChecks), data(groupChecks),
		data(storeChecks), data(workChecks), data(timingChecks), data(redisChecks))
}

// Find returns the check of an ID, or nil.
func Find(id string) *Check {
	for _, c := range Checks() {
		if c.ID == id {
			return c
		}
	}
	return nil
}
