package mongodb_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestOpenNamesFaultsOfTLS checks that the message begins with the fault, and that Open does not
// wait for a server that it can never reach.
func TestOpenNamesFaultsOfTLS(t *testing.T) {
	t.Parallel()
	good, old := newCertificate(t, "127.0.0.1", time.Now().Add(time.Hour)), newCertificate(t, "127.0.0.1", time.Now().Add(-time.Hour))
	elsewhere := newCertificate(t, "192.0.2.1", time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		server *tls.Config
		query  url.Values
		words  []string
	}{
		"an unknown authority": {good.config(tls.NoClientCert), url.Values{"tls": {"true"}}, []string{"authority", "tlsCAFile"}},
		"another host": {
			elsewhere.config(tls.NoClientCert),
			url.Values{"tls": {"true"}, "tlsCAFile": {elsewhere.file}},
			[]string{"is not for the host 127.0.0.1, but for 192.0.2.1"},
		},
		"an old certificate": {old.config(tls.NoClientCert), url.Values{"tls": {"true"}, "tlsCAFile": {old.file}}, []string{"not valid", "clock"}},
		"no certificate of the client": {
			good.config(tls.RequireAnyClientCert), url.Values{"tls": {"true"}, "tlsInsecure": {"true"}}, []string{"tlsCertificateKeyFile"},
		},
		"a missing client certificate": { // in the way of mongod
			good.config(tls.RequestClientCert), url.Values{"tls": {"true"}, "tlsInsecure": {"true"}}, []string{"tlsCertificateKeyFile"},
		},
		"no certificate of the client, in TLS 1.2": {
			good.before13(tls.RequireAnyClientCert), url.Values{"tls": {"true"}, "tlsInsecure": {"true"}}, []string{"tlsCertificateKeyFile"},
		},
		"a URI without TLS": {good.config(tls.NoClientCert), nil, []string{"add tls=true"}},
		"a URI without TLS or certificate": {
			good.config(tls.RequireAnyClientCert), nil, []string{"add tls=true"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusedForTLS(t, "mongodb://u:sEcReT@"+listenTLS(t, c.server)+"/?"+c.query.Encode(), c.words...)
		})
	}
}

// TestProxyBeforeADeadServer opens a store on a proxy that accepts connections and closes them
// after the handshake. This counts as a database that is down, for which a server waits.
func TestProxyBeforeADeadServer(t *testing.T) {
	t.Parallel()
	proxy := newCertificate(t, "127.0.0.1", time.Now().Add(time.Hour)).config(tls.NoClientCert)
	query := url.Values{"tls": {"true"}, "tlsInsecure": {"true"}}
	_, err := mongodb.Open(t.Context(), "mongodb://"+listenTLS(t, proxy)+"/?"+query.Encode(), mongodb.Options{ConnectTimeout: 2 * time.Second})
	if !errors.Is(err, social.ErrUnavailable) || strings.Contains(err.Error(), "certificate") {
		t.Errorf("a dead server behind a proxy: %v", err)
	}
}

func TestOpenSaysThatTheServerDoesNotUseTLS(t *testing.T) {
	t.Parallel()
	host, _, _ := strings.Cut(strings.TrimPrefix(mongotest.URI(t), "mongodb://"), "/")
	refusedForTLS(t, "mongodb://"+host+"/?tls=true", "remove tls=true")
}

func refusedForTLS(t *testing.T, uri string, words ...string) {
	t.Helper()
	err := refused(t, uri, words...)
	if !strings.HasPrefix(err.Error(), "TLS with MongoDB at 127.0.0.1:") {
		t.Errorf("the error does not begin with the fault: %v", err)
	}
	if errors.Is(err, social.ErrUnavailable) {
		t.Errorf("waiting would not help: %v", err)
	}
}

// listenTLS accepts connections, and closes each after the handshake.
func listenTLS(t *testing.T, config *tls.Config) (address string) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go greet(conn)
		}
	}()
	return listener.Addr().String()
}

func greet(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var first [1]byte
	_, _ = conn.Read(first[:])
}

// certificate is a self-signed certificate of a server.
type certificate struct {
	tls.Certificate

	file string
}

func newCertificate(t *testing.T, host string, until time.Time) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until, IPAddresses: []net.IP{net.ParseIP(host)},
		IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return certificate{tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, file}
}

func (c certificate) config(client tls.ClientAuthType) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.Certificate}, ClientAuth: client, MinVersion: tls.VersionTLS12}
}

func (c certificate) before13(client tls.ClientAuthType) *tls.Config {
	config := c.config(client)
	config.MaxVersion = tls.VersionTLS12
	return config
}
