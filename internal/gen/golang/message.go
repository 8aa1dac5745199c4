package golang

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// message emits the methods of a message. Each step emits what belongs to one option, and nothing
// where the message does not have it.
func (g *file) message(m *schema.Message) {
	t := &target{file: g, schema: m, message: g.run.messages[m.Desc.FullName()]}
	t.eventType()
	t.key()
	t.keyPrevious()
	t.bizKey()
	t.kafkaPartition()
	t.fingerprint()
	t.occurredAt()
	t.policy()
	t.transition()
	t.verdict()
	t.headers()
	g.run.checkMethods(t)
}

// target is the message that methods are emitted on.
type target struct {
	*file
	schema  *schema.Message
	message *protogen.Message
	methods []string
}

// method opens a method with the receiver x.
func (t *target) method(name, signature string) {
	t.methods = append(t.methods, name)
	t.P("func (x *", t.message.GoIdent, ") ", name, signature, " {")
}

// constant opens a method that does not look at the message.
func (t *target) constant(name, signature string) {
	t.methods = append(t.methods, name)
	t.P("func (*", t.message.GoIdent, ") ", name, signature, " {")
}

func (t *target) end() {
	t.P("}")
	t.P()
}

func (t *target) eventType() {
	t.P("// IdemEventType is the event type of every ", t.message.GoIdent, ".")
	t.constant("IdemEventType", "() string")
	t.P("return ", strconv.Quote(t.schema.EventType))
	t.end()
}

func (t *target) key() {
	t.P("// IdemKey is the idempotency key of the message:")
	t.templateDoc(t.schema.Key)
	t.file.comment(t.schema.Comment)
	t.rendered("IdemKey", t.schema.Key, finishKey)
}

func (t *target) keyPrevious() {
	if t.schema.KeyPrevious == nil {
		return
	}
	t.P("// IdemKeyPrevious is the key by the template before the last change, which consumers claim too:")
	t.templateDoc(t.schema.KeyPrevious)
	t.rendered("IdemKeyPrevious", t.schema.KeyPrevious, finishKey)
}

func (t *target) bizKey() {
	if t.schema.BizKey == nil {
		return
	}
	t.P("// IdemBizKey is what the message is about; messages of one biz key are ordered:")
	t.templateDoc(t.schema.BizKey)
	t.rendered("IdemBizKey", t.schema.BizKey, finishBizKey)
}

func (t *target) kafkaPartition() {
	if t.schema.BizKey == nil {
		return
	}
	t.P("// IdemKafkaPartition is the partition of the biz key on a topic of n partitions, as Kafka's own")
	t.P("// producer chooses it.")
	t.method("IdemKafkaPartition", "(n int32) (int32, error)")
	t.P("key, err := x.IdemBizKey()")
	t.P("if err != nil {")
	t.P("return 0, err")
	t.P("}")
	t.P("return ", t.idem("KafkaPartition"), "(key, n)")
	t.end()
}

func (t *target) fingerprint() {
	if t.schema.Fingerprint == nil {
		return
	}
	t.P("// IdemFingerprint is a hash of the content that the key stands for:")
	t.templateDoc(t.schema.Fingerprint)
	t.rendered("IdemFingerprint", t.schema.Fingerprint, finishFingerprint)
}

func (t *target) templateDoc(template *schema.Template) {
	t.P("//")
	t.P("//\t", template.Text)
}

// rendered emits the method that returns a rendered template, below a doc comment, and the one that
// appends it.
func (t *target) rendered(name string, template *schema.Template, finish func(t *target, template *schema.Template) string) {
	t.method(name, "() (string, error)")
	t.P("var buf [", bufferLen(template), "]byte")
	t.P("b, err := x.Append", name, "(buf[:0])")
	t.P("return string(b), err")
	t.end()
	t.P("// Append", name, " appends ", name, " to dst, and allocates nothing where dst has room. On an error it returns")
	t.P("// dst as it came.")
	t.method("Append"+name, "(dst []byte) ([]byte, error)")
	t.render(template)
	t.P("return ", finish(t, template))
	t.end()
}

func finishKey(t *target, _ *schema.Template) string { return t.idem("FinishKey") + "(dst, start)" }

func finishBizKey(t *target, _ *schema.Template) string {
	return t.idem("FinishBizKey") + "(dst, start)"
}

func finishFingerprint(t *target, template *schema.Template) string {
	return fmt.Sprintf("%s(dst, start, 0x%08x)", t.idem("FinishFingerprint"), idem.TemplateHash(template.Text))
}

// bufferLen is a length that most texts of the template fit in.
func bufferLen(template *schema.Template) int {
	n := len(template.Text) + 32
	return (n + 63) / 64 * 64
}

// occurredAt emits the text of the header of that name: an unexported method, since others have the
// field itself.
func (t *target) occurredAt() {
	c := t.schema.OccurredAt
	if c == nil {
		return
	}
	a := t.access(c)
	t.P("// appendIdemOccurredAt appends the value of the occurred_at header, and nothing where ", c.Name, " is missing.")
	t.method("appendIdemOccurredAt", "(dst []byte) ([]byte, error)")
	t.P("if ", a.missing(), " {")
	t.P("return dst, nil")
	t.P("}")
	t.P("dst, err := ", a.call())
	t.P("if err != nil {")
	t.P("return dst, ", a.inField("err"))
	t.P("}")
	t.P("return dst, nil")
	t.end()
}

