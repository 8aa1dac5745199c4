package kafka

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestCredentialsAndTLS(t *testing.T) {
	t.Parallel()
	plaintext, secure, encrypted := realtest.Kafka(t), realtest.KafkaSASL(t), realtest.KafkaTLS(t)
	topic := realtest.Topic(t, plaintext, 1)
	configs := map[string]Config{"TLS": {Brokers: encrypted.Brokers, TLS: encrypted.TLS}}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		configs[mechanism] = Config{Brokers: secure.Brokers, SASL: SASL{mechanism, secure.User, secure.Password}}
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := opened(t, config)
			publish(t, b, broker.Message{Topic: topic, Value: []byte(name)})
			n := join(t, member(t, b, topic+"-"+name, topic))
			if batch, err := n.Fetch(t.Context(), at(topic, 0), 0, 1000); err != nil || len(batch.Messages) == 0 {
				t.Errorf("fetch gives %v, %v", batch, err)
			}
			if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 0): 1}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsWrongIsNamedWithoutTheSecret(t *testing.T) {
	t.Parallel()
	plaintext, secure, encrypted := realtest.Kafka(t), realtest.KafkaSASL(t), realtest.KafkaTLS(t)
	const secret = "hunter2-is-secret"
	for _, c := range []struct {
		name   string
		config Config
		says   []string
	}{
		{"wrong password, PLAIN", Config{Brokers: secure.Brokers, SASL: SASL{"PLAIN", secure.User, secret}}, []string{"PLAIN as idem", "SASL.Password"}},
		{"wrong password, SCRAM", Config{Brokers: secure.Brokers, SASL: SASL{"SCRAM-SHA-512", secure.User, secret}}, []string{"SCRAM-SHA-512 as idem", "SASL.Password"}},
		{"unknown user", Config{Brokers: secure.Brokers, SASL: SASL{"SCRAM-SHA-256", "nobody", secret}}, []string{"SCRAM-SHA-256 as nobody", "SASL.User"}},
		{"no credentials", Config{Brokers: secure.Brokers}, []string{"TLS or SASL"}},
		{"credentials where none are asked for", Config{Brokers: plaintext, SASL: SASL{"PLAIN", "idem", secret}}, []string{"SASL"}},
		{"TLS where none is spoken", Config{Brokers: plaintext, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}, []string{"set TLS to nil"}},
		{"no TLS where it is spoken", Config{Brokers: encrypted.Brokers}, []string{"TLS or SASL"}},
		{"unknown authority", Config{Brokers: encrypted.Brokers, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}, []string{"TLS.RootCAs"}},
		{"another name", Config{Brokers: encrypted.Brokers, TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: encrypted.TLS.RootCAs, ServerName: "kafka.example"}}, []string{"TLS.ServerName"}},
		{"nobody there", Config{Brokers: []string{"127.0.0.1:1"}}, []string{"127.0.0.1:1", "check that Kafka runs"}},
		{"no such host", Config{Brokers: []string{"no-such-host.invalid:9092"}}, []string{"advertised.listeners"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c.config.RequestTimeout = 5 * time.Second
			b, err := Open(c.config)
			if err == nil {
				_ = b.Close()
				t.Fatal("it opens")
			}
			contains(t, "the error", err.Error(), c.says...)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error has the password: %v", err)
			}
			if took := time.Since(start); took > 8*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestConfigThatCannotWorkIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config Config
		says   string
	}{
		{Config{}, "Brokers is empty"},
		{Config{Brokers: []string{"localhost"}}, `"localhost"`},
		{Config{Brokers: []string{"me:secretword@localhost:9092"}}, "Config.SASL"},
		{Config{Brokers: []string{"a:1"}, Compression: "rar"}, `Compression is "rar"`},
		{Config{Brokers: []string{"a:1"}, MaxWait: -1}, "MaxWait"},
		{Config{Brokers: []string{"a:1"}, MaxBatchBytes: -1}, "MaxBatchBytes"},
		{Config{Brokers: []string{"a:1"}, SessionTimeout: time.Second, HeartbeatInterval: time.Second}, "HeartbeatInterval"},
		{Config{Brokers: []string{"a:1"}, SASL: SASL{Mechanism: "GSSAPI"}}, `"GSSAPI"`},
		{Config{Brokers: []string{"a:1"}, SASL: SASL{User: "u", Password: "p"}}, "no Mechanism"},
		{Config{Brokers: []string{"a:1"}, SASL: SASL{Mechanism: "PLAIN", User: "u"}}, "Password"},
		{Config{Brokers: []string{"a:1"}, SASL: SASL{"SCRAM-SHA-256", "u", "secret\x00word"}}, "UTF-8 without control"},
	} {
		_, err := Open(c.config)
		if err == nil {
			t.Errorf("%v opens", c.config)
			continue
		}
		contains(t, "the error", err.Error(), c.says)
		if strings.Contains(err.Error(), "word") && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the password: %v", err)
		}
	}
}

func TestCredentialsPrintWithoutThePassword(t *testing.T) {
	t.Parallel()
	s := SASL{"PLAIN", "idem", "hunter2"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "sasl", s, "config", Config{SASL: s})
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), fmt.Sprintf("%+v", Config{SASL: s}), log.String()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s has the password", text)
		}
		contains(t, "it", text, "idem")
	}
}
