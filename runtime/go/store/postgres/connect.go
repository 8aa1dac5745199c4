package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectError says why there is no connection, each cause once: the driver says it for each way that it tries, with
// TLS and without. It keeps the driver's error.
type connectError struct {
	text string
	err  error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.err }

// unconnected adds the way out to an error of connecting.
func unconnected(err error) error {
	var e *pgconn.ConnectError
	if !errors.As(err, &e) {
		return err
	}
	at := addresses(e.Config)
	var causes []string
	for line := range strings.Lines(e.Unwrap().Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(causes, line) {
			causes = append(causes, line)
		}
	}
	text := "connect to " + at + ": " + strings.Join(causes, "; ")
	if mend := connectMend(e.Unwrap(), at); mend != "" {
		text += " (" + mend + ")"
	}
	return &connectError{text, err}
}

func connectMend(err error, at string) string {
	var (
		dns *net.DNSError
		op  *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		return "check the host of the DSN"
	case strings.Contains(err.Error(), "server refused TLS connection"): // the driver has no name for it
		return "the server has no TLS: sslmode=disable"
	case errors.Is(err, context.DeadlineExceeded):
		return at + " does not answer: check host and port of the DSN, and firewalls"
	case errors.As(err, &op) && op.Op == "dial":
		return "check that PostgreSQL runs at " + at
	}
	return ""
}

// addresses are the hosts that a configuration names, as the DSN does.
func addresses(c *pgconn.Config) string {
	address := func(host string, port uint16) string {
		if strings.HasPrefix(host, "/") {
			return host
		}
		return net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	all := []string{address(c.Host, c.Port)}
	for _, f := range c.Fallbacks {
		if a := address(f.Host, f.Port); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return strings.Join(all, ",")
}
