package main

import "math"

// object is an input whose members are taken one by one. A member that is missing, or of another type,
// or left over, makes it bad: ok is asked once all are taken.
type object struct {
	members []member
	bad     bool
}

func (v value) object() (object, bool) {
	return object{members: v.members}, v.kind == kindObject
}

// ok says whether every member was asked for and had the shape that was asked.
func (o *object) ok() bool {
	for i := range o.members {
		if !o.members[i].used {
			return false
		}
	}
	return !o.bad
}

// get takes a member. Of two of one name the second is left over.
func (o *object) get(name string) (value, bool) {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			m.used = true
			return m.value, true
		}
	}
	return value{}, false
}

func (o *object) has(name string) bool {
	for i := range o.members {
		if o.members[i].name == name {
			return true
		}
	}
	return false
}

// need takes a member of a kind that has to be there.
func (o *object) need(name string, k kind) value {
	v, ok := o.get(name)
	if !ok || v.kind != k {
		o.bad = true
	}
	return v
}

func (o *object) text(name string) string { return o.need(name, kindString).text }

func (o *object) optionalText(name string) (string, bool) {
	v, ok := o.get(name)
	if ok && v.kind != kindString {
		o.bad = true
	}
	return v.text, ok
}

func (o *object) list(name string) []value { return o.need(name, kindList).list }

// child takes an object; its own ok is the caller's to ask.
func (o *object) child(name string) object {
	return object{members: o.need(name, kindObject).members}
}

// done takes the verdict on a child into account.
func (o *object) done(child *object) {
	if !child.ok() {
		o.bad = true
	}
}

func (o *object) hex(name string) []byte {
	b, ok := parseHex(o.text(name))
	if !ok {
		o.bad = true
	}
	return b
}

func (o *object) integer(name string) integer {
	n, ok := parseInteger(o.text(name))
	if !ok {
		o.bad = true
	}
	return n
}

func (o *object) optionalInteger(name string) (integer, bool) {
	if !o.has(name) {
		return integer{}, false
	}
	return o.integer(name), true
}

// count takes an integer of least to 2^63-1.
func (o *object) count(name string, least int64) int64 {
	n, ok := o.integer(name).int64()
	if !ok || n < least {
		o.bad = true
	}
	return n
}

// small takes an integer of 0 to most.
func (o *object) small(name string, most int64) int {
	n := o.count(name, 0)
	if n > most {
		o.bad = true
		return 0
	}
	return int(n)
}

// integer is a canonical integer of any length.
type integer struct {
	negative bool
	abs      uint64
	large    bool // abs does not fit
}

// parseInteger reads 0|-?[1-9][0-9]*.
func parseInteger(s string) (n integer, ok bool) {
	if s == "0" {
		return n, true
	}
	if len(s) > 0 && s[0] == '-' {
		n.negative, s = true, s[1:]
	}
	if len(s) == 0 || s[0] == '0' {
		return n, false
	}
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			return n, false
		}
		if n.abs > (math.MaxUint64-uint64(c))/10 {
			n.large = true
		}
		n.abs = n.abs*10 + uint64(c)
	}
	return n, true
}

// int64 is the integer, or the nearest end of int64 and false.
func (n integer) int64() (int64, bool) {
	switch {
	case n.negative && (n.large || n.abs > 1<<63):
		return math.MinInt64, false
	case n.negative:
		return int64(-n.abs), true
	case n.large || n.abs > math.MaxInt64:
		return math.MaxInt64, false
	}
	return int64(n.abs), true
}

// int32 is the integer, or the nearest end of int32 and false.
func (n integer) int32() (int32, bool) {
	v, _ := n.int64()
	switch {
	case v < math.MinInt32:
		return math.MinInt32, false
	case v > math.MaxInt32:
		return math.MaxInt32, false
	}
	return int32(v), true
}

// uint64 is the integer, and false where it is none of uint64.
func (n integer) uint64() (uint64, bool) {
	return n.abs, !n.negative && !n.large
}

// nearest32 is int32 for values whose ends are out of every bound.
func (n integer) nearest32() int32 {
	v, _ := n.int32()
	return v
}

// parseHex reads lower-case hex of even length.
func parseHex(s string) ([]byte, bool) {
	if len(s)%2 != 0 {
		return nil, false
	}
	b := make([]byte, len(s)/2)
	for i := range b {
		high, low := hexValue(s[2*i]), hexValue(s[2*i+1])
		if high > 15 || low > 15 {
			return nil, false
		}
		b[i] = high<<4 | low
	}
	return b, true
}

// hexValue is the value of a lower-case hex digit, and more than 15 for other bytes.
func hexValue(c byte) byte {
	switch {
	case c-'0' < 10:
		return c - '0'
	case c-'a' < 6:
		return c - 'a' + 10
	}
	return 255
}
