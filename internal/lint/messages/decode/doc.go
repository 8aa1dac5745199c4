// Package decode reads from a payload what rules about messages need, and no more: the values that a
// message's templates name, and what is odd about the rest.
//
// A Plan is compiled once for a message of the schema. A Decoder walks a payload along it, in binary or in
// JSON, without building the message, so that checking a message costs no more than decoding it does. Where
// a payload in JSON has something rare, protojson reads it into a dynamic message, whose bytes are then
// walked; and what is no message is what protobuf's own decoder refuses, too. Fuzz targets compare the two.
package decode
