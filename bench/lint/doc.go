// Command lint measures `idem check` beside plain decoding of the same files: generated types, as services
// have them, and dynamic messages, as tools have them. It prints JSON for bench/harness:
//
//	lint [-quick]
//
// All contenders read the same file from its beginning, in turns. idem checks each message by all rules and
// counts keys; the others decode it and do nothing with it.
//
// It is a module of its own, since it takes both the linter and the messages that scripts/bench generates.
package main
