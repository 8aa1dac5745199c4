package topics

import (
	"fmt"
	"io"
	"strings"
)

// Terraform writes the plan for the provider Mongey/kafka, which compares it with the cluster by itself.
func (p *Plan) Terraform(w io.Writer) {
	names := labels{}
	for i, t := range p.Topics {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "resource \"kafka_topic\" %q {\n", names.of(t.Name))
		fmt.Fprintf(w, "  name               = %s\n  partitions         = %d\n  replication_factor = %d\n", hcl(t.Name), t.Partitions, t.Replicas)
		fmt.Fprint(w, "\n  config = {\n")
		width := 0
		for _, c := range t.Config {
			width = max(width, len(c.Name)+2)
		}
		for _, c := range t.Config {
			fmt.Fprintf(w, "    %-*s = %s\n", width, hcl(c.Name), hcl(c.Value))
		}
		fmt.Fprint(w, "  }\n}\n")
	}
	names = labels{}
	for _, a := range p.ACLs {
		fmt.Fprintf(w, "\nresource \"kafka_acl\" %q {\n", names.of(strings.Join([]string{a.Principal, a.Operation, a.Resource, a.Name}, "_")))
		for _, f := range [][2]string{
			{"resource_name", a.Name}, {"resource_type", a.Resource}, {"resource_pattern_type_filter", "Literal"},
			{"acl_principal", a.Principal}, {"acl_host", "*"}, {"acl_operation", a.Operation}, {"acl_permission_type", "Allow"},
		} {
			fmt.Fprintf(w, "  %-28s = %s\n", f[0], hcl(f[1]))
		}
		fmt.Fprint(w, "}\n")
	}
}

// labels gives each resource a name of its own.
type labels map[string]bool

func (l labels) of(text string) string {
	label := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, text)
	if label[0] != '_' && (label[0] < 'a' || label[0] > 'z') {
		label = "_" + label
	}
	for base, n := label, 2; l[label]; n++ {
		label = fmt.Sprintf("%s_%d", base, n)
	}
	l[label] = true
	return label
}

// hcl is a text in quotes, which nothing is put into.
func hcl(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(r)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
