// Package googleapis is the sources of google/type that the spec knows, for commands that compile
// schemas by themselves.
package googleapis

import "embed"

// Files are the sources, by the paths of their imports.
//
//go:embed google
var Files embed.FS
