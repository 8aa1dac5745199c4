// Package emit holds what the emitters of all languages share: their signature, and what a run of
// the plugin asks of them.
package emit

import (
	"google.golang.org/protobuf/compiler/protogen"

	"github.com/idem-spec/idem/internal/schema"
)

// Emitter makes the output of one language.
//
// files are the files of set to emit for, in the order of their paths, also those without any
// option; set may hold more, which a message can refer to. The output of a file depends on that file
// and what it refers to alone, not on which other files are in the run (PLUG-002).
//
// Problems are names that collide and their like, with positions. Where there is one, in any
// language, no file of the run is written.
type Emitter func(set *schema.Set, files []*schema.File, opts Options) ([]File, []schema.Problem)

// File is one output file. Name is relative to the output directory and has slashes on every system.
type File struct {
	Name    string
	Content string
}

// Taken says that an output file is another's already, or differs in case alone from it: not every file
// system tells such names apart, and there one would overwrite the other. other is the name that is
// taken, and of whose it is. (PLUG-005)
func Taken(name, other, of string) string {
	if name == other {
		return name + ", as that of " + of + " is"
	}
	return name + ", which case alone tells from " + other + " of " + of + ", and not every file system does"
}

// Options is the part of the plugin's parameters that emitters read.
type Options struct {
	// Go is the run as protogen has it, and nil where lang has no go.
	Go *protogen.Plugin
	// Support says whether the support sources are part of the output of the file that declares the
	// options (schema.File.DeclaresOptions): support=emit, the default.
	Support bool
	// SupportPackage is the package of the support classes (support_package=), and empty where it is
	// the language's default. It is a valid dotted name.
	SupportPackage string
}

// PluginVersion is the version of the plugin. It is no part of the output: what was generated shows
// the contract it needs, and an update of the plugin that changes nothing changes no file.
const PluginVersion = "1.0.0"
