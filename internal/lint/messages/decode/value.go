package decode

// value is what a payload has of a component. Text shares memory with the payload, or with what the decoder
// made of it.
type value struct {
	// there says that the field was in the payload, and parent that the message it is in was.
	there, parent bool
	// n is an integer, a bool or an enum's number; seconds, units or a year.
	n uint64
	// nanos are nanos, or a month, and day is a day.
	nanos, day int32
	text       []byte
}

// zero says that the field has its zero value.
func (v *value) zero() bool { return v.n == 0 && len(v.text) == 0 }

// put puts a number into its part.
func (v *value) put(p part, n uint64) {
	switch p {
	case whole, first:
		v.n = n
	case second:
		v.nanos = int32(n)
	case third:
		v.day = int32(n)
	}
}
