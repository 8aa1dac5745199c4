package main

import (
	"io"

	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/internal/operate/topics"
)

// planTopic is a topic of the plan in JSON.
type planTopic struct {
	Kind       string            `json:"kind"` // topic
	Name       string            `json:"name"`
	For        topics.Kind       `json:"for"`
	Partitions int32             `json:"partitions"`
	Replicas   int               `json:"replicas,omitempty"`
	Config     map[string]string `json:"config"`
	Status     topics.Status     `json:"status"`
	Different  []planDifference  `json:"differences,omitempty"`
	Commands   []string          `json:"commands"`
}

type planDifference struct {
	Name string `json:"name"`
	Have string `json:"have"`
	Want string `json:"want"`
}

// planACL is an ACL of it.
type planACL struct {
	Kind      string        `json:"kind"` // acl
	Principal string        `json:"principal"`
	Resource  string        `json:"resource"`
	Name      string        `json:"name"`
	Operation string        `json:"operation"`
	Status    topics.Status `json:"status"`
	Command   string        `json:"command"`
}

// planLines writes a topic or an ACL a line.
func planLines(w io.Writer, c *topics.Compared, tools topics.Tools) error {
	for _, t := range c.Topics {
		line := planTopic{"topic", t.Name, t.Kind, t.Partitions, t.Replicas, map[string]string{}, t.Status, nil, t.Commands(tools)}
		for _, s := range t.Config {
			line.Config[s.Name] = s.Value
		}
		for _, d := range t.Differences {
			line.Different = append(line.Different, planDifference(d))
		}
		if err := show.Line(w, line); err != nil {
			return err
		}
	}
	for _, a := range c.ACLs {
		if err := show.Line(w, planACL{"acl", a.Principal, a.Resource, a.Name, a.Operation, a.Status, a.Command(tools)}); err != nil {
			return err
		}
	}
	return nil
}
