package kafka

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Config says how to reach Kafka. Brokers is all it needs.
type Config struct {
	// Brokers are addresses, host:port, of some of the cluster's brokers.
	Brokers []string
	// ClientID is what the brokers' logs and quotas call this process. Default "idem".
	ClientID string
	// TLS, where the brokers ask for it. nil: none.
	TLS *tls.Config
	// SASL, where the brokers ask for it. The zero value: none.
	SASL SASL

	// Compression of what is published: "none", "gzip", "snappy", "lz4" or "zstd". Default "none".
	Compression string
	// MaxBatchBytes is about how much of one partition is sent at once, before compression. Default 900,000,
	// below the limit that topics have by default. A message that is larger goes alone.
	MaxBatchBytes int
	// MaxMessageBytes is what is refused before it is sent. Default 64 MiB; the topic's own limit,
	// max.message.bytes, counts besides.
	MaxMessageBytes int
	// RetryFor is how long a publication is tried again while the cluster has no leader, too few replicas
	// or no connection. The context of Publish may end it sooner. Default 30 s.
	RetryFor time.Duration
	// UnknownTopicFor is the same for a topic that the cluster does not know: one that was just created is
	// not known everywhere at once. Default 5 s.
	UnknownTopicFor time.Duration
	// RequestTimeout is how long one request to a broker may take. Default 10 s.
	RequestTimeout time.Duration

	// MaxWait is how long a fetch waits for messages. Default 500 ms.
	MaxWait time.Duration
	// SessionTimeout is how long a member may be silent before the group goes on without it. It is also how
	// long a member has, at a rebalance, to finish and to join again. Default 30 s.
	SessionTimeout time.Duration
	// HeartbeatInterval is how soon a member learns of a rebalance. Default 1 s, or a third of
	// SessionTimeout where that is less.
	HeartbeatInterval time.Duration
	// PartitionWatchInterval is how soon a group learns of added partitions. Default 5 s.
	PartitionWatchInterval time.Duration

	// Logger gets what an operator should know. Default slog.Default().
	Logger *slog.Logger
}

// SASL are credentials. It prints as its mechanism and user, never with the password.
type SASL struct {
	// Mechanism is "PLAIN", "SCRAM-SHA-256" or "SCRAM-SHA-512".
	Mechanism      string
	User, Password string
}

// String leaves the password out.
func (s SASL) String() string {
	if s.Mechanism == "" {
		return "none"
	}
	return s.Mechanism + " as " + s.User
}

// GoString leaves the password out.
func (s SASL) GoString() string { return "kafka.SASL{" + s.String() + "}" }

// Format leaves the password out, whatever the verb.
func (s SASL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue leaves the password out.
func (s SASL) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText leaves the password out.
func (s SASL) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// checked fills in the defaults, and says what cannot work.
func (c Config) checked() (Config, error) {
	if len(c.Brokers) == 0 {
		return c, errors.New("kafka: Brokers is empty: name at least one broker, such as localhost:9092")
	}
	for _, address := range c.Brokers {
		if strings.Contains(address, "@") { // not shown: it is a password, for the most part
			return c, errors.New("kafka: Brokers has an address with an @: an address is host:port, such as localhost:9092; user and password are Config.SASL")
		}
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			return c, fmt.Errorf("kafka: Brokers has %q: an address is host:port, such as localhost:9092", address)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"RetryFor", c.RetryFor}, {"UnknownTopicFor", c.UnknownTopicFor}, {"RequestTimeout", c.RequestTimeout},
		{"MaxWait", c.MaxWait}, {"SessionTimeout", c.SessionTimeout}, {"HeartbeatInterval", c.HeartbeatInterval},
		{"PartitionWatchInterval", c.PartitionWatchInterval},
	} {
		if d.value < 0 {
			return c, fmt.Errorf("kafka: %s is %v: it cannot be negative; leave it 0 for the default", d.name, d.value)
		}
	}
	if c.MaxBatchBytes < 0 || c.MaxMessageBytes < 0 {
		return c, fmt.Errorf("kafka: MaxBatchBytes is %d and MaxMessageBytes %d: they cannot be negative; leave them 0 for the defaults", c.MaxBatchBytes, c.MaxMessageBytes)
	}
	c.ClientID = cmp.Or(c.ClientID, "idem")
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, 900_000)
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, 64<<20)
	c.RetryFor = cmp.Or(c.RetryFor, 30*time.Second)
	c.UnknownTopicFor = cmp.Or(c.UnknownTopicFor, 5*time.Second)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 10*time.Second)
	c.MaxWait = cmp.Or(c.MaxWait, 500*time.Millisecond)
	c.SessionTimeout = cmp.Or(c.SessionTimeout, 30*time.Second)
	c.HeartbeatInterval = cmp.Or(c.HeartbeatInterval, min(time.Second, c.SessionTimeout/3))
	c.PartitionWatchInterval = cmp.Or(c.PartitionWatchInterval, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.HeartbeatInterval*2 > c.SessionTimeout {
		return c, fmt.Errorf("kafka: HeartbeatInterval is %v and SessionTimeout %v: a session has to last for two heartbeats at least", c.HeartbeatInterval, c.SessionTimeout)
	}
	if _, err := c.compression(); err != nil {
		return c, err
	}
	_, err := c.SASL.mechanism()
	return c, err
}

func (c *Config) compression() (kafka.Compression, error) {
	switch strings.ToLower(c.Compression) {
	case "", "none":
		return 0, nil
	case "gzip":
		return compress.Gzip, nil
	case "snappy":
		return compress.Snappy, nil
	case "lz4":
		return compress.Lz4, nil
	case "zstd":
		return compress.Zstd, nil
	}
	return 0, fmt.Errorf("kafka: Compression is %q: it is none, gzip, snappy, lz4 or zstd", c.Compression)
}

func (s SASL) mechanism() (sasl.Mechanism, error) {
	var algorithm scram.Algorithm
	switch s.Mechanism {
	case "":
		if s.User != "" || s.Password != "" {
			return nil, errors.New("kafka: SASL has a user or a password and no Mechanism: it is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
		}
		return nil, nil
	case "PLAIN":
		algorithm = nil
	case "SCRAM-SHA-256":
		algorithm = scram.SHA256
	case "SCRAM-SHA-512":
		algorithm = scram.SHA512
	default:
		return nil, fmt.Errorf("kafka: SASL.Mechanism is %q: it is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
	}
	if s.User == "" || s.Password == "" {
		return nil, fmt.Errorf("kafka: SASL %s needs a User and a Password", s.Mechanism)
	}
	if algorithm == nil {
		return plain.Mechanism{Username: s.User, Password: s.Password}, nil
	}
	m, err := scram.Mechanism(algorithm, s.User, s.Password)
	if err != nil {
		// What it quotes may be the password.
		return nil, fmt.Errorf("kafka: SASL %s refuses the User or the Password: they are to be UTF-8 without control characters", s.Mechanism)
	}
	return m, nil
}
