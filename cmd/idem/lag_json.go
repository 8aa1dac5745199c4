package main

import (
	"io"
	"time"

	"github.com/idem-spec/idem/internal/operate/lag"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// lagGroup is a group in JSON.
type lagGroup struct {
	At         time.Time      `json:"at"`
	Group      string         `json:"group"`
	State      string         `json:"state"`
	Lag        int64          `json:"lag"`
	Members    []lagMember    `json:"members,omitempty"`
	Hidden     bool           `json:"members_hidden,omitempty"`
	Partitions []lagPartition `json:"partitions"`
	Findings   []lagFinding   `json:"findings,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

type lagMember struct {
	ID         string `json:"id"`
	ClientID   string `json:"client_id"`
	Host       string `json:"host"`
	Partitions int    `json:"partitions"`
	// Unmoved is since when none of them has moved.
	Unmoved *time.Time `json:"unmoved_since,omitempty"`
}

type lagPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Committed is null where the group has committed nothing.
	Committed   *int64     `json:"committed"`
	First       int64      `json:"first"`
	End         int64      `json:"end"`
	Lag         int64      `json:"lag"`
	Window      float64    `json:"window_seconds,omitempty"`
	In          *float64   `json:"in_per_second,omitempty"`
	Out         *float64   `json:"out_per_second,omitempty"`
	Lately      float64    `json:"recent_seconds,omitempty"`
	LatelyIn    *float64   `json:"recent_in_per_second,omitempty"`
	LatelyOut   *float64   `json:"recent_out_per_second,omitempty"`
	Slope       lag.Slope  `json:"slope,omitempty"`
	RisingSince *time.Time `json:"rising_since,omitempty"` // at the earliest
	RisingBy    *time.Time `json:"rising_since_latest,omitempty"`
	Oldest      *time.Time `json:"oldest,omitempty"`
	Unmoved     *time.Time `json:"unmoved_since,omitempty"`
	Owner       string     `json:"owner,omitempty"`
	History     []lagPoint `json:"history,omitempty"`
}

type lagPoint struct {
	At  time.Time `json:"at"`
	Lag int64     `json:"lag"`
}

type lagFinding struct {
	Kind       lag.Kind   `json:"kind"`
	Topic      string     `json:"topic,omitempty"`
	Partitions []int32    `json:"partitions,omitempty"`
	Members    []string   `json:"members,omitempty"`
	Since      *time.Time `json:"since,omitempty"`
	SinceBy    *time.Time `json:"since_latest,omitempty"`
	Text       string     `json:"text"`
	Advice     string     `json:"advice"`
}

// lagLines writes a group a line.
func lagLines(w io.Writer, r *lag.Report) error {
	for i := range r.Groups {
		g := &r.Groups[i]
		line := lagGroup{At: r.At.UTC(), Group: g.Name, State: g.State, Lag: g.Lag(), Hidden: g.Hidden, Partitions: []lagPartition{}, Notes: r.Notes}
		for i := range g.Members {
			m := &g.Members[i]
			line.Members = append(line.Members, lagMember{m.ID, m.ClientID, m.Host, len(m.Partitions), someTime(g.Committed(m))})
		}
		for j := range g.Partitions {
			line.Partitions = append(line.Partitions, lagPartitionOf(&g.Partitions[j]))
		}
		for _, f := range g.Findings {
			line.Findings = append(line.Findings, lagFinding{f.Kind, f.Topic, f.Partitions, f.Members, someTime(f.Since), someTime(f.SinceBy), f.Text, f.Advice})
		}
		if err := show.Line(w, line); err != nil {
			return err
		}
	}
	return nil
}

func lagPartitionOf(p *lag.Partition) lagPartition {
	line := lagPartition{Topic: p.Topic, Partition: p.Partition, First: p.First, End: p.End, Lag: p.Lag, Window: p.Window.Seconds(), Lately: p.Lately.Window.Seconds(), Slope: p.Slope,
		RisingSince: someTime(p.Since), RisingBy: someTime(p.SinceBy), Oldest: someTime(p.Oldest), Unmoved: someTime(p.Unmoved), Owner: ownerID(p.Owner)}
	if p.Committed >= 0 {
		line.Committed = &p.Committed
	}
	if p.Window > 0 {
		line.In, line.Out = &p.In, &p.Out
		line.LatelyIn, line.LatelyOut = &p.Lately.In, &p.Lately.Out
	}
	for _, point := range p.Points {
		line.History = append(line.History, lagPoint{point.At.UTC(), point.Lag})
	}
	return line
}

func ownerID(m *kafka.GroupMember) string {
	if m == nil {
		return ""
	}
	return m.ID
}

// someTime is a time in UTC, and nothing for none.
func someTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
