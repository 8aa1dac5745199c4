package main

import (
	"io/fs"

	vectors "github.com/idem-spec/idem/conformance-vectors"
)

// embeddedVectors are the vectors within this program.
var embeddedVectors fs.FS = vectors.Files
