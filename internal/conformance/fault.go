package conformance

// FaultKind is the way in which a port failed to answer.
type FaultKind string

const (
	// Crash: the port's output ended.
	Crash FaultKind = "crash"
	// Hang: no answer within the time limit.
	Hang FaultKind = "hang"
	// WrongLine: a line that is no answer to the case.
	WrongLine FaultKind = "wrong_line"
	// NotAsked: the port could not be started again, or stopped too many times in a row.
	NotAsked FaultKind = "not_asked"
)

// Fault is a case without an answer.
type Fault struct {
	Kind FaultKind
	Text string
	// Stderr is the end of what the process wrote on its standard error.
	Stderr string

	// twice is whether the case of that number was answered before.
	twice bool
	of    int
}

// Error makes a fault an error.
func (f *Fault) Error() string { return string(f.Kind) + ": " + f.Text }

// NotRunError says why a port could not be run at all, which is no verdict.
type NotRunError struct {
	Err error
	// Stderr is the end of what the port wrote on its standard error.
	Stderr string
}

func (e *NotRunError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotRunError) Unwrap() error { return e.Err }
