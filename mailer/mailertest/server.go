// Package mailertest is a small SMTP server on loopback, for tests.
package mailertest

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
)

// Server accepts mails without TLS, and keeps them.
type Server struct {
	listener net.Listener

	mu    sync.Mutex
	mails []Mail
	fails bool
	all   sync.WaitGroup
}

// Mail is a mail as it arrived. Text is decoded.
type Mail struct {
	Recipient string // of the envelope
	Header    mail.Header
	Text      string
}

// Listen starts a server that runs until the test ends.
func Listen(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens until the test ends
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: listener}
	s.all.Go(s.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		s.all.Wait()
	})
	return s
}

// Address is the server's, as host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Refuse makes the server refuse mails for now, or accept them again.
func (s *Server) Refuse(mails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = mails
}

// Take returns the mails that have arrived since the last call.
func (s *Server) Take() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	mails := s.mails
	s.mails = nil
	return mails
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.all.Go(func() {
			defer func() { _ = conn.Close() }()
			s.talk(bufio.NewReader(conn), conn)
		})
	}
}

// talk speaks as much of RFC 5321 as a sender needs.
func (s *Server) talk(in *bufio.Reader, out io.Writer) {
	reply := func(line string) { _, _ = fmt.Fprintf(out, "%s\r\n", line) }
	reply("220 mail.test")
	recipient := ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		switch verb := strings.ToUpper(line[:min(4, len(line))]); verb {
		case "EHLO", "HELO", "NOOP", "RSET", "MAIL":
			reply("250 mail.test")
		case "RCPT":
			recipient = line[strings.Index(line, "<")+1 : strings.Index(line, ">")]
			reply("250 OK")
		case "DATA":
			reply("354 go on")
			reply(s.receive(recipient, in))
		case "QUIT":
			reply("221 bye")
			return
		default:
			reply("502 not known")
		}
	}
}

// receive reads a mail up to the dot, and returns the reply.
func (s *Server) receive(recipient string, in *bufio.Reader) string {
	var raw strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "451 lost"
		}
		if line == ".\r\n" {
			break
		}
		raw.WriteString(strings.TrimPrefix(line, "."))
	}
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
	s.mails = append(s.mails, Mail{recipient, m.Header, string(text)})
	return "250 accepted"
}
