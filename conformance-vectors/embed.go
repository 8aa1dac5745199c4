// Package conformancevectors holds the vectors of the specification: what a right implementation
// answers, group by group. Its README tells how to read one, how they are made and how to add one.
package conformancevectors

import "embed"

// Files holds manifest.json, which names the other files, their counts and their SHA-256, schema/,
// which says what may be in them, and descriptors.binpb, the types of the messages.
//
//go:embed *.json *.binpb schema
var Files embed.FS
