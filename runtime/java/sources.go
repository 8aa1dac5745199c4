// Package javacore is the sources of the Java core, which protoc-gen-idem emits beside generated Java
// (PLUG-003).
package javacore

import "embed"

// Package is the Java package of the sources.
const Package = "io.github.idemspec.v1"

// Dir is the directory of the sources in Sources.
const Dir = "src/main/java/io/github/idemspec/v1"

// Sources are the sources of the core, and nothing else of this directory.
//
//go:embed src/main/java/io/github/idemspec/v1/*.java
var Sources embed.FS
