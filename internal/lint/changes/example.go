package changes

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// renderFunc is what a message's template gives: a text, or the code of why it has none.
type renderFunc func(*schema.Template, protoreflect.Message) outcome

// outcome is a text, or the code of a refusal.
type outcome struct {
	text string
	code idem.Code
}

// String is the outcome as an example shows it.
func (o outcome) String() string {
	switch {
	case o.code != "":
		return "refused: " + string(o.code)
	case o.text == "":
		return "none"
	}
	return o.text
}

func outcomeOf(text string, err error) outcome {
	if err != nil {
		return outcome{code: idem.CodeOf(err)}
	}
	return outcome{text: text}
}

func renderKey(t *schema.Template, m protoreflect.Message) outcome {
	text, _, err := render.Key(t, m)
	return outcomeOf(text, err)
}

// partitions is the number of partitions of examples.
const partitions = 12

func renderBizKey(t *schema.Template, m protoreflect.Message) outcome {
	text, _, err := render.BizKey(t, m)
	if err != nil {
		return outcome{code: idem.CodeOf(err)}
	}
	partition, err := idem.KafkaPartition(text, partitions)
	return outcomeOf(text+", partition "+strconv.Itoa(int(partition))+" of "+strconv.Itoa(partitions), err)
}

func renderFingerprint(t *schema.Template, m protoreflect.Message) outcome {
	text, _, err := render.Fingerprint(t, m)
	return outcomeOf(text, err)
}

// renderOccurredAt is the header, which is left out where the field is missing. (HDR-021)
func renderOccurredAt(t *schema.Template, m protoreflect.Message) outcome {
	text, _, err := render.Template(t, m)
	if code := idem.CodeOf(err); code == idem.CodeKeyComponentMissing || string(text) == idem.Absent {
		return outcome{}
	}
	return outcomeOf(string(text), err)
}

// example renders a text before and after, from a payload that shows the difference: the first for which
// there was a text that is another now, otherwise the first that was refused and is not now. Where no
// payload shows one, it is the first.
func (p *pair) example(t text) change {
	var shown change
	for _, by := range []*schema.Message{p.before, p.after} {
		for payload := range samplesOf(by) {
			before := t.of(t.before, p.before.Desc, payload)
			after := t.of(t.after, p.after.Desc, payload)
			switch {
			case before != after && before.code == "":
				return change{before.String(), after.String()}
			case shown.before == "" || before != after && shown.before == shown.after:
				shown = change{before.String(), after.String()}
			}
		}
	}
	return shown
}

// of renders a template from a payload in wire format, as a reader with that schema does.
func (t text) of(template *schema.Template, d protoreflect.MessageDescriptor, payload []byte) outcome {
	if template == nil {
		return outcome{}
	}
	for _, s := range template.Segments {
		if s.Component != nil && !renders(s.Component) {
			return outcome{code: idem.CodePayloadInvalid}
		}
	}
	m := dynamicpb.NewMessage(d)
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(payload, m); err != nil {
		return outcome{code: idem.CodePayloadInvalid}
	}
	return t.render(template, m)
}

// key is the key of the first sample that has one, by the schema before: what examples of delays and of
// messages that are gone are about.
func key(m *schema.Message) string {
	for payload := range samplesOf(m) {
		if o := (text{render: renderKey}).of(m.Key, m.Desc, payload); o.code == "" {
			return o.text
		}
	}
	return m.EventType
}
