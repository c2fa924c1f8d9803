package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

// explainTLS returns what is wrong with TLS if a server accepts connections but does not answer,
// and nil if TLS is not the reason.
func (a Address) explainTLS(ctx context.Context, host string, failure error) error {
	reason := ""
	switch {
	case isDown(failure):
	case a.TLS != nil:
		reason = a.withTLS(ctx, host, failure)
	case speaksTLS(ctx, host):
		reason = "the server requires TLS: add tls=true to the MongoDB URI"
	}
	if reason == "" {
		return nil
	}
	return fmt.Errorf("TLS with MongoDB at %s fails: %s (%v)", host, reason, failure) //nolint:errorlint // hides the driver's types
}

// isDown reports whether there was no answer at all.
func isDown(err error) bool {
	var operation *net.OpError
	var lookup *net.DNSError
	return errors.As(err, &lookup) || errors.As(err, &operation) && operation.Op == "dial" ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// withTLS returns why a TLS handshake has failed, or "" if that is unknown.
func (a Address) withTLS(ctx context.Context, host string, failure error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(failure, &authority):
		return "the server's certificate was signed by an authority that this machine does not know: name the file of its certificate " +
			"in the MongoDB URI, tlsCAFile=/path/ca.pem"
	case errors.As(failure, &name):
		return fmt.Sprintf("the server's certificate is not for the host %s, but for %s: use one of these in the MongoDB URI",
			name.Host, strings.Join(namesOf(name.Certificate), ", "))
	case errors.As(failure, &invalid):
		return "the server's certificate is not valid: renew it, or correct this machine's clock"
	case isAlert(failure):
		return "the server refuses this client: it may require a certificate, which the MongoDB URI names as " +
			"tlsCertificateKeyFile=/path/client.pem, or another version of TLS"
	case speaksPlainly(ctx, host):
		return "the server does not use TLS: remove tls=true (or ssl=true) from the MongoDB URI, or start mongod with --tlsMode requireTLS"
	case len(a.TLS.Certificates) == 0 && asksForCertificate(ctx, host):
		return "the server closes the connection after the handshake: it may require a certificate, which the MongoDB URI names as " +
			"tlsCertificateKeyFile=/path/client.pem"
	}
	return ""
}

// namesOf returns the hosts that a certificate is for.
func namesOf(c *x509.Certificate) []string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// speaksPlainly reports whether a server answers without TLS.
func speaksPlainly(ctx context.Context, host string) bool {
	_, err := probe(ctx, host, nil)
	return err == nil
}

// speaksTLS reports whether a server begins a TLS handshake.
func speaksTLS(ctx context.Context, host string) bool {
	speaks, _ := shakeHands(ctx, host)
	return speaks
}

// asksForCertificate reports whether a server asks its clients for certificates. One that does not,
// and closes the connection after the handshake, may be a proxy whose MongoDB is down.
func asksForCertificate(ctx context.Context, host string) bool {
	_, asks := shakeHands(ctx, host)
	return asks
}

// shakeHands begins a TLS handshake. It accepts any certificate, because it sends nothing
// afterwards.
func shakeHands(ctx context.Context, host string) (speaks, asks bool) {
	host = withPort(host)
	name, _, _ := net.SplitHostPort(host)
	dialer := tls.Dialer{Config: &tls.Config{
		ServerName: name, InsecureSkipVerify: true, //nolint:gosec // see above
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asks = true
			return &tls.Certificate{}, nil // none
		},
	}}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil || isAlert(err), asks
}

// isAlert reports whether the other side has ended a handshake with an alert. crypto/tls exports no
// type for that.
func isAlert(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && operation.Op == "remote error"
}
