package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// guarded is a Kafka of the test's own that has an authorizer, which that of scripts/services has not.
type guarded struct {
	admin string // a listener where everybody may do everything
	users string // one with SASL PLAIN; the password of each user is USER-secret
	jars  string
}

// guardedKafka starts it from the jars that scripts/services has downloaded.
func guardedKafka(t *testing.T) guarded {
	t.Helper()
	kafkaBrokers(t)
	jars := filepath.Dir(os.Getenv("KAFKA_CA"))
	if tools, _ := filepath.Glob(filepath.Join(jars, "kafka-tools-[0-9]*.jar")); len(tools) == 0 {
		t.Skip("kafka-tools is not among the jars of scripts/services: stop kafka, remove .tools/services/kafka-*/complete, and start it")
	}
	dir := t.TempDir()
	g := guarded{admin: freeAddress(t), users: freeAddress(t), jars: jars}
	controller := freeAddress(t)
	file := filepath.Join(dir, "server.properties")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@%[1]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=ADMIN
listener.security.protocol.map=ADMIN:PLAINTEXT,CONTROLLER:PLAINTEXT,USERS:SASL_PLAINTEXT
listeners=ADMIN://%[2]s,CONTROLLER://%[1]s,USERS://%[3]s
advertised.listeners=ADMIN://%[2]s,USERS://%[3]s
sasl.enabled.mechanisms=PLAIN
listener.name.users.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_payments="payments-secret" user_ops="ops-secret";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs=%[4]s
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=4194304
`, controller, g.admin, g.users, filepath.Join(dir, "data")), 0o600))
	format := g.java("kafka.tools.StorageTool", "format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qg", "--config", file)
	output, err := format.CombinedOutput()
	require.NoError(t, err, string(output))
	server := g.java("kafka.Kafka", file)
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		b, err := kafka.Open(kafka.Config{Brokers: []string{g.admin}})
		if err == nil {
			_ = b.Close()
			return g
		}
		require.True(t, time.Now().Before(deadline), err)
	}
}

func (g guarded) java(args ...string) *exec.Cmd {
	return exec.Command("java", append([]string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=ERROR", "-cp", filepath.Join(g.jars, "*")}, args...)...)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// shell runs a script in which the commands of Kafka are those of its release.
func (g guarded) shell(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	for name, class := range map[string]string{
		"kafka-topics": "org.apache.kafka.tools.TopicCommand", "kafka-acls": "org.apache.kafka.tools.AclCommand", "kafka-configs": "kafka.admin.ConfigCommand"} {
		command := g.java(class)
		text := "#!/bin/sh\nexec '" + strings.Join(command.Args, "' '") + "' \"$@\"\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755))
	}
	command := exec.CommandContext(t.Context(), "sh", "-e")
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KAFKA_BROKERS="+g.admin)
	command.Stdin = strings.NewReader(script)
	output, err := command.CombinedOutput()
	require.NoError(t, err, script+string(output))
}

func (g guarded) open(t *testing.T, user string) *kafka.Broker {
	t.Helper()
	b, err := kafka.Open(kafka.Config{Brokers: []string{g.users}, SASL: kafka.SASL{Mechanism: "PLAIN", User: user, Password: user + "-secret"}, RetryFor: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// What is printed is run by Kafka's own programs, and is then all that a service and an operator need, and no more.
func TestTopicPlanIsRightOnKafka(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a Kafka, and its programs a dozen times")
	}
	g := guardedKafka(t)
	plan := func(more ...string) (string, int) {
		args := []string{"topic", "plan", "orders", "--group", "payments", "--produces", "paid", "--principal", "User:payments", "--operator", "User:ops",
			"--dead-letters", "--partitions", "2", "--replicas", "1", "--brokers", g.admin, "--check"}
		stdout, stderr, code := invoke(t, append(args, more...)...)
		require.Contains(t, []int{exitOK, exitNo}, code, stderr)
		return stdout, code
	}
	script, code := plan()
	assert.Equal(t, exitNo, code)
	g.shell(t, script)
	script, code = plan()
	assert.Equal(t, exitOK, code, script)
	assert.Contains(t, script, "# topic orders.retry.payments is there")
	assert.Contains(t, script, "# ACL is there: User:payments Read group payments")
	for line := range strings.Lines(script) {
		assert.Equal(t, "#", line[:1], line)
	}

	g.aServiceWorks(t)
	g.anOperatorSeesThePast(t)

	script, code = plan("--dead-letter-retention", "1440h", "--replicas", "2", "--partitions", "1")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, script, "# topic orders.dlq.payments has retention.ms=2592000000\nkafka-configs --bootstrap-server "+g.admin+" --alter --entity-type topics --entity-name orders.dlq.payments --add-config retention.ms=5184000000\n")
	g.shell(t, script)
	script, code = plan("--dead-letter-retention", "1440h")
	assert.Equal(t, exitOK, code, script)

	g.shell(t, "kafka-acls --bootstrap-server "+g.admin+" --add --deny-principal User:payments --operation Write --topic paid\n")
	script, code = plan("--dead-letter-retention", "1440h")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, script, "# another ACL denies it, which goes before all that allow: User:payments Write topic paid")
}

// aServiceWorks reads, commits, writes and measures as the service.
func (g guarded) aServiceWorks(t *testing.T) {
	admin, err := kafka.Open(kafka.Config{Brokers: []string{g.admin}})
	require.NoError(t, err)
	defer admin.Close()
	var orders []broker.Message
	for range 10 {
		orders = append(orders, broker.Message{Topic: "orders", Value: []byte("m")})
	}
	require.Nil(t, admin.Publish(t.Context(), orders))
	b := g.open(t, "payments")
	for _, topic := range []string{"orders.retry.payments", "orders.dlq.payments", "paid"} {
		require.Nil(t, b.Publish(t.Context(), []broker.Message{{Topic: topic, Value: []byte("m")}}), topic)
	}
	assert.NotEmpty(t, b.Publish(t.Context(), []broker.Message{{Topic: "orders", Value: []byte("m")}}), "it may write to what it only reads")
	topics := []string{"orders", "orders.retry.payments"}
	group, err := b.Group(t.Context(), "payments", topics)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := group.Join(ctx)
	require.NoError(t, err)
	for _, a := range n.Assignments() {
		_, err := n.Fetch(ctx, a.TopicPartition, a.Offset, 1<<20)
		require.NoError(t, err)
		require.NoError(t, n.Commit(ctx, map[broker.TopicPartition]int64{a.TopicPartition: a.Offset + 1}))
	}
	_, err = b.Lag(ctx, "payments", topics...)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	require.NoError(t, group.Close())
}

func (g guarded) anOperatorSeesThePast(t *testing.T) {
	for user, sees := range map[string]bool{"ops": true, "payments": false} {
		t.Setenv(kafkaPassword, user+"-secret")
		stdout, stderr, code := invoke(t, "lag", "--group", "payments", "--brokers", g.users, "--sasl", "PLAIN", "--user", user, "--for", "300ms")
		require.Equal(t, exitOK, code, stderr)
		assert.Contains(t, stdout, "group payments: Empty, members 0, lag ")
		assert.Equal(t, !sees, strings.Contains(stderr, "note: the past is not known, only what is seen from now on: read commits in __consumer_offsets"), stderr)
		if !sees {
			assert.Contains(t, stderr, "measuring for 300ms")
		}
		assert.Contains(t, stdout, "flat")
		assert.NotContains(t, stdout+stderr, "secret")
	}
}
