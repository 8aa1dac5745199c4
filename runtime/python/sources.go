// Package pythoncore is the sources of the Python core, which protoc-gen-idem emits beside generated Python
// (PLUG-003).
package pythoncore

import "embed"

// Package is the Python package of the sources.
const Package = "idemspec"

// Dir is the directory of the sources in Sources.
const Dir = "src/idemspec"

// Sources are the sources of the core, and nothing else of this directory. A folder's name alone would
// leave out __init__.py.
//
//go:embed src/idemspec/*.py src/idemspec/py.typed
var Sources embed.FS
