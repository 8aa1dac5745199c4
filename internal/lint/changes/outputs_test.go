package changes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// An output is what a schema says of a message, a state or an error, worked out by the core and by none of
// the rules: the proof that they speak where something differs, and only there.
type output string

const (
	keyOutput         output = "key"
	apartOutput       output = "events told apart"
	bizKeyOutput      output = "biz key"
	fingerprintOutput output = "fingerprint"
	occurredAtOutput  output = "occurred_at"
	missingOutput     output = "what was missing and is not"
	delayOutput       output = "delays"
	limitOutput       output = "limits"
	policyOutput      output = "headers of the policy"
	transitionOutput  output = "transition"
	supersededOutput  output = "superseded"
	verdictOutput     output = "verdicts"
	stateOutput       output = "states"
	classOutput       output = "classes"
	errorOutput       output = "numbers of errors"
	enumOutput        output = "numbers in keys"
	goOutput          output = "Go package"
	javaOutput        output = "Java package"
	pythonOutput      output = "Python module"
	nameOutput        output = "names"
)

// speakers are the rules that may speak of an output, by what their IDs begin with.
var speakers = map[output][]string{
	keyOutput:         {"IDEM_KEY_", "IDEM_EVENT_TYPE_", "IDEM_COMPONENT_", "IDEM_GENERATION_", "IDEM_MESSAGE_"},
	apartOutput:       {"IDEM_KEY_", "IDEM_EVENT_TYPE_", "IDEM_COMPONENT_", "IDEM_GENERATION_", "IDEM_MESSAGE_"},
	bizKeyOutput:      {"IDEM_BIZ_KEY_", "IDEM_COMPONENT_", "IDEM_GENERATION_", "IDEM_MESSAGE_"},
	fingerprintOutput: {"IDEM_FINGERPRINT_", "IDEM_COMPONENT_", "IDEM_GENERATION_", "IDEM_MESSAGE_"},
	occurredAtOutput:  {"IDEM_OCCURRED_AT_", "IDEM_COMPONENT_", "IDEM_GENERATION_", "IDEM_MESSAGE_"},
	missingOutput:     {"IDEM_COMPONENT_", "IDEM_KEY_", "IDEM_BIZ_KEY_", "IDEM_FINGERPRINT_"},
	delayOutput:       {"IDEM_RETRY_DELAYS_"},
	limitOutput:       {"IDEM_RETRY_LIMIT_"},
	policyOutput:      {"IDEM_RETRY_"},
	transitionOutput:  {"IDEM_TRANSITION_"},
	supersededOutput:  {"IDEM_SUPERSEDED_", "IDEM_TRANSITION_"},
	verdictOutput:     {"IDEM_VERDICT_", "IDEM_EDGE_", "IDEM_STATE_", "IDEM_MACHINE_", "IDEM_TRANSITION_"},
	stateOutput:       {"IDEM_STATE_", "IDEM_MACHINE_"},
	classOutput:       {"IDEM_ERROR_"},
	errorOutput:       {"IDEM_ERROR_RENUMBERED"},
	enumOutput:        {"IDEM_COMPONENT_ENUM_"},
	goOutput:          {"IDEM_GO_PACKAGE_"},
	javaOutput:        {"IDEM_JAVA_PACKAGE_"},
	pythonOutput:      {"IDEM_PYTHON_MODULE_"},
	nameOutput:        {"IDEM_MESSAGE_", "IDEM_ENUM_", "IDEM_GENERATION_"},
}

func speaksOf(rule string, o output) bool {
	return slices.ContainsFunc(speakers[o], func(prefix string) bool { return strings.HasPrefix(rule, prefix) })
}

// world is a schema, as far as outputs go.
type world struct {
	set      *schema.Set
	problems []schema.Problem
}

func worldOf(files *source.Files) *world {
	set, problems := schema.Build(files.All, files.Paths)
	return &world{set, problems}
}

// message finds a message by its name, and else by its event type.
func (w *world) message(like *schema.Message) *schema.Message {
	if m := w.set.Message(like.Desc.FullName()); m != nil {
		return m
	}
	for _, f := range w.set.Files {
		for _, m := range f.Messages {
			if m.EventType == like.EventType {
				return m
			}
		}
	}
	return nil
}

// enum finds an enum by its name, and else by one that is written alike.
func (w *world) enum(like *schema.Enum) *schema.Enum {
	plain := func(e *schema.Enum) string { return strings.ReplaceAll(string(e.Desc.FullName()), "_", "") }
	for _, f := range w.set.Files {
		for _, e := range f.Enums {
			if plain(e) == plain(like) {
				return e
			}
		}
	}
	return nil
}

// differing are the outputs that differ: what had one has another one, or none.
type differing map[output]string

func (d differing) note(o output, what string, before, after any) {
	if _, known := d[o]; !known && fmt.Sprint(before) != fmt.Sprint(after) {
		d[o] = fmt.Sprintf("%s: before %v, after %v", what, before, after)
	}
}

