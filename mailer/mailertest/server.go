// Package mailertest is a small SMTP server on loopback, for tests.
package mailertest

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
)

// Server accepts mails, and keeps them.
type Server struct {
	listener net.Listener
	tls      *tls.Config // nil: without TLS

	mu      sync.Mutex
	mails   []Mail
	fails   bool
	hangsUp bool
	stalls  chan struct{} // nil: it answers
	stalled int
	all     sync.WaitGroup
}

// Rejections are the replies to recipients that all servers reject.
var Rejections = map[string]string{
	"unknown@site.example": "550 5.1.1 <UNKNOWN@site.example>: no such mailbox",
	"full@site.example":    "452 4.2.2 <full@site.example>: the mailbox is full",
}

// Mail is a mail as it arrived. Text is decoded.
type Mail struct {
	Recipient string // of the envelope
	Password  string // with which the sender has authenticated; "": it has not
	Header    mail.Header
	Text      string
}

// Listen starts a server without TLS that runs until the test ends.
func Listen(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.run(t, func(conn net.Conn) net.Conn { return conn })
	return s
}

// ListenTLS starts a server that requires TLS, from the start or by STARTTLS, and a password. It
// returns who has signed its certificate, too.
func ListenTLS(t testing.TB, fromStart bool) (*Server, *x509.CertPool) {
	t.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	s := &Server{tls: &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}}
	s.run(t, func(conn net.Conn) net.Conn {
		if fromStart {
			return tls.Server(conn, s.tls)
		}
		return conn
	})
	signers := x509.NewCertPool()
	signers.AddCert(certified.Certificate())
	return s, signers
}

func (s *Server) run(t testing.TB, open func(net.Conn) net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens until the test ends
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener
	s.all.Go(func() { s.accept(open) })
	t.Cleanup(func() {
		_ = listener.Close()
		s.all.Wait()
	})
}

// Address is the server's, as host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Refuse makes the server refuse mails for now, or accept them again.
func (s *Server) Refuse(mails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = mails
}

// HangUp makes the server close each connection when it has accepted a mail.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangsUp = true
}

// Stall makes the server not answer to mails that it has read, until the function that it returns is
// called. That may be called again.
func (s *Server) Stall() (letGo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = make(chan struct{})
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.stalls)
		s.stalls = nil
	})
}

// Stalled returns how many mails have met a Stall.
func (s *Server) Stalled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stalled
}

// await waits for the end of a Stall.
func (s *Server) await() {
	s.mu.Lock()
	stalls := s.stalls
	if stalls != nil {
		s.stalled++
	}
	s.mu.Unlock()
	if stalls != nil {
		<-stalls
	}
}

// Take returns the mails that have arrived since the last call.
func (s *Server) Take() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	mails := s.mails
	s.mails = nil
	return mails
}

func (s *Server) accept(open func(net.Conn) net.Conn) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.all.Go(func() {
			defer func() { _ = conn.Close() }()
			v := &visit{server: s, conn: open(conn)}
			v.in = bufio.NewReader(v.conn)
			v.talk()
		})
	}
}

// visit is one connection.
type visit struct {
	server    *Server
	conn      net.Conn
	in        *bufio.Reader
	recipient string
	password  string
}

func (v *visit) reply(line string) { _, _ = fmt.Fprintf(v.conn, "%s\r\n", line) }

// talk speaks as much of RFC 5321 as a sender needs.
func (v *visit) talk() {
	v.reply("220 mail.test")
	for {
		line, err := v.in.ReadString('\n')
		if err != nil || !v.answer(strings.TrimSpace(line)) {
			return
		}
	}
}

// answer carries out a command; false: it was the last.
func (v *visit) answer(line string) bool {
	_, isSecure := v.conn.(*tls.Conn)
	isOpen := v.server.tls == nil || isSecure && v.password != ""
	switch verb := strings.ToUpper(line[:min(4, len(line))]); {
	case verb == "EHLO" && v.server.tls != nil && !isSecure:
		v.reply("250-mail.test\r\n250 STARTTLS")
	case verb == "EHLO" && isSecure:
		v.reply("250-mail.test\r\n250 AUTH PLAIN")
	case verb == "EHLO", verb == "HELO", verb == "NOOP", verb == "RSET", verb == "MAIL" && isOpen:
		v.reply("250 mail.test")
	case verb == "STAR" && v.server.tls != nil && !isSecure:
		v.reply("220 go on")
		v.conn = tls.Server(v.conn, v.server.tls)
		v.in = bufio.NewReader(v.conn)
	case verb == "AUTH" && isSecure:
		plain, _ := base64.StdEncoding.DecodeString(line[strings.LastIndex(line, " ")+1:])
		v.password = string(plain[bytes.LastIndexByte(plain, 0)+1:])
		v.reply("235 welcome")
	case verb == "RCPT" && isOpen:
		v.recipient = line[strings.Index(line, "<")+1 : strings.Index(line, ">")]
		v.reply(cmp.Or(Rejections[v.recipient], "250 OK"))
	case verb == "DATA" && isOpen:
		v.reply("354 go on")
		v.reply(v.server.receive(v))
		return !v.server.mustHangUp()
	case verb == "QUIT":
		v.reply("221 bye")
		return false
	default:
		v.reply("502 not known, or not now")
	}
	return true
}

func (s *Server) mustHangUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hangsUp
}

// receive reads a mail up to the dot, and returns the reply.
func (s *Server) receive(v *visit) string {
	var raw strings.Builder
	for {
		line, err := v.in.ReadString('\n')
		if err != nil {
			return "451 lost"
		}
		if line == ".\r\n" {
			break
		}
		raw.WriteString(strings.TrimPrefix(line, "."))
	}
	s.await()
	m, err := mail.ReadMessage(strings.NewReader(raw.String()))
	if err != nil {
		return "554 malformed"
	}
	body := m.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "554 malformed"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return "451 try again later"
	}
	s.mails = append(s.mails, Mail{v.recipient, v.password, m.Header, string(text)})
	return "250 accepted"
}
