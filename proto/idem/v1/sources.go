// Package optionsproto is the source of the options, for `idem init` to put into a repository that
// imports them.
package optionsproto

import _ "embed"

// Path is where a compiler looks for the options: `import "idem/v1/options.proto"`.
const Path = "idem/v1/options.proto"

// Options is the text of options.proto.
//
//go:embed options.proto
var Options []byte