// compare works the outputs of both schemas out, on so many random messages of each type, which a producer
// with either schema sends.
func compare(before, after *world, samples int, seed uint64) differing {
	d := make(differing)
	for _, f := range before.set.Files {
		for _, m := range f.Messages {
			now := after.message(m)
			if now == nil {
				d.note(nameOutput, string(m.Desc.FullName()), "declared", "not declared")
				d.note(keyOutput, string(m.Desc.FullName()), "a key", "none")
				continue
			}
			d.message(m, now, samples, seed)
			d.file(m.Desc, now.Desc)
		}
		for _, e := range f.Enums {
			if now := after.enum(e); now != nil {
				d.enum(e, now)
				d.file(e.Desc, now.Desc)
			} else {
				d.note(nameOutput, string(e.Desc.FullName()), "declared", "not declared")
			}
		}
	}
	return d
}

func (d differing) file(before, after protoreflect.Descriptor) {
	was, is := before.ParentFile(), after.ParentFile()
	options := func(f protoreflect.FileDescriptor) *descriptorpb.FileOptions {
		return f.Options().(*descriptorpb.FileOptions)
	}
	d.note(goOutput, was.Path(), options(was).GetGoPackage(), options(is).GetGoPackage())
	d.note(javaOutput, was.Path(), options(was).GetJavaPackage(), options(is).GetJavaPackage())
	d.note(pythonOutput, string(before.FullName()), was.Path(), is.Path())
	d.note(nameOutput, "name", before.FullName(), after.FullName())
}

func (d differing) message(before, after *schema.Message, samples int, seed uint64) {
	name := string(before.Desc.FullName())
	random := rand.New(rand.NewPCG(seed, uint64(len(name))))
	keys := make(map[string]string)
	for range samples {
		for _, by := range []*schema.Message{before, after} {
			payload, err := proto.Marshal(randomMessage(by, random))
			if err != nil {
				continue // an ill-formed text cannot be sent
			}
			d.texts(before, after, payload)
			was, err := rendered(before, keyOf, read(before, payload))
			is, now := rendered(after, keyOf, read(after, payload))
			if err == nil && now == nil {
				if other, met := keys[was]; met {
					d.note(apartOutput, name+" of the key "+was, other, is)
				}
				keys[was] = is
			}
		}
	}
	d.policy(before, after)
	d.transition(before, after)
	d.enumsInKeys(before, after)
}

// read is a payload as a reader with the schema sees it.
func read(m *schema.Message, payload []byte) protoreflect.Message {
	message := dynamicpb.NewMessage(m.Desc)
	if proto.Unmarshal(payload, message) != nil {
		return nil
	}
	return message
}

type templateOf func(*schema.Message) *schema.Template

func keyOf(m *schema.Message) *schema.Template         { return m.Key }
func previousOf(m *schema.Message) *schema.Template    { return m.KeyPrevious }
func bizKeyOf(m *schema.Message) *schema.Template      { return m.BizKey }
func fingerprintOf(m *schema.Message) *schema.Template { return m.Fingerprint }

// rendered is a text, or why there is none.
func rendered(m *schema.Message, of templateOf, message protoreflect.Message) (text string, err error) {
	t := of(m)
	switch {
	case t == nil:
		return "", errNone
	case message == nil:
		return "", errUnreadable
	}
	switch t {
	case m.BizKey:
		text, _, err = render.BizKey(t, message)
	case m.Fingerprint:
		text, _, err = render.Fingerprint(t, message)
	default:
		text, _, err = render.Key(t, message)
	}
	return text, err
}

var errNone, errUnreadable = fmt.Errorf("none"), fmt.Errorf("unreadable")

func (d differing) texts(before, after *schema.Message, payload []byte) {
	name := string(before.Desc.FullName())
	readBefore, readAfter := read(before, payload), read(after, payload)
	for o, of := range map[output]templateOf{keyOutput: keyOf, bizKeyOutput: bizKeyOf, fingerprintOutput: fingerprintOf} {
		was, err := rendered(before, of, readBefore)
		is, now := rendered(after, of, readAfter)
		previous, byPrevious := rendered(after, previousOf, readAfter)
		switch {
		case err == nil && o == keyOutput && byPrevious == nil && previous == was:
			// Consumers claim it too.
		case err == nil && now != nil:
			d.note(o, name, was, now)
		case err == nil:
			d.note(o, name, was, is)
		case err == errNone && now != errNone && o == bizKeyOutput:
			d.note(o, name, "none", is)
		case idem.CodeOf(err) == idem.CodeKeyComponentMissing && now == nil:
			d.note(missingOutput, name+" "+string(o), err, is)
		}
	}
	was, is := occurredAt(before, readBefore), occurredAt(after, readAfter)
	if was != "" {
		d.note(occurredAtOutput, name, was, is)
	}
}

// occurredAt is the header, "" where there is none.
func occurredAt(m *schema.Message, message protoreflect.Message) string {
	if m.OccurredAt == nil || message == nil {
		return ""
	}
	text, _, err := render.Template(&schema.Template{Segments: []schema.Segment{{Component: m.OccurredAt}}}, message)
	if err != nil {
		return ""
	}
	return string(text)
}

