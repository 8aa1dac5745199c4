package changes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var keys = []*rule{
	{lint.Rule{
		ID: "IDEM_EVENT_TYPE_CHANGED", Kind: lint.Change, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a message keeps its event type.",
		Spec:    []string{"KEY-014", "OPT-011"},
	}, eventTypeChanged},
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_MISSING", Kind: lint.Change, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a changed template of a key states the template before.",
		Spec:    []string{"KEY-030", "OPT-032"},
	}, keyPreviousMissing},
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_WRONG", Kind: lint.Change, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that idempotency_key_previous is the template before the change.",
		Spec:    []string{"KEY-030", "OPT-032"},
	}, keyPreviousWrong},
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_COARSE", Kind: lint.Change, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that idempotency_key_previous tells events apart as the new template does.",
		Spec:    []string{"OPT-032"},
	}, keyPreviousCoarse},
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_DROPPED", Kind: lint.Change, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that idempotency_key_previous stays for one dedup retention.",
		Spec:    []string{"KEY-030"},
	}, keyPreviousDropped},
	{lint.Rule{
		ID: "IDEM_KEY_VERSION_KEPT", Kind: lint.Change, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a changed template of a key counts its version segment up.",
		Spec:    []string{"KEY-030"},
	}, keyVersionKept},
}

func eventTypeChanged(p *pass) {
	for _, m := range p.messages {
		if m.before.EventType != m.after.EventType {
			p.report(m.after.Key.Place, m.example(m.keys()),
				"write "+m.before.EventType+" again, or declare the new event as a message of its own and send both for a while",
				"the event type of %s is %s, before %s: every message in flight looks new, and consumers look for the other type",
				m.after.Desc.FullName(), m.after.EventType, m.before.EventType)
		}
	}
}

// keys is the key's template on both sides, whether it changed or not.
func (p *pair) keys() text {
	return text{"idempotency_key", p.before.Key, p.after.Key, renderKey}
}

// rekeyed are the messages whose key has another template and the same event type.
func (p *pass) rekeyed(yield func(*pair) bool) {
	for _, m := range p.messages {
		if m.before.EventType == m.after.EventType && !same(m.before.Key, m.after.Key) && !yield(m) {
			return
		}
	}
}

func keyPreviousMissing(p *pass) {
	for m := range p.rekeyed {
		if m.after.KeyPrevious != nil {
			continue
		}
		p.report(m.after.Key.Place, m.example(m.keys()), p.addPrevious(m),
			"the key of %s changes from %q to %q, so that every message in flight looks new",
			m.after.Desc.FullName(), m.before.Key.Text, m.after.Key.Text)
	}
}

func keyPreviousWrong(p *pass) {
	for m := range p.rekeyed {
		if m.after.KeyPrevious == nil || same(m.before.Key, m.after.KeyPrevious) {
			continue
		}
		previous := text{"idempotency_key_previous", m.before.Key, m.after.KeyPrevious, renderKey}
		p.report(m.after.KeyPrevious.Place, m.example(previous), p.addPrevious(m),
			"idempotency_key_previous of %s is %q, and the key before the change is %q: no message in flight has the other one",
			m.after.Desc.FullName(), m.after.KeyPrevious.Text, m.before.Key.Text)
	}
}

// keyPreviousCoarse is about a template that has all fields of the one before, and more.
func keyPreviousCoarse(p *pass) {
	for m := range p.rekeyed {
		previous := m.after.KeyPrevious
		if previous == nil || !same(m.before.Key, previous) {
			continue
		}
		coarse, fine := componentsIn(previous), componentsIn(m.after.Key)
		if added := without(fine, coarse); len(added) > 0 && len(without(coarse, fine)) == 0 {
			p.report(previous.Place, m.example(m.keys()),
				"leave it out, drain the topic before the release, and ignore what asks for it with that reason",
				"idempotency_key_previous of %s lacks %s of the new key: events that this tells apart are one by the key before, and the second is dropped as long as both are sent",
				m.after.Desc.FullName(), strings.Join(added, " and "))
		}
	}
}

// componentsIn are the paths of a template.
func componentsIn(t *schema.Template) []string {
	var paths []string
	for _, s := range t.Segments {
		if s.Component != nil {
			paths = append(paths, s.Component.Name)
		}
	}
	return paths
}

// without are the paths that are not among others.
func without(paths, others []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(others, path) })
}

