package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a run is made. The zero value asks all cases once, of one process.
type Options struct {
	Selection     Selection
	KnownFailures []KnownFailure
	Limits        Limits
	// Required are names of groups that a conformant port answers, beside those that the suite
	// itself marks. A group of these that the suite lacks is a finding.
	Required []string
	// Repeat is how many times each case is asked; it passes where all its answers are right.
	Repeat int
	// Strict is whether to look at what the protocol says of ends and lines that no case has.
	Strict bool
	// Parallel is how many processes share the cases.
	Parallel int
	// Progress, where it is not nil, is called from time to time with the number of cases that have
	// been asked and of all, from one goroutine.
	Progress func(done, all int)
}

// Run asks a port the selected cases. It returns an error where there is nothing to report: a
// selection that cannot be, a port that cannot be run (*NotRunError), a context that was cancelled.
func Run(ctx context.Context, suite *Suite, command Command, opts Options) (*Report, error) {
	selected, err := suite.Select(opts.Selection)
	if err != nil {
		return nil, err
	}
	repeat := max(opts.Repeat, 1)
	began := time.Now()
	results := make([]Result, len(selected))
	for i, v := range selected {
		results[i] = Result{Vector: v, Status: Passed}
	}
	var hello Hello
	var findings []Finding
	if len(selected) > 0 {
		if hello, findings, err = askAll(ctx, command, results, repeat, opts); err != nil {
			return nil, err
		}
	}
	if opts.Strict && len(selected) > 0 {
		more, err := edges(ctx, command, opts.Limits)
		if err != nil {
			return nil, err
		}
		findings = append(findings, more...)
	}
	report := &Report{
		Spec: suite.Spec, Port: hello, Selection: opts.Selection,
		Results: results, Findings: findings, Took: time.Since(began), Asked: len(results) * repeat,
	}
	report.judge(suite, opts)
	return report, nil
}

