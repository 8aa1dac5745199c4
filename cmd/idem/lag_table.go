package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/lag"
	"github.com/idem-spec/idem/internal/operate/show"
)

// sparkWidth is how many characters the past takes.
const sparkWidth = 20

// lagTables writes a table for each group, and what is the matter with it. Partitions that have nothing to do are
// counted, unless all are to be shown or something is the matter with them.
func lagTables(w io.Writer, r *lag.Report, since time.Duration, all bool) {
	head := []string{"TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "IN/S", "OUT/S", "SLOPE", "RISING SINCE", "OLDEST", "OWNER", "LAST " + strings.TrimSuffix(strings.TrimSuffix(since.String(), "0s"), "0m")}
	for i := range r.Groups {
		g := &r.Groups[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, show.Text(groupLine(g)))
		var rows [][]string
		for j := range g.Partitions {
			if p := &g.Partitions[j]; all || p.Lag > 0 || g.Matters(p) {
				rows = append(rows, lagRow(p, g.Hidden, r.At, since))
			}
		}
		if len(rows) > 0 {
			show.Table(w, head, rows)
		}
		switch quiet := len(g.Partitions) - len(rows); {
		case quiet == 1:
			fmt.Fprintln(w, "1 partition without lag; --all shows it")
		case quiet > 1:
			fmt.Fprintf(w, "%d partitions without lag; --all shows them\n", quiet)
		}
		for _, f := range g.Findings {
			fmt.Fprintf(w, "%s: %s: %s\n", strings.ReplaceAll(string(f.Kind), "_", " "), show.Text(f.Text), show.Text(f.Advice))
		}
	}
}

func groupLine(g *lag.Group) string {
	members := fmt.Sprintf("members %d", len(g.Members))
	state := g.State
	if g.Hidden {
		members, state = "members unknown (the group uses the consumer protocol of KIP-848)", "committed"
	}
	line := fmt.Sprintf("group %s: %s, %s, lag %d", g.Name, state, members, g.Lag())
	if over := g.Windows(); over != "" {
		line += ", rates over the last " + over + " (--window)"
	}
	return line
}

func lagRow(p *lag.Partition, hidden bool, now time.Time, since time.Duration) []string {
	row := []string{p.Topic, fmt.Sprint(p.Partition), "-", fmt.Sprint(p.End), fmt.Sprint(p.Lag), "-", "-", "-", "-", "-", "-",
		lag.Spark(p.Points, now, since, sparkWidth)}
	if p.Committed >= 0 {
		row[2] = fmt.Sprint(p.Committed)
	}
	if p.Window > 0 {
		row[5], row[6], row[7] = lag.Rate(p.In), lag.Rate(p.Out), string(p.Slope)
	}
	if !p.Since.IsZero() {
		row[8] = p.Ago(now)
	}
	if !p.Oldest.IsZero() {
		row[9] = show.Age(now.Sub(p.Oldest))
	}
	switch {
	case p.Owner != nil:
		row[10] = lag.Name(p.Owner)
	case hidden:
		row[10] = "?"
	}
	return row
}
