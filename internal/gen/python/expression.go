package python

import "strings"

// bodyIndent is the columns of the statements of a method.
const bodyIndent = 8

// expression is a Python expression that may be too long for a line. It is laid out as ruff and black do.
type expression interface{ flat() string }

// plain is an expression that is never broken: a name, an attribute, a literal.
type plain string

// call is the call of a function.
type call struct {
	function string
	args     []expression
}

// choice is "then if test else otherwise".
type choice struct{ then, test, otherwise expression }

// either is "left or right".
type either struct{ left, right expression }

func (n plain) flat() string { return string(n) }
func (c call) flat() string  { return c.function + "(" + flatArgs(c.args) + ")" }
func (c choice) flat() string {
	return c.then.flat() + " if " + c.test.flat() + " else " + c.otherwise.flat()
}
func (e either) flat() string { return e.left.flat() + " or " + e.right.flat() }

func flatArgs(args []expression) string {
	all := make([]string, len(args))
	for i, arg := range args {
		all[i] = arg.flat()
	}
	return strings.Join(all, ", ")
}

// layout writes the lines of lead, e and tail, each after so many columns.
func layout(indent int, lead string, e expression, tail string) []string {
	line := lead + e.flat() + tail
	if fits(indent, line) {
		return []string{pad(indent) + line}
	}
	switch e := e.(type) {
	case call:
		lines := []string{pad(indent) + lead + e.function + "("}
		if args := flatArgs(e.args); fits(indent+4, args) {
			lines = append(lines, pad(indent+4)+args)
		} else {
			for _, arg := range e.args {
				lines = append(lines, layout(indent+4, "", arg, ",")...)
			}
		}
		return append(lines, pad(indent)+")"+tail)
	case choice:
		return bracketed(indent, lead, e, tail, func(indent int, tail string) []string {
			lines := layout(indent, "", e.then, "")
			lines = append(lines, layout(indent, "if ", e.test, "")...)
			return append(lines, layout(indent, "else ", e.otherwise, tail)...)
		})
	case either:
		return bracketed(indent, lead, e, tail, func(indent int, tail string) []string {
			return append(layout(indent, "", e.left, ""), layout(indent, "or ", e.right, tail)...)
		})
	}
	return []string{pad(indent) + line}
}

// bracketed puts brackets around an expression that takes several lines, unless there are some already.
func bracketed(indent int, lead string, e expression, tail string, parts func(indent int, tail string) []string) []string {
	if lead == "" {
		return parts(indent, tail)
	}
	lines := []string{pad(indent) + lead + "("}
	if inside := e.flat(); fits(indent+4, inside) {
		lines = append(lines, pad(indent+4)+inside)
	} else {
		lines = append(lines, parts(indent+4, "")...)
	}
	return append(lines, pad(indent)+")"+tail)
}

// fstring is an f-string made of pieces.
func fstring(pieces []string) string { return `f"` + strings.Join(pieces, "") + `"` }

// text assigns a text that is made of pieces of an f-string.
func text(to string, pieces []string) []string {
	line := to + " = " + fstring(pieces)
	if fits(bodyIndent, line) {
		return []string{pad(bodyIndent) + line}
	}
	lines := []string{pad(bodyIndent) + to + " = ("}
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && fits(bodyIndent+4, fstring(pieces[:n+1])) {
			n++
		}
		lines = append(lines, pad(bodyIndent+4)+fstring(pieces[:n]))
		pieces = pieces[n:]
	}
	return append(lines, pad(bodyIndent)+")")
}

func fits(indent int, line string) bool { return indent+width(line) <= lineLength }

func pad(indent int) string { return strings.Repeat(" ", indent) }