// askAll shares the cases among processes and waits for all of them.
func askAll(ctx context.Context, command Command, results []Result, repeat int, opts Options) (Hello, []Finding, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		processes = min(max(opts.Parallel, 1), len(results))
		shares    = make([]*share, processes)
		errs      = make([]error, processes)
		done      atomic.Int64
		running   sync.WaitGroup
	)
	for i := range shares {
		from, to := i*len(results)/processes, (i+1)*len(results)/processes
		s := &share{results: results[from:to], repeat: repeat, done: &done}
		s.conversation = conversation{command: command, limits: opts.Limits, next: s.next, sink: s}
		shares[i] = s
		running.Go(func() {
			if errs[i] = s.conversation.run(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	finished := make(chan struct{})
	go func() { running.Wait(); close(finished) }()
	watch(finished, opts.Progress, func() (int, int) { return int(done.Load()), len(results) * repeat })

	for _, err := range errs {
		if e := (*NotRunError)(nil); errors.As(err, &e) {
			return Hello{}, nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Hello{}, nil, context.Cause(ctx)
	}
	var findings []Finding
	for _, s := range shares {
		findings = append(findings, s.findings...)
	}
	return shares[0].conversation.hello, findings, nil
}

// watch reports the progress until the work is finished.
func watch(finished <-chan struct{}, progress func(done, all int), count func() (int, int)) {
	if progress == nil {
		<-finished
		return
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			return
		case <-tick.C:
			progress(count())
		}
	}
}

// share is the cases of one process, and what becomes of them.
type share struct {
	conversation conversation
	results      []Result
	repeat       int
	given        int
	findings     []Finding
	done         *atomic.Int64
}

func (s *share) next() []byte {
	if s.given == len(s.results)*s.repeat {
		return nil
	}
	s.given++
	return s.results[(s.given-1)%len(s.results)].Vector.tail
}

func (s *share) answered(i int, a *answer) {
	s.done.Add(1)
	r := &s.results[i%len(s.results)]
	if !r.Vector.right(a) && r.Status == Passed {
		r.wrong(a)
	}
}

func (s *share) failed(i int, f *Fault) {
	s.done.Add(1)
	r := &s.results[i%len(s.results)]
	if r.Status == Passed {
		*r = Result{Vector: r.Vector, Status: Failed, Kind: string(f.Kind), Detail: f.Text, Stderr: f.Stderr}
	}
}

func (s *share) found(f Finding) { s.findings = append(s.findings, f) }

// judge marks the known failures and collects what keeps the port from being conformant.
func (r *Report) judge(suite *Suite, opts Options) {
	r.markKnown(opts.KnownFailures)
	r.tally(suite, opts)
	if len(r.Results) == 0 {
		r.find(NoCase, "no case is selected")
	}
	for _, glob := range opts.Selection.Cases {
		if len(r.Results) > 0 && !slices.ContainsFunc(r.Results, func(res Result) bool { return res.Vector.matches(glob) }) {
			r.find(NoCase, "no case matches --case %s", glob)
		}
	}
	for _, k := range opts.KnownFailures {
		if !slices.ContainsFunc(suite.All(), func(v *Vector) bool { return v.matches(k.Case) }) {
			r.find(StaleKnownFailure, "the known failure %q matches no case: take it off the list", k.Case)
		}
	}
	for _, name := range opts.Required {
		if !slices.Contains(suite.Names(), name) {
			r.find(GroupMissing, "the vectors have no group %s, which is required", name)
		}
	}
	for _, g := range r.Groups {
		if g.Required && g.Cases > 0 && g.Unsupported == g.Cases {
			r.find(GroupUnsupported, "the port supports nothing of the group %s, which is required", g.Group)
		}
	}
}

// markKnown marks the known failures. Those that pass are one finding for each entry of the list.
func (r *Report) markKnown(list []KnownFailure) {
	cases, passes := make([]int, len(list)), make([][]string, len(list))
	for i := range r.Results {
		result := &r.Results[i]
		entry := slices.IndexFunc(list, func(k KnownFailure) bool { return result.Vector.matches(k.Case) })
		if entry < 0 {
			continue
		}
		cases[entry]++
		result.Reason = list[entry].Reason
		if result.Status == Failed {
			result.Status = Known
		} else {
			result.Status, result.Kind = Failed, unexpectedPass
			passes[entry] = append(passes[entry], result.Vector.ID)
		}
	}
	for i, k := range list {
		switch n := len(passes[i]); {
		case n == 0:
		case n == 1 && passes[i][0] == k.Case:
			r.find(UnexpectedPass, "`%s` passes and is a known failure: take it off the list", k.Case)
		case n == cases[i] && r.Partial():
			r.find(UnexpectedPass, "all %d selected cases of `%s` pass: take them off the list", n, k.Case)
		case n == cases[i]:
			r.find(UnexpectedPass, "all %d cases of `%s` pass: take the entry off the list", n, k.Case)
		default:
			r.find(UnexpectedPass, "%d of %d cases of `%s` pass: let the entry name those that fail alone; it passes %s", n, cases[i], k.Case, some(passes[i]))
		}
	}
}

// some is a list in words, cut where it is long.
func some(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:most], ", ") + ", …"
}

// tally counts by group.
func (r *Report) tally(suite *Suite, opts Options) {
	index := map[string]int{}
	for _, g := range suite.Groups {
		index[g.Name] = len(r.Groups)
		r.Groups = append(r.Groups, GroupCount{Group: g.Name, Required: g.Required || slices.Contains(opts.Required, g.Name)})
	}
	for _, result := range r.Results {
		g := &r.Groups[index[result.Vector.Group]]
		for _, c := range []*Count{&g.Count, &r.Count} {
			c.Cases++
			switch result.Status {
			case Passed:
				c.Passed++
			case Known:
				c.Known++
			default:
				c.Failed++
			}
			if result.Kind == unsupported {
				c.Unsupported++
			}
		}
	}
	r.Groups = slices.DeleteFunc(r.Groups, func(g GroupCount) bool { return g.Cases == 0 })
}

func (r *Report) find(code FindingCode, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Code: code, Text: fmt.Sprintf(format, args...)})
}
