package conformance

// FindingCode names what keeps a port from being conformant beside its failures.
type FindingCode string

const (
	// NoCase: the selection has no case, or one of its globs matches none.
	NoCase FindingCode = "no_case"
	// GroupMissing: the vectors lack a required group.
	GroupMissing FindingCode = "group_missing"
	// GroupUnsupported: the port answered a required group with unsupported alone.
	GroupUnsupported FindingCode = "group_unsupported"
	// StaleKnownFailure: an entry of the list matches no case of the vectors.
	StaleKnownFailure FindingCode = "stale_known_failure"
	// UnexpectedPass: a known failure passed.
	UnexpectedPass FindingCode = "unexpected_pass"
	// ExtraOutput: lines that answer nothing, after the last answer.
	ExtraOutput FindingCode = "extra_output"
	// ExitCode: another exit code than 0 after end.
	ExitCode FindingCode = "exit_code"
	// NoExit: still there after end.
	NoExit FindingCode = "no_exit"
	// NotReproduced: a fault that shows only where several cases are asked at once.
	NotReproduced FindingCode = "not_reproduced"
	// UnknownOp: an op that does not exist is not answered with unsupported.
	UnknownOp FindingCode = "unknown_op"
	// NoWord: nothing on standard error where the protocol wants a word.
	NoWord FindingCode = "no_word"
	// GaveUp: the rest of the cases was not asked.
	GaveUp FindingCode = "gave_up"
)

// Finding is a reason for the verdict that is no case's failure.
type Finding struct {
	Code FindingCode `json:"code"`
	Text string      `json:"text"`
	// Stderr is the end of what the port wrote on its standard error.
	Stderr string `json:"stderr,omitempty"`
}
