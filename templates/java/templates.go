// Package javatemplates holds the templates of generated Java. internal/gen/java runs them; what is
// between the braces are its views.
package javatemplates

import "embed"

// Files are the templates.
//
//go:embed *.tmpl
var Files embed.FS
