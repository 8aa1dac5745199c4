package topics

import (
	"strconv"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Live is what a cluster has.
type Live struct {
	Topics []kafka.TopicDescription
	ACLs   []kafka.ACL
	// NoACLs says why ACLs are not known; nil where they are.
	NoACLs error
}

// topic is one that is there, also of no cluster at all.
func (l *Live) topic(name string) *kafka.TopicDescription {
	if l == nil {
		return nil
	}
	for i := range l.Topics {
		if l.Topics[i].Name == name {
			return &l.Topics[i]
		}
	}
	return nil
}

func replicasOf(t *kafka.TopicDescription) int {
	if len(t.Partitions) == 0 {
		return 0
	}
	return len(t.Partitions[0].Replicas)
}

// number is a setting, or another where it is not known.
func number(t *kafka.TopicDescription, name string, other int64) int64 {
	n, err := strconv.ParseInt(t.Config[name], 10, 64)
	if err != nil {
		return other
	}
	return n
}

// allowed says whether an ACL of the cluster allows what one of the plan wants: for all hosts, and by no ACL that denies
// it. Allowing all operations, and reading and writing for describing, count too.
func (l *Live) allowed(want ACL) (allowed, denied bool) {
	for _, have := range l.ACLs {
		if have.Resource != want.Resource || !covers(have, want.Name) || have.Principal != want.Principal && have.Principal != "User:*" {
			continue
		}
		same := have.Operation == want.Operation || have.Operation == "All"
		switch {
		case have.Deny:
			denied = denied || same
		case have.Host == "*":
			implied := want.Operation == opDescribe && (have.Operation == opRead || have.Operation == opWrite) ||
				want.Operation == opDescribeConfigs && have.Operation == "AlterConfigs"
			allowed = allowed || same || implied
		}
	}
	return allowed, denied
}

func covers(a kafka.ACL, name string) bool {
	if a.Prefixed {
		return len(name) >= len(a.Name) && name[:len(a.Name)] == a.Name
	}
	return a.Name == name || a.Name == "*"
}
