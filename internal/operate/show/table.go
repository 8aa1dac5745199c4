package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Table writes rows below a head, in columns.
func Table(w io.Writer, head []string, rows [][]string) {
	var text bytes.Buffer // a tabwriter writes each cell by itself
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Text(cell)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush()
	_, _ = text.WriteTo(w) // the answer remembers what could not be written
}

// Line writes a value as JSON in a line of its own.
func Line(w io.Writer, value any) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(w, JSON([]byte(text.String())))
	return err
}

// Age is how long ago a time is, in the largest unit and the next.
func Age(d time.Duration) string {
	day := 24 * time.Hour
	switch d = max(d, 0); {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
