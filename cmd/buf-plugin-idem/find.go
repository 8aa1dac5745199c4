package main

import (
	"context"
	"slices"

	"buf.build/go/bufplugin/check"
	"buf.build/go/bufplugin/option"
	"pluginrpc.com/pluginrpc"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// foundKey is the key of a request's annotations in its context, by the IDs of their rules.
type foundKey struct{}

// findAll runs what a request asks for, once. The rules' handlers, which buf's library calls one by one,
// take what is theirs.
func findAll(ctx context.Context, request check.Request) (context.Context, check.Request, error) {
	facts, err := factsOf(request.Options())
	if err != nil {
		return ctx, request, pluginrpc.NewError(pluginrpc.CodeInvalidArgument, err)
	}
	now, before := schemaOf(request.FileDescriptors()), schemaOf(request.AgainstFileDescriptors())
	// buf asks for each module by itself: an event type that this one lacks may be another one's.
	if eventTypes, complete := schemas.EventTypes(now.files); complete {
		if err := facts.CheckEvents(eventTypes, false, func(string) string { return optionsName }); err != nil {
			return ctx, request, pluginrpc.NewError(pluginrpc.CodeInvalidArgument, err)
		}
	}
	linted := settled(lint.Schema, request, facts, now, func(wanted func(*lint.Rule) bool) []lint.Finding {
		return schemas.Run(schemas.Input{Files: now.files, Paths: now.paths, Facts: facts}, wanted)
	})
	changed := settled(lint.Change, request, facts, now, func(wanted func(*lint.Rule) bool) []lint.Finding {
		return changes.Run(changes.Input{
			Before: changes.Side{Files: before.files, Paths: before.paths},
			After:  changes.Side{Files: now.files, Paths: now.paths},
			Facts:  facts,
		}, wanted)
	})
	found := make(map[string][]annotation)
	for _, f := range linted {
		found[f.Rule.ID] = append(found[f.Rule.ID], annotate(f, now, compiled{}))
	}
	for _, f := range changed {
		found[f.Rule.ID] = append(found[f.Rule.ID], annotate(f, now, before))
	}
	return context.WithValue(ctx, foundKey{}, found), request, nil
}

// handler is the handler of a rule.
func handler(id string) check.RuleHandler {
	return check.RuleHandlerFunc(func(ctx context.Context, w check.ResponseWriter, _ check.Request) error {
		found, _ := ctx.Value(foundKey{}).(map[string][]annotation)
		for _, a := range found[id] {
			w.AddAnnotation(a...)
		}
		return nil
	})
}

// optionsName is what errors about options begin with.
const optionsName = "options of buf-plugin-idem"

// factsOf reads what buf.yaml says below the plugin's options.
func factsOf(options option.Options) (config.Facts, error) {
	values := make(map[string]any)
	options.Range(func(key string, value any) { values[key] = value })
	return config.FactsOf(optionsName, values)
}

// settled runs the rules of a kind that are asked for, none where none is, and leaves out what comments
// ignore in idem's own way.
func settled(kind lint.Kind, request check.Request, facts config.Facts, now compiled, run func(func(*lint.Rule) bool) []lint.Finding) []lint.Finding {
	asked := askedFor(kind, request)
	if len(asked) == 0 {
		return nil
	}
	section := config.Section{Use: asked}
	filter := suppress.NewFilter(suppress.Select(kind, &config.Config{Lint: section, Breaking: section, Facts: facts}, rules()), now.asked())
	var stand []lint.Finding
	for _, f := range run(filter.Wanted) {
		if filter.Keep(&f) {
			stand = append(stand, f)
		}
	}
	if kind == lint.Schema {
		stand = append(stand, filter.Rest()...)
	}
	return stand
}

// askedFor are the rules of a kind that a request names, or all where it names none.
func askedFor(kind lint.Kind, request check.Request) []string {
	var asked []string
	for _, r := range rules() {
		if r.Kind == kind && (len(request.RuleIDs()) == 0 || slices.Contains(request.RuleIDs(), r.ID)) {
			asked = append(asked, r.ID)
		}
	}
	return asked
}