func (t *target) policy() {
	p := t.schema.Retry
	if p == nil {
		return
	}
	t.P("// IdemPolicy is the retry policy of the schema, with the defaults of the spec filled in.")
	t.constant("IdemPolicy", "() "+t.idem("Policy"))
	t.P("return ", t.idem("Policy"), "{")
	t.P("MaxRetry: ", p.MaxRetry, ",")
	t.P("MaxHold: ", p.MaxHold, ",")
	t.P("BackoffBase: ", p.BackoffBaseSeconds, ",")
	t.P("BackoffJitter: ", p.BackoffJitterMs, ",")
	t.P("BackoffMax: ", p.BackoffMaxSeconds, ",")
	if len(p.BackoffScheduleMs) > 0 {
		t.P("BackoffSchedule: []int32{", strings.Trim(strings.ReplaceAll(fmt.Sprint(p.BackoffScheduleMs), " ", ", "), "[]"), "},")
	}
	t.P("}")
	t.end()
}

func (t *target) transition() {
	tr := t.schema.Transition
	if tr == nil {
		return
	}
	t.P("// IdemTransition is the transition that the message stands for.")
	t.constant("IdemTransition", "() "+t.idem("Transition"))
	t.P("return ", t.idem("Transition"), "{")
	t.P("Machine: ", strconv.Quote(string(tr.Enum.Desc.FullName())), ",")
	t.P("From: ", strconv.Quote(tr.From), ",")
	t.P("To: ", strconv.Quote(tr.To), ",")
	if tr.DeadLetterSuperseded {
		t.P("DeadLetterSuperseded: true,")
	}
	t.P("}")
	t.end()
}

func (t *target) verdict() {
	tr := t.schema.Transition
	if tr == nil {
		return
	}
	t.P("// IdemVerdict is the verdict of the transition on an object in the state current, which is \"\" where there is")
	t.P("// no object yet. A state that no transition of ", tr.Enum.Desc.FullName(), " names is STATE_UNKNOWN.")
	t.constant("IdemVerdict", "(current string) ("+t.idem("Verdict")+", error)")
	verdicts := tr.Verdicts()
	t.P("switch current {")
	for _, v := range []struct {
		name   string
		states []string
	}{
		{"VerdictApply", verdicts.Apply},
		{"VerdictDuplicate", verdicts.Duplicate},
		{"VerdictEarly", verdicts.Early},
		{"VerdictConflict", verdicts.Conflict},
	} {
		if len(v.states) > 0 {
			t.P("case ", quoted(v.states), ":")
			t.P("return ", t.idem(v.name), ", nil")
		}
	}
	t.P("}")
	t.P("return 0, ", t.idem("UnknownState"), "(current)")
	t.end()
}

// quoted joins texts as Go strings.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, s := range texts {
		all[i] = strconv.Quote(s)
	}
	return strings.Join(all, ", ")
}

// headers emits the headers of a producer. Their values share one buffer. The first fault is the
// answer, in the order of the spec. (HDR-020, CONF-042)
func (t *target) headers() {
	m := t.schema
	t.P("// IdemHeaders are the headers that a producer sends with the message, under the names of Kafka and AMQP:")
	t.P("// Headers.For turns them into those of another transport.")
	t.method("IdemHeaders", "(c "+t.idem("Context")+") ("+t.idem("Headers")+", error)")
	t.P("m := ", t.idem("Outgoing"), "{EventType: x.IdemEventType()}")
	t.P("buf, err := x.AppendIdemKey(make([]byte, 0, 256))")
	t.P("if err != nil {")
	t.P("return nil, err")
	t.P("}")
	t.P("m.IdempotencyKey = buf[:len(buf):len(buf)]")
	first := true
	for _, v := range []struct {
		there         bool
		field, append string
	}{
		{m.KeyPrevious != nil, "IdempotencyKeyPrevious", "AppendIdemKeyPrevious"},
		{m.BizKey != nil, "BizKey", "AppendIdemBizKey"},
		{m.Fingerprint != nil, "Fingerprint", "AppendIdemFingerprint"},
		{m.OccurredAt != nil, "OccurredAt", "appendIdemOccurredAt"},
	} {
		if !v.there {
			continue
		}
		t.P("at ", map[bool]string{true: ":= ", false: "= "}[first], "len(buf)")
		first = false
		t.P("if buf, err = x.", v.append, "(buf); err != nil {")
		t.P("return nil, err")
		t.P("}")
		t.P("m.", v.field, " = buf[at:len(buf):len(buf)]")
	}
	if m.Transition != nil {
		t.P("m.From, m.HasTransition = ", strconv.Quote(m.Transition.From), ", true")
	}
	if m.Retry != nil {
		t.P("policy := x.IdemPolicy()")
		t.P("m.Retry = &policy")
	}
	t.P("return ", t.idem("AppendHeaders"), "(nil, &m, c)")
	t.end()
}
