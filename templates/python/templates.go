// Package pythontemplates holds the templates of generated Python. internal/gen/python runs them; what
// is between the braces are its views.
package pythontemplates

import "embed"

// Files are the templates.
//
//go:embed *.tmpl
var Files embed.FS
