package schema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// use is a placeholder in a template: what problems of its component are about.
type use struct {
	b *builder
	// message is the message with the template, option the name of the template's option.
	message protoreflect.MessageDescriptor
	option  string
	// path is the placeholder without braces, place the position of the template.
	path  string
	place Place
}

// problem is a problem of the template.
func (u *use) problem(rule, what, mend string) {
	u.b.problem(u.place, rule, u.option+" of "+short(u.message.FullName())+" names "+short(u.path)+": "+what, mend)
}

// component finds the field that a path ends in, and how it becomes text; nil where there is a
// problem. (OPT-012, OPT-013)
func (u *use) component() *Component {
	names := strings.Split(u.path, ".")
	m := u.message
	c := &Component{Name: u.path}
	for i, name := range names {
		d := m.Fields().ByName(protoreflect.Name(name))
		if d == nil {
			u.unknown(m, name)
			return nil
		}
		c.Path = append(c.Path, d)
		c.Redacted = c.Redacted || redacted(d)
		if !u.singular(d) {
			return nil
		}
		if i == len(names)-1 {
			break
		}
		if m = u.walk(d); m == nil {
			return nil
		}
	}
	info := u.b.field(c.Leaf())
	switch {
	case info.broken:
		return nil
	case info.kind == 0:
		u.problem("OPT-013", info.what, info.mend)
		return nil
	}
	info.fill(c)
	return u.checked(c)
}

// singular refuses what no template can name, at the end of a path or on it.
func (u *use) singular(d protoreflect.FieldDescriptor) bool {
	what, mend := plural(d)
	if what != "" {
		u.problem("OPT-013", what, mend)
	}
	return what == ""
}

// plural says why a field can be on no path.
func plural(d protoreflect.FieldDescriptor) (what, mend string) {
	name := short(d.Name())
	switch {
	case d.IsMap():
		return name + " is a map", "name singular fields: a map has no order that all languages agree on"
	case d.IsList():
		return name + " is repeated", "name singular fields: a list has no one text"
	case d.Kind() == protoreflect.GroupKind:
		return name + " is a group (of delimited encoding)", "name fields outside of it, or make it a plain message field"
	}
	return "", ""
}

// walk returns the message that a field on the path holds.
func (u *use) walk(d protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	m := d.Message()
	switch {
	case m == nil:
		u.problem("OPT-012", fmt.Sprintf("%s is %s and has no fields", short(d.Name()), article(d.Kind().String())), "end the path there")
	case isValue(m):
		u.problem("OPT-012", fmt.Sprintf("%s is a %s, which is one value", short(d.Name()), m.FullName()), "end the path there")
	case opaque[m.FullName()]:
		u.problem("OPT-013", fmt.Sprintf("%s is a %s, whose content has no one text", short(d.Name()), m.FullName()), "name a typed field")
	default:
		return m
	}
	return nil
}

// unknown refuses a name that the message does not have.
func (u *use) unknown(m protoreflect.MessageDescriptor, name string) {
	what := short(m.FullName()) + " has no field " + quote(name)
	if x := extensionOf(m, name); x != nil {
		u.problem("OPT-013", what+"; "+short(x.FullName())+" is an extension", "name fields of the message: extensions are not looked at")
		return
	}
	if near := nearest(m, name); near != "" {
		u.problem("OPT-013", what, "did you mean "+near+"?")
		return
	}
	var names []string
	for i := 0; i < m.Fields().Len() && i < 100; i++ {
		names = append(names, short(m.Fields().Get(i).Name()))
	}
	if len(names) == 0 {
		u.problem("OPT-013", what, "it has none at all")
		return
	}
	u.problem("OPT-013", what, "it has "+list(names, 8))
}

// extensionOf finds an extension of the message in its own file by its simple name.
func extensionOf(m protoreflect.MessageDescriptor, name string) protoreflect.ExtensionDescriptor {
	x := m.ParentFile().Extensions().ByName(protoreflect.Name(name))
	if x != nil && x.ContainingMessage() != nil && x.ContainingMessage().FullName() == m.FullName() {
		return x
	}
	return nil
}

// nearest is the field whose name differs in case and underscores alone, or is one edit away.
func nearest(m protoreflect.MessageDescriptor, name string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for i := 0; i < m.Fields().Len() && i < 1000; i++ {
		have := string(m.Fields().Get(i).Name())
		if len(have) <= maxShown && len(name) <= maxShown && (plain(have) == plain(name) || oneEdit(have, name)) {
			return have
		}
	}
	return ""
}

// oneEdit says whether one byte more, less or other makes one name the other.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 0:
		return len(a) > 2 && i < len(a) && a[i+1:] == b[i+1:]
	case 1:
		return len(a) > 2 && a[i:] == b[i+1:]
	}
	return false
}

// checked refuses what the leaf has to say in the light of the path. (OPT-022, OPT-023)
func (u *use) checked(c *Component) *Component {
	leaf := c.Leaf()
	option := u.b.field(leaf).option
	numeric := c.Kind == Bool || c.Kind == Enum32 || c.Kind == Int || c.Kind == TimestampEpoch
	ok := true
	if numeric && !c.HasPresence && option.GetMissing() == idempb.Missing_MISSING_UNSPECIFIED {
		u.b.problem(at(leaf), "OPT-022",
			fmt.Sprintf("%s of %s names %s, which is %s without presence, and whether %s is a value is not said",
				u.option, short(u.message.FullName()), short(u.path), article(leaf.Kind().String()), zeroOf(c.Kind)),
			"add [(idem.v1.field).missing = MISSING_ERROR], or MISSING_ALLOW where it is one")
		ok = false
	}
	if c.Redacted && !c.Digest {
		u.b.problem(at(leaf), "OPT-023",
			fmt.Sprintf("%s of %s names %s, which is marked debug_redact, and keys end in logs", u.option, short(u.message.FullName()), short(u.path)),
			"add [(idem.v1.field).digest = DIGEST_SHA256], or name another field")
		ok = false
	}
	if !ok {
		return nil
	}
	return c
}

// article puts "a" or "an" before a word.
func article(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

func zeroOf(kind Kind) string {
	if kind == Bool {
		return "false"
	}
	return "0"
}
