package doctor

import (
	"context"
	"fmt"
	"strings"
)

// reach is the check of what was asked for.
var reach = Check{
	ID: "REACH", Severity: Error,
	Purpose: "Checks that what is to be looked at answers.",
	Why:     "What cannot be asked is not healthy.",
}

// Unreached is the result of a place that does not answer. What a driver says on several lines is one.
func Unreached(place string, err error) Result {
	return Result{Check: &reach, Status: Error, Place: place, Found: strings.Join(strings.Fields(err.Error()), " "), Mend: "run this where the service runs, and as its user"}
}

// Unasked is the result of something that nobody has said enough about to look at it.
func Unasked(place, why, mend string) Result {
	return Result{Check: &reach, Status: Unknown, Place: place, Found: why, Mend: mend}
}

// Counts are how many results have each status.
type Counts [Error + 1]int

// Count counts.
func Count(results []Result) (c Counts) {
	for _, r := range results {
		c[r.Status]++
	}
	return c
}

// String is "1 error, 2 warnings, 1 not looked at, 3 notes, 20 healthy".
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		status    Status
		one, many string
	}{
		{Error, "error", "errors"}, {Warning, "warning", "warnings"}, {Unknown, "not looked at", "not looked at"},
		{Note, "note", "notes"}, {OK, "healthy", "healthy"},
	} {
		switch n := c[p.status]; {
		case n == 1:
			parts = append(parts, "1 "+p.one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

// Explain is what `idem explain` shows of a check.
func (c *Check) Explain() string {
	text := fmt.Sprintf("%s: %s of idem doctor\n%s\n", c.ID, c.Severity, c.Purpose)
	if len(c.Spec) > 0 {
		text += "Follows from " + strings.Join(c.Spec, ", ") + ".\n"
	}
	return text + "\n" + c.Why + "\n"
}

// Scopes are those that have rows in the tables of a store.
func (s *Store) Scopes(ctx context.Context) (scopes []string, err error) {
	if s.tables == 0 {
		return nil, nil
	}
	err = s.conn.QueryRow(ctx, "SELECT coalesce(array_agg(scope), '{}') FROM ("+statements["scopes"]+") AS s").Scan(&scopes)
	return scopes, err
}
