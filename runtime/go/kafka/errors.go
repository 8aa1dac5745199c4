package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// hopeless says that trying again cannot help: it is a matter of configuration or of rights.
func hopeless(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		switch code {
		case kafka.BrokerNotAvailable, kafka.RebalanceInProgress, kafka.UnknownMemberId, kafka.IllegalGeneration:
			return false
		}
		return !code.Temporary()
	}
	return tlsTrouble(err) != "" || refusedCredentials(err)
}

// unknownTopic says that the cluster, or what is known here of it, has no such topic or partition.
func unknownTopic(err error) bool {
	return errors.Is(err, kafka.UnknownTopicOrPartition) || errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}

// generationOver says that the group goes on without this generation.
func generationOver(err error) bool {
	return errors.Is(err, kafka.IllegalGeneration) || errors.Is(err, kafka.UnknownMemberId) ||
		errors.Is(err, kafka.RebalanceInProgress) || errors.Is(err, kafka.FencedInstanceID) || errors.Is(err, kafka.ErrGenerationEnded)
}

// faultOfRecord says that a batch was refused for what is in it, so that the rest of it may pass.
func faultOfRecord(err error) bool {
	return errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge) ||
		errors.Is(err, kafka.InvalidRecord) || errors.Is(err, kafka.InvalidTimestamp)
}

var (
	errNotConfirmed   = errors.New("not confirmed")
	errOutcomeUnknown = errors.New("not confirmed; it may have arrived all the same")
)

// mayHaveArrived says that a batch with this error may be in the log: nobody answered, or the answer was
// that it is there and its replicas are not.
func mayHaveArrived(err error) bool {
	if err == nil || unknownTopic(err) || errors.Is(err, protocol.ErrNoLeader) || isRefused(err) {
		return false
	}
	var code kafka.Error
	if !errors.As(err, &code) {
		return true
	}
	return code == kafka.RequestTimedOut || code == kafka.NotEnoughReplicasAfterAppend || code == kafka.NetworkException || code == kafka.Unknown
}

func refusedCredentials(err error) bool {
	if errors.Is(err, kafka.SASLAuthenticationFailed) || errors.Is(err, kafka.UnsupportedSASLMechanism) || errors.Is(err, kafka.IllegalSASLState) {
		return true
	}
	// kafka-go's SCRAM gives its errors as text.
	return strings.Contains(err.Error(), "SASL authentication process")
}

// tlsTrouble is how to mend an error of TLS; empty where it is none.
func tlsTrouble(err error) string {
	var (
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     tls.AlertError
	)
	switch {
	case errors.As(err, &record):
		return "the broker does not speak TLS on this port: set TLS to nil, or name the port of its TLS listener"
	case errors.As(err, &authority):
		return "set TLS.RootCAs to the authority that signed the broker's certificate"
	case errors.As(err, &host):
		return "the certificate is for another name: name the brokers as it does, or set TLS.ServerName"
	case errors.As(err, &invalid):
		return "the broker's certificate is not valid: renew it, or look at this machine's clock"
	case errors.As(err, &alert):
		return "the broker wants a client certificate that it knows: set TLS.Certificates"
	}
	return ""
}

// explain adds the way to mend what often goes wrong.
func (b *Broker) explain(err error) error {
	mend := b.mend(err)
	if mend == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, mend)
}

func (b *Broker) mend(err error) string {
	if mend := tlsTrouble(err); mend != "" {
		return mend
	}
	var dns *net.DNSError
	switch {
	case errors.Is(err, kafka.UnsupportedSASLMechanism):
		return fmt.Sprintf("the broker does not offer SASL %s on this port: set SASL.Mechanism to one of its sasl.enabled.mechanisms", b.config.SASL.Mechanism)
	case errors.Is(err, kafka.IllegalSASLState):
		return "the broker asks for SASL on this port: set SASL, or name the port of another listener"
	case refusedCredentials(err):
		return fmt.Sprintf("the broker refuses SASL %s: check SASL.User, SASL.Password and SASL.Mechanism", b.config.SASL)
	case errors.Is(err, kafka.GroupAuthorizationFailed):
		return "grant this user READ on the group"
	case errors.Is(err, kafka.TopicAuthorizationFailed):
		return "grant this user READ, WRITE and DESCRIBE on the topic, as it needs"
	case errors.Is(err, kafka.ClusterAuthorizationFailed):
		return "grant this user the right on the cluster"
	case errors.Is(err, kafka.InvalidSessionTimeout):
		return "SessionTimeout is outside the broker's group.min.session.timeout.ms and group.max.session.timeout.ms"
	case errors.Is(err, kafka.InconsistentGroupProtocol):
		return "the group has members that deal out partitions in another way: let them use the range or the roundrobin assignor"
	case errors.Is(err, kafka.NotEnoughReplicas), errors.Is(err, kafka.NotEnoughReplicasAfterAppend):
		return "fewer replicas are in sync than the topic's min.insync.replicas: bring the brokers back"
	case errors.As(err, &dns):
		return "check the names in Brokers, and the brokers' advertised.listeners"
	case isRefused(err):
		return "check that Kafka runs at " + strings.Join(b.config.Brokers, ", ")
	case !endedEarly(err):
		return ""
	case b.config.TLS != nil:
		return "the broker ends the connection: it may not speak TLS on this port: set TLS to nil, or name the port of its TLS listener"
	case b.config.SASL.Mechanism == "":
		return "the broker ends the connection: it may ask for TLS or SASL on this port"
	}
	return ""
}

func isRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func endedEarly(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// TooLargeError says that a topic takes no message of this size. errors.Is finds broker.ErrTooLarge in it.
type TooLargeError struct {
	Topic string
	// Size is that of the message with its key and headers, before compression.
	Size int
	// Limit is the topic's max.message.bytes, or MaxMessageBytes; 0 where it is not known.
	Limit int
}

// Error names the size and the limit.
func (e *TooLargeError) Error() string {
	text := fmt.Sprintf("topic %s: %v: %d bytes", e.Topic, broker.ErrTooLarge, e.Size)
	if e.Limit > 0 {
		text += fmt.Sprintf(", the limit is %d", e.Limit)
	}
	return text + ": raise the topic's max.message.bytes, or send a reference to the payload"
}

// Unwrap is broker.ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return broker.ErrTooLarge }

// ended prefers the reason that a context ended to what became of a request because of it.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}