// addPrevious is how to mend a changed template.
func (p *pass) addPrevious(m *pair) string {
	template, lost := inNamesOf(m.before.Key, m.after.Desc)
	if lost != "" {
		return "declare " + lost + " again, which the key before names, and write idempotency_key_previous: " +
			strconv.Quote(template) + " until " + p.gone(m)
	}
	return "write idempotency_key_previous: " + strconv.Quote(template) + ", and leave it there until " + p.gone(m) +
		"; where the new template tells more events apart, drain the topic instead and ignore this with that reason"
}

// gone is when the template before may be left out.
func (p *pass) gone(m *pair) string {
	if retention := p.retention(m); retention > 0 {
		return days(retention) + " (dedup_retention) after the release"
	}
	return "one dedup retention after the release"
}

// retention is how long a dedup record of the message is kept; 0 where idem.yaml does not say.
func (p *pass) retention(m *pair) time.Duration {
	if d := p.facts.Of(m.after.EventType).DedupRetention; d != nil {
		return *d
	}
	return 0
}

// days is a span for people: 14 days, or 36h0m0s.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}

// inNamesOf is a template with the names that its fields have in another message now; lost is the path
// of one that it does not have.
func inNamesOf(t *schema.Template, d protoreflect.MessageDescriptor) (template, lost string) {
	segments := make([]string, len(t.Segments))
	for i, s := range t.Segments {
		if segments[i] = s.Literal; s.Component == nil {
			continue
		}
		name := renamed(s.Component, d)
		if name == "" {
			name, lost = s.Component.Name, s.Component.Name
		}
		segments[i] = "{" + name + "}"
	}
	return strings.Join(segments, ":"), lost
}

// renamed is the path that a component's numbers name in a message, "" where there is none.
func renamed(c *schema.Component, d protoreflect.MessageDescriptor) string {
	names := make([]string, 0, len(c.Path))
	for _, step := range c.Path {
		if d == nil {
			return ""
		}
		f := d.Fields().ByNumber(step.Number())
		if f == nil {
			return ""
		}
		names = append(names, string(f.Name()))
		d = f.Message()
	}
	return strings.Join(names, ".")
}

func keyPreviousDropped(p *pass) {
	for _, m := range p.messages {
		previous := m.before.KeyPrevious
		if previous == nil || same(previous, m.after.KeyPrevious) || same(previous, m.after.Key) {
			continue
		}
		retention := p.retention(m)
		if retention > 0 && p.age >= retention {
			continue
		}
		since := "no earlier than one dedup retention after the release that changed the key"
		if retention > 0 {
			since = "no earlier than " + days(retention) + " (dedup_retention) after the release that changed the key; " +
				"where that is long ago, compare against that release"
		}
		p.report(m.after.Option(schema.KeyPreviousNumber),
			m.example(text{"idempotency_key_previous", previous, m.after.KeyPrevious, renderKey}),
			"leave it there, and let it go "+since,
			"idempotency_key_previous of %s is %q no more: a message that is in flight with that key, or its dedup record, is not found again",
			m.after.Desc.FullName(), previous.Text)
	}
}

// version is a segment that a changed template counts up.
var version = regexp.MustCompile(`^v[1-9][0-9]*$`)

func isVersion(s schema.Segment) bool { return s.Component == nil && version.MatchString(s.Literal) }

func keyVersionKept(p *pass) {
	for m := range p.rekeyed {
		before, after := versionOf(m.before.Key), versionOf(m.after.Key)
		if before != after {
			continue
		}
		p.report(m.after.Key.Place, m.example(m.keys()), "write "+counted(m.after.Key, after),
			"the key of %s changes from %q to %q and %s: a key by the one template can be that of another event by the other",
			m.after.Desc.FullName(), m.before.Key.Text, m.after.Key.Text, keeps(after))
	}
}

func keeps(version string) string {
	if version == "" {
		return "has no version segment"
	}
	return "keeps the version " + version
}

// versionOf is the version segment of a template, "" where it has none.
func versionOf(t *schema.Template) string {
	if i := slices.IndexFunc(t.Segments, isVersion); i >= 0 {
		return t.Segments[i].Literal
	}
	return ""
}

// counted is a template with its version one higher, or with one behind the event type.
func counted(t *schema.Template, version string) string {
	if version == "" {
		first, rest, _ := strings.Cut(t.Text, ":")
		return strconv.Quote(first + ":v2:" + rest)
	}
	n, err := strconv.ParseInt(version[1:], 10, 64)
	if err != nil {
		return "the next version in place of " + version[:min(len(version), 40)]
	}
	next := strings.Replace(t.Text+":", ":"+version+":", fmt.Sprintf(":v%d:", n+1), 1)
	return strconv.Quote(strings.TrimSuffix(next, ":"))
}
