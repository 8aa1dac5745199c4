package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
)

// github is GitHub's workflow commands, which it shows beside the lines of a pull request.
type github struct {
	w io.Writer
	o Options
}

func newGitHub(w io.Writer, o Options) Writer { return &github{w, o} }

// The escapes of workflow commands: of the message, and of a property.
var (
	messageEscapes  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (g *github) Write(f lint.Finding) error {
	at := g.o.characters(f.Position)
	properties := []string{"title=" + propertyEscapes.Replace(f.Rule.ID)}
	if at.Line > 0 {
		properties = append(properties, "file="+propertyEscapes.Replace(printable(g.o.path(at.File))), "line="+strconv.Itoa(at.Line))
		if at.EndLine > at.Line {
			properties = append(properties, "endLine="+strconv.Itoa(at.EndLine))
		} else if at.Column > 0 { // GitHub wants columns of one line alone
			properties = append(properties, "col="+strconv.Itoa(at.Column), "endColumn="+strconv.Itoa(max(at.EndColumn, at.Column)))
		}
	}
	message := Sentence(f)
	if at.Line < 1 {
		message = printable(g.o.path(at.File)) + ": " + message
	}
	_, err := fmt.Fprintf(g.w, "::%s %s::%s\n", f.Severity, strings.Join(properties, ","), messageEscapes.Replace(message))
	return err
}

func (g *github) Close(Summary) error { return nil }

// Sentence is a finding without its rule and its place: what is wrong, how to mend it, and below what a change alters.
func Sentence(f lint.Finding) string {
	text := printable(f.What)
	if f.Mend != "" {
		text += ": " + printable(f.Mend)
	}
	if f.Before != "" || f.After != "" {
		text += "\nbefore: " + printable(f.Before) + "\nafter: " + printable(f.After)
	}
	return text
}
