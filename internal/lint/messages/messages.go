// Package messages is the rules of `idem check`: what is wrong with messages as they are, in their headers
// and payloads, one by one and beside those before. A file is about one topic: its rules, as data, and below
// each the function that checks it.
//
// input reads messages, decode reads their payloads, and seen remembers what came before.
package messages

import (
	"fmt"

	"github.com/idem-spec/idem/internal/lint"
)

// rule is a rule and its check of one message. A rule without a check is about two messages (stream.go).
type rule struct {
	lint.Rule
	check func(*pass)
	// needs says without what there is nothing to check.
	needs need
}

// need is what a check looks at.
type need uint8

const (
	headers    need = 1 << iota // what the message came in has headers, and they could be read
	known                       // the message's type is known
	content                     // and its payload could be read
	record                      // it is a record of a topic
	odd                         // there is something odd about the payload
	failing                     // the payload does not give one of its texts
	unreadable                  // the payload is no message

	needs = iota
)

// topics are the rules of each file of this package.
var topics = [][]*rule{headerRules, keyRules, payloadRules, valueRules, timeRules, retryRules, orderRules, stateRules, streamRules}

// Rules are all rules, by topic.
func Rules() []*lint.Rule { return lint.Flatten(topics) }

// report is a finding of the rule that runs.
func (p *pass) report(what, mend string) {
	p.findings = append(p.findings, finding{p.seq, p.finding(p.rule, what, mend)})
}

// reportf is report with a formatted what.
func (p *pass) reportf(mend, format string, args ...any) {
	p.report(fmt.Sprintf(format, args...), mend)
}

func (p *pass) finding(r *lint.Rule, what, mend string) lint.Finding {
	return lint.Finding{Rule: r, Severity: r.Severity, Position: position(p.source, p.message.Number), What: what, Mend: mend}
}
