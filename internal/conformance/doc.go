// Package conformance asks a port of idem the vectors and gives a verdict that nobody can argue with.
//
// A port is a program that answers questions on its standard output; chapter 12 of the
// specification has the protocol. The package keeps one process of it, asks several cases before
// the first answer, and knows at every moment which case is the next to be answered: so a crash, a
// hang or a wrong line fails that case and no other.
//
// It trusts a port with nothing. The expected output is never sent, standard error is a log, lines
// and memory are bounded, and what a port leaves undone is a finding. What a vector means, and
// whether its expected value is right, it leaves to package vectors.
package conformance
