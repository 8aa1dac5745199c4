package idem

// Transition is what generated code says of the transition that a message stands for.
type Transition struct {
	// Machine is the full name of the enum that declares the state machine, "shop.v1.OrderState".
	Machine string
	// From and To are the texts of the states before and after. From is "" for a creation.
	From, To string
	// DeadLetterSuperseded says that a message whose transition another key has made is dead-lettered; it is
	// acknowledged otherwise. (STATE-011)
	DeadLetterSuperseded bool
}

// UnknownState is the error of a verdict on a state that no transition names: CodeStateUnknown. Generated
// code calls it.
func UnknownState(current string) error {
	return fault(CodeStateUnknown, current, noOffset, "the current state is in no transition")
}
