// Package bulk makes cases from a seed, in numbers that no file would hold: valid ones, invalid ones
// and above all those on the boundary between the two.
//
// A case depends on the seed and its number alone, so that one of a million can be made again by
// itself. What a case says is fixed for good by the digest in conformance-vectors/bulk.json; a change
// of the generator is a change of that file. The package knows the shapes of chapter 12 and nothing of
// the right answers.
package bulk
