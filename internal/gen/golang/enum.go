package golang

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/compiler/protogen"

	"github.com/idem-spec/idem/internal/schema"
)

// enum emits what belongs to an enum: its machine, the texts of its states, its outcomes.
func (g *file) enum(e *schema.Enum) {
	t := &enumTarget{file: g, schema: e, enum: g.run.enums[e.Desc.FullName()]}
	t.edges()
	t.machine()
	t.state()
	t.parse()
	t.classify()
}

// enumTarget is the enum that methods are emitted on.
type enumTarget struct {
	*file
	schema *schema.Enum
	enum   *protogen.Enum
}

func (t *enumTarget) edges() {
	if t.schema.Machine == nil {
		return
	}
	t.P("// IdemEdges are the transitions that the state machine allows.")
	t.file.comment(t.schema.Comment)
	t.P("func (", t.enum.GoIdent, ") IdemEdges() []", t.idem("Edge"), " {")
	t.P("return []", t.idem("Edge"), "{")
	for _, e := range t.schema.Machine.Edges {
		t.P("{From: ", strconv.Quote(e.From), ", To: ", strconv.Quote(e.To), "},")
	}
	t.P("}")
	t.P("}")
	t.P()
}

func (t *enumTarget) machine() {
	if t.schema.Machine == nil {
		return
	}
	name := "idemMachine_" + t.enum.GoIdent.GoName
	machine := t.idem("Machine")
	t.P("// IdemMachine is the state machine. It is made once.")
	t.P("func (", t.enum.GoIdent, ") IdemMachine() *", machine, " {")
	t.P("return ", name, "()")
	t.P("}")
	t.P()
	t.P("var ", name, " = ", syncPackage.Ident("OnceValue"), "(func() *", machine, " {")
	t.P("m, err := ", t.idem("MachineOf"), "(", t.enum.GoIdent, "(0).IdemEdges())")
	t.P("if err != nil {")
	t.P("panic(err) // the plugin has refused such edges")
	t.P("}")
	t.P("return m")
	t.P("})")
	t.P()
}

func (t *enumTarget) state() {
	if t.schema.Machine == nil {
		return
	}
	t.P("// IdemState is the text of the state in headers and in the database; false for a number that the enum does")
	t.P("// not declare.")
	t.P("func (x ", t.enum.GoIdent, ") IdemState() (string, bool) {")
	t.P("switch x {")
	for _, s := range t.schema.Machine.States {
		t.P("case ", t.value(s.Value.Index()), ":")
		t.P("return ", strconv.Quote(s.Text), ", true")
	}
	t.P("}")
	t.P(`return "", false`)
	t.P("}")
	t.P()
}

func (t *enumTarget) parse() {
	if t.schema.Machine == nil {
		return
	}
	name := protogen.GoIdent{GoName: "IdemParse" + t.enum.GoIdent.GoName, GoImportPath: t.enum.GoIdent.GoImportPath}
	t.run.checkDeclared(t.enum.Desc, name)
	t.P("// ", name, " is the state with a text, the inverse of IdemState; false for a text that no state has.")
	t.P("func ", name, "(text string) (", t.enum.GoIdent, ", bool) {")
	t.P("switch text {")
	for _, s := range t.schema.Machine.States {
		t.P("case ", strconv.Quote(s.Text), ":")
		t.P("return ", t.value(s.Value.Index()), ", true")
	}
	t.P("}")
	t.P("return 0, false")
	t.P("}")
	t.P()
}

func (t *enumTarget) classify() {
	if len(t.schema.Outcomes) == 0 {
		return
	}
	t.P("// IdemClassify is what a consumer does about the error. What the schema does not classify is")
	t.P("// OutcomeRetryable, and so is a number that the enum does not declare.")
	t.P("func (x ", t.enum.GoIdent, ") IdemClassify() ", t.idem("Outcome"), " {")
	t.P("switch x {")
	for _, v := range t.schema.Outcomes {
		t.P("case ", t.value(v.Value.Index()), ":", trailing(t.enum.Values[v.Value.Index()]))
		t.P("return ", t.idem(outcomeConstant(v.Outcome)))
	}
	t.P("}")
	t.P("return ", t.idem("OutcomeRetryable"))
	t.P("}")
	t.P()
}

// value is the constant of a value.
func (t *enumTarget) value(index int) string {
	return t.name(t.enum.Values[index].GoIdent)
}

// trailing is the comment beside the value or, where it is one line, above it.
func trailing(v *protogen.EnumValue) string {
	for _, c := range []protogen.Comments{v.Comments.Trailing, v.Comments.Leading} {
		if text := strings.TrimSpace(string(c)); text != "" && !strings.ContainsAny(text, "\n\r") {
			return " // " + text
		}
	}
	return ""
}

// outcomeConstant is OutcomeOutOfOrder for OUT_OF_ORDER.
func outcomeConstant(outcome string) string {
	if outcome == "OK" {
		return "OutcomeOK"
	}
	name := "Outcome"
	for _, word := range strings.Split(strings.ToLower(outcome), "_") {
		r, size := utf8.DecodeRuneInString(word)
		name += string(unicode.ToUpper(r)) + word[size:]
	}
	return name
}
