package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// kafkaFlags say how to reach Kafka. A password is in no flag, where each process of the machine could read
// it.
type kafkaFlags struct {
	brokers       []string
	brokersFlag   string
	context       string
	tls           bool
	ca, cert, key string
	sasl, user    string
	// client is what the brokers call the process, and log gets what its client says; by default none.
	client string
	log    *slog.Logger
}

const kafkaPassword = "KAFKA_PASSWORD"

func (k *kafkaFlags) add(command *cobra.Command) { k.addAs(command, "brokers") }

// addAs is add with another name for --brokers, for a command that reads other things too.
func (k *kafkaFlags) addAs(command *cobra.Command, brokers string) {
	k.addServer(command, brokers)
	addContext(command, &k.context)
}

// addServer is addAs without --context, for a command that has it from elsewhere.
func (k *kafkaFlags) addServer(command *cobra.Command, brokers string) {
	k.brokersFlag = brokers
	f := command.Flags()
	f.StringSliceVar(&k.brokers, brokers, nil, "brokers, host:port joined by commas (default: the context's, IDEM_BROKERS, KAFKA_BROKERS)")
	f.BoolVar(&k.tls, "tls", false, "speak TLS; --ca and --cert imply it")
	f.StringVar(&k.ca, "ca", "", "PEM file of the authority that signed the brokers' certificates (default: the system's)")
	f.StringVar(&k.cert, "cert", "", "PEM file of the client's certificate")
	key := "key"
	if f.Lookup(key) != nil { // of messages
		key = "tls-key"
	}
	f.StringVar(&k.key, key, "", "PEM file of its key")
	f.StringVar(&k.sasl, "sasl", "", "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; the password is "+kafkaPassword)
	f.StringVar(&k.user, "user", "", "user of --sasl")
}

func (k *kafkaFlags) config() (kafka.Config, error) {
	config := kafka.Config{ClientID: cmp.Or(k.client, "idem-cli"), Logger: cmp.Or(k.log, slog.New(slog.DiscardHandler))}
	target, err := connect.Resolve(connect.Flags{Context: k.context, Brokers: k.brokers})
	if err != nil {
		return config, err
	}
	if config.Brokers = target.Brokers; len(config.Brokers) == 0 {
		if target.Context != "" {
			return config, fmt.Errorf("no --%s, and the context %s has no brokers", k.brokersFlag, target.Context)
		}
		return config, fmt.Errorf("no --%s, and KAFKA_BROKERS is not set: name a broker, as in localhost:9092", k.brokersFlag)
	}
	if k.tls || k.ca != "" || k.cert != "" {
		if config.TLS, err = k.tlsConfig(); err != nil {
			return config, err
		}
	}
	if k.sasl == "" {
		if k.user != "" {
			return config, errors.New("--user goes with --sasl")
		}
		return config, nil
	}
	password := os.Getenv(kafkaPassword)
	if k.user == "" || password == "" {
		return config, errors.New("--sasl needs --user, and the password in " + kafkaPassword)
	}
	config.SASL = kafka.SASL{Mechanism: k.sasl, User: k.user, Password: password}
	return config, nil
}

func (k *kafkaFlags) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if k.ca != "" {
		pem, err := os.ReadFile(k.ca)
		if err != nil {
			return nil, brokenf("--ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, brokenf("--ca: %s has no certificate", k.ca)
		}
	}
	if k.cert != "" {
		pair, err := tls.LoadX509KeyPair(k.cert, cmp.Or(k.key, k.cert))
		if err != nil {
			return nil, brokenf("--cert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// open connects, for a command that changes something or only looks.
func (k *kafkaFlags) open(write bool) (*kafka.Broker, error) {
	target, err := connect.Resolve(connect.Flags{Context: k.context, Brokers: k.brokers})
	if err == nil && write {
		err = target.NeedWrite()
	}
	var denied *connect.ReadOnlyError
	if errors.As(err, &denied) {
		return nil, failf("%w", err)
	}
	if err != nil {
		return nil, err
	}
	config, err := k.config()
	if err != nil {
		return nil, err
	}
	b, err := kafka.Open(config)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	return b, nil
}
