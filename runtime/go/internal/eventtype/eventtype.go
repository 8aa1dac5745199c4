// Package eventtype bounds the event types that become labels: they come from messages.
package eventtype

const (
	// Most is how many event types of a scope have a label of their own, unless said otherwise.
	Most = 200
	// Other stands for those beyond, and for names that are none.
	Other = "other"
)

// IsName accepts what spec 6 has for event types, and none.
func IsName(s string) bool {
	if len(s) > 200 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
