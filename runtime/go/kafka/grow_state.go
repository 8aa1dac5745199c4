package kafka

import (
	"slices"
	"time"
)

// GrowStep is how far a move has come.
type GrowStep string

// The steps, in their order. The empty one is the beginning.
const (
	StepCreated GrowStep = "created" // the new topics are there
	StepFenced  GrowStep = "fenced"  // the old topic takes no more messages
	StepSent    GrowStep = "sent"    // the outbox has none for it; producers may write to the new one
	StepDrained GrowStep = "drained" // nothing of the old topic is left to do
	StepDone    GrowStep = "done"    // consumers may read the new one
)

var growSteps = []GrowStep{"", StepCreated, StepFenced, StepSent, StepDrained, StepDone}

func (s GrowStep) next() GrowStep {
	i := slices.Index(growSteps, s)
	return growSteps[min(i+1, len(growSteps)-1)]
}

func (s GrowStep) before(other GrowStep) bool {
	return slices.Index(growSteps, s) < slices.Index(growSteps, other)
}

// GrowState is what a move has to remember, for whoever stores it between two runs.
type GrowState struct {
	Old        string   `json:"old"`
	New        string   `json:"new"`
	Partitions int32    `json:"partitions"`
	Groups     []string `json:"groups"`
	Step       GrowStep `json:"step"`
	// Limit is the old topic's own max.message.bytes before the fence; nil where it had none.
	Limit *string `json:"limit,omitempty"`
	// Ends are the old topic's ends once it was fenced, by partition. They never change after that.
	Ends    []int64   `json:"ends,omitempty"`
	Updated time.Time `json:"updated"`
}

// adopt takes the move that is asked for, and refuses another one than the one that was begun.
func (s *GrowState) adopt(asked GrowState) error {
	if s.Old == "" {
		*s = asked
		return nil
	}
	switch {
	case slices.Index(growSteps, s.Step) < 0:
		return refuse("the state has step %q, which this version does not know", s.Step)
	case s.Old != asked.Old || s.New != asked.New || s.Partitions != asked.Partitions:
		return refuse("the state is of another move: %s to %s with %d partitions; name another file for this one, or remove that one", s.Old, s.New, s.Partitions)
	case !slices.Equal(s.Groups, asked.Groups):
		return refuse("the move was begun for groups %q, not for %q", s.Groups, asked.Groups)
	}
	return nil
}
