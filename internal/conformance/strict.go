package conformance

import (
	"context"
	"fmt"
	"time"
)

// edges asks what the vectors cannot: an op that nobody knows (CONF-004), the end of input without
// `end`, and lines that are no JSON object (CONF-002). Each has a process of its own.
func edges(ctx context.Context, command Command, limits Limits) ([]Finding, error) {
	limits.setDefaults()
	var findings []Finding
	for _, edge := range []func(context.Context, *port, Limits) (*Finding, error){
		unknownOp,
		func(ctx context.Context, p *port, limits Limits) (*Finding, error) {
			return noObject(ctx, p, limits, "[]")
		},
		func(ctx context.Context, p *port, limits Limits) (*Finding, error) {
			return noObject(ctx, p, limits, `{"type":"case","seq":1,`)
		},
	} {
		p, err := startPort(command)
		if err != nil {
			return nil, &NotRunError{Err: fmt.Errorf("start the port: %w", err)}
		}
		if err := p.greet(ctx, limits.Start); err != nil {
			p.stop()
			return nil, &NotRunError{Err: err, Stderr: p.stderrTail()}
		}
		found, err := edge(ctx, p, limits)
		p.stop()
		if err != nil {
			return nil, err
		}
		if found != nil {
			findings = append(findings, *found)
		}
	}
	return findings, nil
}

// unknownOp asks an op that does not exist, and then closes the input without `end`.
func unknownOp(ctx context.Context, p *port, limits Limits) (*Finding, error) {
	p.out.add(appendTail([]byte(`{"type":"case","seq":1`), "no_such_op", []byte("{}")))
	line, err := p.line(ctx, time.Now().Add(limits.Case))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var a answer
	if err == nil {
		a, err = parseAnswer(line)
	}
	if err != nil || a.seq != 1 || !a.unsupported {
		p.stop()
		text := fmt.Sprintf("an op that does not exist is answered with %s instead of unsupported (CONF-004)", quoteLine(line))
		if err != nil {
			text += ": " + err.Error()
		}
		return &Finding{Code: UnknownOp, Text: text, Stderr: p.stderrTail()}, nil
	}
	p.out.end()
	return p.leave(ctx, "the end of its input (CONF-002)", 0, limits.End)
}

// noObject sends a line that is no JSON object.
func noObject(ctx context.Context, p *port, limits Limits, line string) (*Finding, error) {
	p.out.add([]byte(line + "\n"))
	found, err := p.leave(ctx, "the line "+line+" (CONF-002)", 2, limits.End)
	if found == nil && err == nil && p.stderrTail() == "" {
		found = &Finding{Code: NoWord, Text: "the port says no word on its standard error after the line " + line + " (CONF-002)"}
	}
	return found, err
}