func policyOf(m *schema.Message) idem.Policy {
	if m.Retry == nil {
		return idem.DefaultPolicy()
	}
	return idem.Policy{
		MaxRetry: m.Retry.MaxRetry, MaxHold: m.Retry.MaxHold, BackoffBase: m.Retry.BackoffBaseSeconds,
		BackoffJitter: m.Retry.BackoffJitterMs, BackoffMax: m.Retry.BackoffMaxSeconds, BackoffSchedule: m.Retry.BackoffScheduleMs,
	}
}

func (d differing) policy(before, after *schema.Message) {
	name := string(before.Desc.FullName())
	was, is := policyOf(before), policyOf(after)
	for n := range int32(25) {
		for _, key := range []string{"a", "order-17", "payments.payment_success:v1:p-1"} {
			delay, _ := idem.Backoff(key, n, &was, 0)
			now, _ := idem.Backoff(key, n, &is, 0)
			d.note(delayOutput, fmt.Sprintf("%s %s %d", name, key, n), delay.Ms(), now.Ms())
		}
	}
	d.note(limitOutput, name, [2]int32{was.MaxRetry, was.MaxHold}, [2]int32{is.MaxRetry, is.MaxHold})
	d.note(policyOutput, name, before.Retry, after.Retry)
}

func (d differing) transition(before, after *schema.Message) {
	name := string(before.Desc.FullName())
	text := func(t *schema.Transition) any {
		if t == nil {
			return "none"
		}
		return schema.Edge{From: t.From, To: t.To}
	}
	d.note(transitionOutput, name, text(before.Transition), text(after.Transition))
	if before.Transition != nil && after.Transition != nil {
		d.note(supersededOutput, name, before.Transition.DeadLetterSuperseded, after.Transition.DeadLetterSuperseded)
	}
}

// enumsInKeys compares what producers write who name the same value.
func (d differing) enumsInKeys(before, after *schema.Message) {
	now := make(map[protoreflect.FullName]protoreflect.EnumDescriptor)
	for _, t := range after.Templates() {
		for _, s := range t.Segments {
			if s.Component != nil && s.Component.Kind == schema.Enum32 {
				now[s.Component.Leaf().Enum().FullName()] = s.Component.Leaf().Enum()
			}
		}
	}
	for _, t := range before.Templates() {
		for _, s := range t.Segments {
			if s.Component == nil || s.Component.Kind != schema.Enum32 {
				continue
			}
			enum := s.Component.Leaf().Enum()
			for i := range enum.Values().Len() {
				v := enum.Values().Get(i)
				if is := now[enum.FullName()]; is != nil && is.Values().ByName(v.Name()) != nil {
					d.note(enumOutput, string(v.FullName()), v.Number(), is.Values().ByName(v.Name()).Number())
				}
			}
		}
	}
}

func (d differing) enum(before, after *schema.Enum) {
	if before.Machine != nil {
		d.machine(before, after)
	}
	class := func(e *schema.Enum, n protoreflect.EnumNumber) string {
		for _, o := range e.Outcomes {
			if o.Value.Number() == n {
				return o.Outcome
			}
		}
		return "RETRYABLE"
	}
	for i := range before.Desc.Values().Len() {
		v := before.Desc.Values().Get(i)
		d.note(classOutput, string(v.FullName()), class(before, v.Number()), class(after, v.Number()))
		if now := after.Desc.Values().ByName(v.Name()); now != nil && len(before.Outcomes) > 0 {
			d.note(errorOutput, string(v.FullName()), v.Number(), now.Number())
		}
	}
}

func (d differing) machine(before, after *schema.Enum) {
	if after.Machine == nil {
		d.note(verdictOutput, string(before.Desc.FullName()), "a machine", "none")
		return
	}
	text := func(m *schema.Machine, n protoreflect.EnumNumber) string {
		for _, s := range m.States {
			if s.Value.Number() == n {
				return s.Text
			}
		}
		return "none"
	}
	was, is := machineOf(before.Machine), machineOf(after.Machine)
	for _, s := range before.Machine.States {
		d.note(stateOutput, string(s.Value.FullName()), s.Text, text(after.Machine, s.Value.Number()))
	}
	for _, edge := range before.Machine.Edges {
		for _, current := range append([]schema.State{{}}, before.Machine.States...) {
			verdict, err := was.Verdict(current.Text, edge.From, edge.To)
			if err != nil {
				continue
			}
			now, err := is.Verdict(current.Text, edge.From, edge.To)
			d.note(verdictOutput, fmt.Sprintf("%v in %q", edge, current.Text), fmt.Sprint(verdict, nil), fmt.Sprint(now, err))
		}
	}
}

func machineOf(m *schema.Machine) *idem.Machine {
	var edges []idem.Edge
	for _, e := range m.Edges {
		edges = append(edges, idem.Edge(e))
	}
	machine, err := idem.MachineOf(edges)
	if err != nil {
		panic(err) // schema.Build has refused it
	}
	return machine
}
