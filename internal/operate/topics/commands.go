package topics

import (
	"fmt"
	"io"
	"strings"
)

// Tools says how the commands reach the cluster.
type Tools struct {
	// Brokers are host:port joined by commas; empty for $KAFKA_BROKERS.
	Brokers string
	// Config is a file of properties for --command-config; empty for none.
	Config string
}

// Commands writes what is to be run, as a shell script. What is there is a comment.
func (c *Compared) Commands(w io.Writer, tools Tools) {
	for _, t := range c.Topics {
		for _, line := range t.Commands(tools) {
			fmt.Fprintln(w, line)
		}
	}
	if c.NoACLs != nil {
		fmt.Fprintf(w, "# the ACLs of the cluster are not known: %v\n", oneLine(c.NoACLs))
	}
	for _, line := range c.aclCommands(tools) {
		fmt.Fprintln(w, line)
	}
}

// aclCommands are one for all ACLs that allow a principal the same: each run of it takes a second or two.
func (c *Compared) aclCommands(tools Tools) (lines []string) {
	type of struct{ principal, resource, name string }
	operations := map[of]string{}
	var wanted []of
	for _, a := range c.ACLs {
		if a.Status == OK || a.Status == Different {
			lines = append(lines, a.Command(tools))
			continue
		}
		on := of{a.Principal, a.Resource, a.Name}
		if operations[on] == "" {
			wanted = append(wanted, on)
		}
		operations[on] += " --operation " + a.Operation
	}
	at := map[of]int{} // by the operations in the place of the name
	for _, on := range wanted {
		same := of{on.principal, on.resource, operations[on]}
		if _, there := at[same]; !there {
			at[same] = len(lines)
			lines = append(lines, tools.run("kafka-acls")+" --add --allow-principal "+quoted(on.principal)+operations[on])
		}
		lines[at[same]] += " --" + strings.ToLower(on.resource) + " " + quoted(on.name)
	}
	return lines
}

// Commands are those that make the topic, or what it has otherwise.
func (t *TopicStatus) Commands(tools Tools) (lines []string) {
	switch t.Status {
	case OK:
		return []string{fmt.Sprintf("# topic %s is there", t.Name)}
	case Planned, Missing:
		line := tools.run("kafka-topics") + fmt.Sprintf(" --create --if-not-exists --topic %s --partitions %d", t.Name, t.Partitions)
		if t.Replicas > 0 {
			line += fmt.Sprintf(" --replication-factor %d", t.Replicas)
		}
		for _, c := range t.Config {
			line += fmt.Sprintf(" --config %s=%s", c.Name, c.Value)
		}
		return []string{line}
	}
	if t.Why != nil {
		lines = append(lines, fmt.Sprintf("# the settings of topic %s are not known: %s", t.Name, oneLine(t.Why)))
	}
	var settings []string
	for _, d := range t.Differences {
		switch d.Name {
		case "partitions":
			// More partitions move keys, and what is there of them is read out of order.
			lines = append(lines, fmt.Sprintf("# topic %s has %s partitions, and is to have %s. When it is empty:", t.Name, d.Have, d.Want),
				fmt.Sprintf("# %s --alter --topic %s --partitions %s", tools.run("kafka-topics"), t.Name, d.Want))
		case "replicas":
			lines = append(lines, fmt.Sprintf("# topic %s has %s replicas, and is to have %s: kafka-reassign-partitions adds them", t.Name, d.Have, d.Want))
		default:
			lines = append(lines, fmt.Sprintf("# topic %s has %s=%s", t.Name, d.Name, d.Have))
			settings = append(settings, d.Name+"="+d.Want)
		}
	}
	if len(settings) > 0 {
		lines = append(lines, tools.run("kafka-configs")+fmt.Sprintf(" --alter --entity-type topics --entity-name %s --add-config %s", t.Name, strings.Join(settings, ",")))
	}
	return lines
}

// Command adds the ACL.
func (a *ACLStatus) Command(tools Tools) string {
	what := fmt.Sprintf("%s %s %s %s", a.Principal, a.Operation, strings.ToLower(a.Resource), a.Name)
	switch a.Status {
	case OK:
		return "# ACL is there: " + what
	case Different:
		return "# another ACL denies it, which goes before all that allow: " + what
	}
	return fmt.Sprintf("%s --add --allow-principal %s --operation %s --%s %s", tools.run("kafka-acls"), quoted(a.Principal), a.Operation, strings.ToLower(a.Resource), quoted(a.Name))
}

func (t Tools) run(program string) string {
	brokers := `"$KAFKA_BROKERS"`
	if t.Brokers != "" {
		brokers = quoted(t.Brokers)
	}
	line := program + " --bootstrap-server " + brokers
	if t.Config != "" {
		line += " --command-config " + quoted(t.Config)
	}
	return line
}

// quoted is a word of a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-:,/@=+", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
