package conformance

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/BurntSushi/toml"
)

// KnownFailure is an entry of a port's list: cases that are known to fail, and why.
//
//	[[known_failure]]
//	case = "timestamp-offset-*"
//	reason = "offsets of more than 18 hours, see issue 12"
type KnownFailure struct {
	// Case is an id or a glob over ids.
	Case   string `toml:"case" json:"case"`
	Reason string `toml:"reason" json:"reason"`
}

// ParseKnownFailures reads a list. An entry without a reason, an entry twice and a key that the
// format does not have are errors.
func ParseKnownFailures(data []byte) ([]KnownFailure, error) {
	var file struct {
		KnownFailures []KnownFailure `toml:"known_failure"`
	}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d: %s", syntax.Position.Line, syntax.Message)
		}
		return nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("the key %q: an entry is [[known_failure]] with case and reason", unknown[0])
	}
	seen := map[string]bool{}
	for i, k := range file.KnownFailures {
		switch _, err := path.Match(k.Case, ""); {
		case k.Case == "":
			return nil, fmt.Errorf("entry %d has no case", i+1)
		case strings.TrimSpace(k.Reason) == "":
			return nil, fmt.Errorf("entry %d (%s) has no reason", i+1, k.Case)
		case err != nil:
			return nil, fmt.Errorf("entry %d: the glob %q: %w", i+1, k.Case, err)
		case seen[k.Case]:
			return nil, fmt.Errorf("%q is there twice", k.Case)
		}
		seen[k.Case] = true
	}
	return file.KnownFailures, nil
}
