package checklist

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expandVariables puts variables of the environment into the texts of a YAML document: after it was parsed, so that
// no value becomes structure. The document has the lines of data.
func expandVariables(data []byte) (document *yaml.Node, text string, err error) {
	document = &yaml.Node{}
	if err := yaml.Unmarshal(data, document); err != nil {
		return nil, "", err
	}
	if document.Kind == 0 {
		return nil, "", fmt.Errorf("it is empty: see idem faults --help")
	}
	if err := expandNode(document); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	err = yaml.NewEncoder(&out).Encode(document)
	return document, out.String(), err
}

func expandNode(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && variable.MatchString(n.Value) {
		var missing string
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(text string) string {
			parts := variable.FindStringSubmatch(text)
			value, set := os.LookupEnv(parts[1])
			switch {
			case set && value != "":
				return value
			case parts[2] != "":
				return parts[3]
			}
			missing = parts[1]
			return ""
		})
		if missing != "" {
			return fmt.Errorf("line %d: the variable %s is not set; set it, or give it a default: ${%s:-…}", n.Line, missing, missing)
		}
		n.Style, n.Tag = yaml.DoubleQuotedStyle, "!!str"
	}
	for _, child := range n.Content {
		if err := expandNode(child); err != nil {
			return err
		}
	}
	return nil
}

// values are what stands for {name}.
type values map[string]string

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// fill puts values in. A name that it does not know stays as it is: texts may have braces of their own.
func (v values) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if value, known := v[strings.Trim(p, "{}")]; known {
			return value
		}
		return p
	})
}

// with is v and one more.
func (v values) with(name, value string) values {
	all := make(values, len(v)+1)
	for k, old := range v {
		all[k] = old
	}
	all[name] = value
	return all
}

// fillAll fills the texts within what YAML made.
func (v values) fillAll(of any) any {
	switch of := of.(type) {
	case string:
		return v.fill(of)
	case []any:
		all := make([]any, len(of))
		for i := range of {
			all[i] = v.fillAll(of[i])
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(of))
		for name, value := range of {
			all[name] = v.fillAll(value)
		}
		return all
	}
	return of
}
