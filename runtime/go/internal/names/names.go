// Package names has the one rule for names that become labels and columns: scopes, services, event types. (spec 6)
package names

// Most is how many bytes a name has at most.
const Most = 200

// Is says whether s is a name: up to 200 of [A-Za-z0-9._-]. An empty one is; who needs one asks besides.
func Is(s string) bool {
	if len(s) > Most {
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
