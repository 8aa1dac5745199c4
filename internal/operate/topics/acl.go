package topics

import "slices"

// Operations, by their names in Kafka's protocol. Read and Write imply Describe.
const (
	opRead            = "Read"
	opWrite           = "Write"
	opDescribe        = "Describe"
	opDescribeConfigs = "DescribeConfigs"
)

// Resources.
const (
	ofTopic = "Topic"
	ofGroup = "Group"
)

// rights collects ACLs, each once.
type rights []ACL

func (r *rights) allow(principal, resource, name string, operations ...string) {
	for _, operation := range operations {
		acl := ACL{principal, resource, name, operation}
		if principal != "" && !slices.Contains(*r, acl) {
			*r = append(*r, acl)
		}
	}
}

// acls are the rights on the topics. A consumer reads its topics and its retry topics, and writes to the latter where its
// process runs the scheduler too, or an operator redrives.
func (s *Service) acls(topics []Topic) []ACL {
	var r rights
	for _, t := range topics {
		switch {
		case t.Kind != Origin:
			r.allow(s.Principal, ofTopic, t.Name, opRead, opWrite)
		case slices.Contains(s.Topics, t.Name):
			r.allow(s.Principal, ofTopic, t.Name, opRead)
		}
		if slices.Contains(s.Produces, t.Name) {
			r.allow(s.Principal, ofTopic, t.Name, opWrite)
		}
	}
	for _, g := range s.Groups {
		r.allow(s.Principal, ofGroup, g.Name, opRead)
	}
	for _, t := range topics {
		r.allow(s.Operator, ofTopic, t.Name, opRead, opDescribeConfigs)
	}
	for _, g := range s.Groups {
		r.allow(s.Operator, ofGroup, g.Name, opDescribe)
	}
	if len(s.Groups) > 0 {
		r.allow(s.Operator, ofTopic, commitTopic, opRead) // the past of `idem lag`
	}
	return r
}
