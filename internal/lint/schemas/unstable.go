package schemas

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var unstables = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_DELIVERY_FIELD", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names what each delivery, attempt or trace has anew.",
		Spec:    []string{"KEY-020"},
	}, func(p *pass) { unstable(p, deliveryFields) }},
	{lint.Rule{
		ID: "IDEM_KEY_SENDING_TIME", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names the time at which a message was sent or handled.",
		Spec:    []string{"KEY-020", "HDR-022"},
	}, func(p *pass) { unstable(p, sendingTimes) }},
	{lint.Rule{
		ID: "IDEM_KEY_MUTABLE_FIELD", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names what changes with the object that the event is about.",
		Spec:    []string{"KEY-020"},
	}, func(p *pass) { unstable(p, mutableFields) }},
	{lint.Rule{
		ID: "IDEM_KEY_OUTPUT_FIELD", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names a field that whoever handles the message fills in.",
		Spec:    []string{"KEY-004"},
	}, keyOutputField},
}

// instability is fields of one kind that are not the same each time one event is sent.
type instability struct {
	// names are names of fields, and phrases what their comments say.
	names   []string
	phrases []string
	// except says that such a field of this message is stable all the same.
	except func(used) bool
	// what and mend are those of the finding, behind the field's name.
	what, mend string
}

var deliveryFields = instability{
	names: []string{
		"attempt", "attempt_count", "attempt_number", "consumer_tag", "correlation_id", "delivery_tag", "kafka_offset",
		"kafka_partition", "message_id", "msg_id", "offset", "partition", "receipt_handle", "redelivered", "redelivery_count",
		"request_id", "retries", "retry", "retry_attempt", "retry_count", "retry_number", "span_id", "trace_id", "traceparent",
	},
	phrases: []string{
		"each redelivery", "each retry", "each time the message is sent", "every redelivery", "every retry", "on redelivery", "on retry",
	},
	except: isOwn,
	what:   "which a message that is sent again has anew: the event gets another key, and is done twice",
	mend:   "name the id of what happened, which is the same each time",
}

var sendingTimes = instability{
	names: []string{
		"enqueued_at", "ingested_at", "now", "process_time", "processed_at", "produced_at", "publish_time", "published_at",
		"queued_at", "receive_time", "received_at", "retried_at", "send_time", "sent_at",
	},
	phrases: []string{
		"current time", "time of sending", "wall clock", "when the message is sent", "when the message was sent",
	},
	except: isAct,
	what:   "a time that a message which is sent again has anew: the event gets another key, and is done twice",
	mend:   "name the id of what happened, or the time at which it did",
}

var mutableFields = instability{
	names: []string{
		"etag", "last_modified", "last_modified_at", "last_modified_time", "last_update_time", "last_updated", "last_updated_at",
		"modified_at", "modify_time", "state", "status", "update_time", "updated_at",
	},
	phrases: []string{"last changed", "last modified", "last updated"},
	except:  isSettled,
	what:    "which changes with the object: the event gets another key where it is sent again later, and another event the same where it changes back",
	mend:    "name the id of what happened, or what counts the changes of the object, {version}",
}

// unstable reports the fields of keys that are of one kind.
func unstable(p *pass, kind instability) {
	names := make(map[string]bool, len(kind.names))
	for _, name := range kind.names {
		names[name] = true
	}
	for u := range p.usedInKeys {
		leaf := u.component.Leaf()
		comment := commentOf(leaf)
		if !names[strings.ToLower(string(leaf.Name()))] && !says(comment, kind.phrases) {
			continue
		}
		// What is there for idempotency is kept by whoever makes it.
		if !strings.Contains(comment, "idempoten") && !kind.except(u) {
			p.reportf(u.template.Place, kind.mend, "%s, %s", u.names(), kind.what)
		}
	}
}

// commentOf is what stands above a field and beside it, in lower case and on one line.
func commentOf(d protoreflect.FieldDescriptor) string {
	at := d.ParentFile().SourceLocations().ByDescriptor(d)
	return strings.ToLower(strings.Join(strings.Fields(at.LeadingComments+" "+at.TrailingComments), " "))
}

