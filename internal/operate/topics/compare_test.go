package topics

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// there is a topic of a cluster.
func there(name string, partitions, replicas int, config ...string) kafka.TopicDescription {
	d := kafka.TopicDescription{Name: name, Config: map[string]string{cleanup: "delete", retention: "604800000", sizeLimit: "1048588", leastInSync: "1"}}
	for range partitions {
		d.Partitions = append(d.Partitions, kafka.PartitionDescription{Replicas: make([]int32, replicas)})
	}
	for i := 0; i < len(config); i += 2 {
		d.Config[config[i]] = config[i+1]
	}
	return d
}

func payments() *Service {
	return &Service{Topics: []string{"orders"}, Groups: []Group{{"payments", "billing"}}, Partitions: 12, Principal: "User:p", Longest: time.Hour}
}

func TestATopicThatIsThereSaysWhatItsRetryTopicNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		live []kafka.TopicDescription
		want []string
	}{
		{"nothing there", nil, []string{"orders missing", "orders.retry.billing missing: 12, 1064972"}},
		{"the topic alone", []kafka.TopicDescription{there("orders", 5, 3, sizeLimit, "5000000", leastInSync, "2")},
			[]string{"orders ok", "orders.retry.billing missing: 5, 5016384"}},
		{"all as planned", []kafka.TopicDescription{there("orders", 5, 1), there("orders.retry.billing", 5, 1, sizeLimit, "1064972")},
			[]string{"orders ok", "orders.retry.billing ok"}},
		{"more than planned", []kafka.TopicDescription{there("orders", 5, 1, retention, "-1"), there("orders.retry.billing", 9, 3, sizeLimit, "9999999", leastInSync, "2")},
			[]string{"orders ok", "orders.retry.billing ok"}},
		{"less", []kafka.TopicDescription{there("orders", 5, 3, leastInSync, "2", retention, "3600000"), there("orders.retry.billing", 1, 1, cleanup, "compact")},
			[]string{"orders different retention.ms 3600000 604800000",
				"orders.retry.billing different partitions 1 5 replicas 1 3 cleanup.policy compact delete max.message.bytes 1048588 1064972 min.insync.replicas 1 2"}},
		{"compacted and deleted", []kafka.TopicDescription{there("orders", 5, 1, cleanup, "compact,delete"), there("orders.retry.billing", 5, 1, sizeLimit, "1064972")},
			[]string{"orders different cleanup.policy compact,delete delete", "orders.retry.billing ok"}},
	} {
		live := &Live{Topics: c.live}
		plan, err := payments().Plan(live)
		require.NoError(t, err)
		var got []string
		for _, s := range plan.Compare(live).Topics {
			line := s.Name + " " + string(s.Status)
			if s.Status == Missing && s.Kind == Retry {
				line += fmt.Sprintf(": %d, %s", s.Partitions, s.Config[1].Value)
			}
			for _, d := range s.Differences {
				line += " " + d.Name + " " + d.Have + " " + d.Want
			}
			got = append(got, line)
		}
		assert.Equal(t, c.want, got, c.what)
	}
}

func TestWhatIsUnknownIsNotDone(t *testing.T) {
	t.Parallel()
	denied := there("orders", 1, 1)
	denied.Config, denied.ConfigErr = nil, errors.New("not\nauthorized")
	live := &Live{Topics: []kafka.TopicDescription{denied, there("orders.retry.billing", 1, 1, sizeLimit, "1064972")}, NoACLs: errors.New("security disabled")}
	plan, err := payments().Plan(live)
	require.NoError(t, err)
	compared := plan.Compare(live)
	assert.False(t, compared.Done())
	assert.Equal(t, []string{"# the settings of topic orders are not known: not authorized"}, compared.Topics[0].Commands(Tools{}))
	for _, a := range compared.ACLs {
		assert.Equal(t, Unknown, a.Status)
		assert.Contains(t, a.Command(Tools{}), "kafka-acls")
	}
}

func TestACLsThatAllowAndDeny(t *testing.T) {
	t.Parallel()
	want := ACL{"User:p", ofTopic, "orders", opRead}
	acl := func(change func(*kafka.ACL)) kafka.ACL {
		a := kafka.ACL{Principal: "User:p", Host: "*", Resource: ofTopic, Name: "orders", Operation: opRead}
		change(&a)
		return a
	}
	as := func(*kafka.ACL) {}
	for _, c := range []struct {
		what string
		want ACL
		acls []kafka.ACL
		be   Status
	}{
		{"none", want, nil, Missing},
		{"that one", want, []kafka.ACL{acl(as)}, OK},
		{"of everybody", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Principal = "User:*" })}, OK},
		{"of another", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Principal = "User:q" })}, Missing},
		{"all operations", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Operation = "All" })}, OK},
		{"another operation", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Operation = opWrite })}, Missing},
		{"all topics", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Name = "*" })}, OK},
		{"topics that begin so", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Name, a.Prefixed = "ord", true })}, OK},
		{"topics that begin otherwise", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Name, a.Prefixed = "orders.", true })}, Missing},
		{"a name that is no prefix", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Name = "ord" })}, Missing},
		{"a group of that name", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Resource = ofGroup })}, Missing},
		{"from one host", want, []kafka.ACL{acl(func(a *kafka.ACL) { a.Host = "10.0.0.7" })}, Missing},
		{"denied from one host", want, []kafka.ACL{acl(as), acl(func(a *kafka.ACL) { a.Host, a.Deny = "10.0.0.7", true })}, Different},
		{"all denied", want, []kafka.ACL{acl(as), acl(func(a *kafka.ACL) { a.Operation, a.Deny = "All", true })}, Different},
		{"another denied", want, []kafka.ACL{acl(as), acl(func(a *kafka.ACL) { a.Operation, a.Deny = opWrite, true })}, OK},
		{"reading describes", ACL{"User:p", ofTopic, "orders", opDescribe}, []kafka.ACL{acl(as)}, OK},
	} {
		assert.Equal(t, c.be, c.want.compare(&Live{ACLs: c.acls}), c.what)
	}
}

func TestWordsOfAShell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a:9092,b:9092": "a:9092,b:9092", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a;b": "'a;b'"} {
		assert.Equal(t, want, quoted(text))
	}
	names := labels{}
	assert.Equal(t, []string{"a_b", "a_b_2", "_1"}, []string{names.of("a.b"), names.of("a_b"), names.of("1")})
	assert.Equal(t, `"a\"b\\$${c}%%{d}$e\u000a"`, hcl("a\"b\\${c}%{d}$e\n"))
}
