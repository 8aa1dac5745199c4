package schemas

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var templates = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_VERSION_MISSING", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a key has a version segment.",
		Spec:    []string{"KEY-030"},
	}, keyVersionMissing},
}

// version is a segment that a changed template counts up.
var version = regexp.MustCompile(`^v[1-9][0-9]{0,8}$`)

func isVersion(s schema.Segment) bool { return s.Component == nil && version.MatchString(s.Literal) }

// versionOf is the version segment of a key, "" where it has none.
func versionOf(t *schema.Template) string {
	if i := slices.IndexFunc(t.Segments, isVersion); i >= 0 {
		return t.Segments[i].Literal
	}
	return ""
}

// nextVersion is the version after one, v2 after v1.
func nextVersion(v string) string {
	n, _ := strconv.Atoi(v[1:])
	return "v" + strconv.Itoa(n+1)
}

func keyVersionMissing(p *pass) {
	for m := range p.messages {
		if versionOf(m.Key) == "" {
			f := p.reportf(m.Key.Place, "write v1 behind the event type, as in "+m.EventType+":v1:…",
				"the key of %s has no version segment, so that no later template can be told from this one", m.Desc.FullName())
			versioned := m.EventType + ":v1" + strings.TrimPrefix(m.Key.Text, m.EventType)
			p.edit(f, m.Key.Place, replaced(`"`+m.Key.Text+`"`, `"`+versioned+`"`))
		}
	}
}
