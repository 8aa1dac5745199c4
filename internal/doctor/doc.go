// Package doctor looks at the topics, groups, tables and Redis that a service is about to stand on, and says what of
// them would lose, double or hold up messages. It changes nothing, joins no group, and commits nothing.
//
// A check is data and one function. The data is what `idem doctor --list` and `idem explain` show; the function looks at
// one place, a topic or a database, and reports what it found there and how to mend it. What it may not look at is
// reported as such, and never as healthy.
package doctor
