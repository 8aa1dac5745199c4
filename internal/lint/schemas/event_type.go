package schemas

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// eventTypeImported looks for event types that a message of an imported file has: generation, which looks
// at the files of one run, does not see it.
func eventTypeImported(p *pass) {
	own := false
	for range p.messages {
		own = true
		break
	}
	if !own {
		return
	}
	imported := make(map[string]*schema.Message)
	for _, f := range p.imports().Files {
		for _, m := range f.Messages {
			imported[m.EventType] = m
		}
	}
	for m := range p.messages {
		if other := imported[m.EventType]; other != nil {
			p.report(m.Key.Place, fmt.Sprintf("%s has the event type %q of %s in %s",
				m.Desc.FullName(), m.EventType, other.Desc.FullName(), other.Desc.ParentFile().Path()),
				"give each message an event type of its own: consumers tell messages apart by it")
		}
	}
}

// EventTypes are those of all messages of a schema, of imported ones too. complete says that none is refused, whose
// event type is then unknown.
func EventTypes(files []protoreflect.FileDescriptor) (eventTypes []string, complete bool) {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path())
	}
	set, problems := schema.Build(files, paths)
	for _, f := range set.Files {
		for _, m := range f.Messages {
			eventTypes = append(eventTypes, m.EventType)
		}
	}
	return eventTypes, len(problems) == 0
}

// imports is the set of the files that are not to be linted.
func (p *pass) imports() *schema.Set {
	var paths []string
	for _, f := range p.files {
		if !p.linted(f) {
			paths = append(paths, f.Path())
		}
	}
	set, _ := schema.Build(p.files, paths)
	return set
}