// says says whether a comment has one of the phrases. One that denies or limits anything does not count:
// "kept by every retry", "may not change".
func says(comment string, phrases []string) bool {
	found := false
	for _, phrase := range phrases {
		found = found || strings.Contains(comment, phrase)
	}
	if !found {
		return false
	}
	for word := range strings.FieldsFuncSeq(comment, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "not", "never", "no", "t", "same", "kept", "keeps", "stable", "constant", "without", "unless", "before":
			return false
		}
	}
	return true
}

// isOwn says that the field is of an object like any other: the message_id of ChatMessageSent, the request_id
// of RefundRequested, {conversation.message_id}. An envelope in the message is none: {metadata.message_id}.
func isOwn(u used) bool {
	if path := u.component.Path; len(path) > 1 {
		return !slices.Contains(envelopes, path[len(path)-2].Name())
	}
	w := words(u.component.Leaf().Name())
	if len(w) == 0 {
		return false
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(w[0], "ies"), "y") // Retried, of retries and retry_count
	for word := range eachWord(string(u.message.Desc.Name())) {
		if strings.HasPrefix(strings.ToLower(word), stem) {
			return true
		}
		if (w[0] == "message" || w[0] == "msg") && slices.Contains(messageWords, word) {
			return true
		}
	}
	return false
}

// envelopes are names of fields with what is about the message that they are in.
var envelopes = []protoreflect.Name{"context", "ctx", "envelope", "header", "headers", "meta", "metadata", "trace", "tracing"}

// messageWords are other words for messages that people send.
var messageWords = []string{"Chat", "Comment", "Email", "Mail", "Message", "Notification", "Post", "Sms"}

// isAct says that the time is the event's own: the published_at of ArticlePublished.
func isAct(u used) bool {
	act, _, _ := strings.Cut(string(u.component.Leaf().Name()), "_")
	name := strings.ToLower(string(u.message.Desc.Name()))
	return strings.HasSuffix(name, act) || strings.HasSuffix(name, act+"event")
}

// isSettled says that the state is the same each time: of a message with a transition, whose machine has no
// way back. So is a state of a country.
func isSettled(u used) bool {
	switch u.component.Leaf().Name() {
	case "status":
		return u.message.Transition != nil
	case "state":
		return u.message.Transition != nil || u.component.Kind == schema.String
	}
	return false
}

// eachWord visits the words of a name in CamelCase.
func eachWord(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i <= len(name); i++ {
			if i == len(name) || 'A' <= name[i] && name[i] <= 'Z' {
				if !yield(name[start:i]) {
					return
				}
				start = i
			}
		}
	}
}

func keyOutputField(p *pass) {
	for u := range p.usedInKeys {
		// A field of another message may well be filled in before this message is sent.
		if leaf := u.component.Leaf(); len(u.component.Path) == 1 && isOutput(leaf) {
			p.reportf(u.template.Place, "name what the sender knows, or leave OUTPUT_ONLY out",
				"%s, which is OUTPUT_ONLY: whoever handles the message fills it in, and the sender has no key", u.names())
		}
	}
}

// The numbers of google/api/field_behavior.proto, whose Go nobody links in.
const (
	fieldBehavior = 1052
	outputOnly    = 3
)

// isOutput says whether a field is marked (google.api.field_behavior) = OUTPUT_ONLY.
func isOutput(d protoreflect.FieldDescriptor) bool {
	b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(d.Options())
	if err != nil {
		return false
	}
	for len(b) > 0 {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return false
		}
		if number == fieldBehavior && hasValue(b[:n], outputOnly) {
			return true
		}
		b = b[n:]
	}
	return false
}

// hasValue looks for a value in an enum field, packed or not.
func hasValue(field []byte, want uint64) bool {
	_, kind, n := protowire.ConsumeTag(field)
	field = field[n:]
	if kind == protowire.BytesType {
		field, _ = protowire.ConsumeBytes(field)
	} else if kind != protowire.VarintType {
		return false
	}
	for len(field) > 0 {
		value, n := protowire.ConsumeVarint(field)
		if n < 0 {
			return false
		}
		if value == want {
			return true
		}
		field = field[n:]
	}
	return false
}
