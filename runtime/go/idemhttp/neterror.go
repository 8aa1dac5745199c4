package idemhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// netWord is the spec's word for a failure of the network; "" where it has none. (CLASS-050)
func netWord(err error) string {
	var (
		dns       *net.DNSError
		hostname  x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		timeout   net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return "dns_not_found"
		}
		return "dns_timeout"
	case errors.As(err, &hostname):
		return "tls_hostname"
	case errors.As(err, &authority), errors.As(err, &invalid), errors.As(err, &verify):
		return "tls_certificate"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, net.ErrClosed):
		return "closed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "eof"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "unreachable"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return ""
}
