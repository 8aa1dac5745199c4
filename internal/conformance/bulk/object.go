package bulk

import "slices"

// object is a JSON object whose members keep their order. A value is a string, a bool, nil, an
// object, a list, or raw.
type object struct{ members []member }

type member struct {
	name  string
	value any
}

type list []any

// raw is a value as JSON has it.
type raw string

// set adds a member.
func (o *object) set(name string, value any) *object {
	o.members = append(o.members, member{name, value})
	return o
}

// with makes an object of one member.
func with(name string, value any) *object { return new(object).set(name, value) }

func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case raw:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case list:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	case *object:
		return appendJSON(dst, *v)
	case object:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, m.name), ':')
			dst = appendJSON(dst, m.value)
		}
		return append(dst, '}')
	default:
		panic("bulk: no JSON value")
	}
}

// appendString writes s, which is valid UTF-8, with the escapes that JSON demands.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// spoil makes one fault of shape, which is INPUT_INVALID wherever it is.
func spoil(r *random, o *object) {
	for {
		if len(o.members) == 0 {
			o.set("extra", "1")
			return
		}
		i := r.below(len(o.members))
		inner, isObject := o.members[i].value.(*object)
		if !isObject || r.percent(50) {
			o.spoil(r, i)
			return
		}
		o = inner
	}
}

func (o *object) spoil(r *random, i int) {
	m := &o.members[i]
	switch r.below(6) {
	case 0:
		o.members = slices.Delete(o.members, i, i+1)
	case 1:
		m.name = o.free(pick(r, m.name+"s", "", "x", " "+m.name, "Text"))
	case 2:
		o.set(o.free(pick(r, "extra", "text", "hex", "seconds", "", "id")), pick[any](r, "1", true, nil, list{}))
	case 3:
		m.value = pick[any](r, nil, true, false, raw("1"), raw("0"), raw("1.5"), list{}, &object{})
	case 4:
		m.value = list{m.value}
	default:
		if s, ok := m.value.(string); ok {
			m.value = uncanonical(r, s)
			return
		}
		m.value = ""
	}
}

// free returns a name that no member has: JSON leaves open what two of one name mean.
func (o *object) free(name string) string {
	for slices.ContainsFunc(o.members, func(m member) bool { return m.name == name }) {
		name += "_"
	}
	return name
}
