package mailer

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/wneessen/go-mail"

	"plaza/internal/testtime"
	"plaza/mailer/mailertest"
	"plaza/social/accounts"
)

var message = accounts.Message{
	To: "ada@site.example", Subject: "Set a new password", Text: "https://site.example/reset?token=abc=def\n",
	Links: []accounts.Link{{Handle: "ada", URL: "https://site.example/reset?token=abc=def"}},
}

// TestAMailArrives with its text and headers.
func TestAMailArrives(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	smtp, err := New("smtp://"+server.Address()+"?tls=off", "Plaza <plaza@site.example>")
	if err != nil {
		t.Fatal(err)
	}
	if err := smtp.Deliver(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	mails := server.Take()
	if len(mails) != 1 || mails[0].Recipient != message.To || !strings.Contains(mails[0].Text, message.Links[0].URL) {
		t.Fatalf("what arrived: %+v", mails)
	}
	for name, want := range map[string]string{
		"From": `"Plaza" <plaza@site.example>`, "To": "<ada@site.example>", "Subject": message.Subject, "Auto-Submitted": "auto-generated", "User-Agent": "", "X-Mailer": "",
	} {
		if got := mails[0].Header.Get(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	server.Refuse(true)
	if err := smtp.Deliver(t.Context(), message); err == nil {
		t.Error("a mail that the server refused was delivered")
	}
}

// TestNothingIsSentInPlainText to a server without STARTTLS, unless ?tls=off allows it.
func TestNothingIsSentInPlainText(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	smtp, err := New("smtp://ada:secret@"+server.Address(), "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := smtp.Deliver(t.Context(), message); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("without STARTTLS: %v", err)
	}
	if mails := server.Take(); len(mails) != 0 {
		t.Errorf("sent in plain text: %+v", mails)
	}
}

// TestMailsTravelByTLS, by STARTTLS or from the start, with the password, and only to a server whose
// certificate is valid.
func TestMailsTravelByTLS(t *testing.T) {
	t.Parallel()
	for scheme, fromStart := range map[string]bool{"smtp": false, "smtps": true} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			server, signers := mailertest.ListenTLS(t, fromStart)
			smtp, err := New(scheme+"://plaza:secret@"+server.Address(), "plaza@site.example")
			if err != nil {
				t.Fatal(err)
			}
			if err := smtp.Deliver(t.Context(), message); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("to a server with an unknown certificate: %v", err)
			}
			trusting := &tls.Config{ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12, RootCAs: signers}
			smtp.options = append(smtp.options, mail.WithTLSConfig(trusting))
			if fromStart {
				smtp.tls = trusting
			}
			if err := smtp.Deliver(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			mails := server.Take()
			if len(mails) != 1 || mails[0].Password != "secret" || !strings.Contains(mails[0].Text, message.Links[0].URL) {
				t.Errorf("what arrived: %+v", mails)
			}
		})
	}
}

// TestServersThatHangUp when they have accepted a mail do not get it again.
func TestServersThatHangUp(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	server.HangUp()
	smtp, err := New("smtp://"+server.Address()+"?tls=off", "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := smtp.Deliver(t.Context(), message); err != nil {
		t.Errorf("an accepted mail would be sent again: %v", err)
	}
	if mails := server.Take(); len(mails) != 1 {
		t.Errorf("what arrived: %+v", mails)
	}
}

// TestSendingEndsWithItsContext, although the SMTP server does not answer: servers shut down immediately.
func TestSendingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	defer server.Stall()()
	smtp, err := New("smtp://"+server.Address()+"?tls=off", "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- smtp.Deliver(ctx, message) }()
	testtime.Eventually(t, "the mail is sent", func() bool { return server.Stalled() > 0 })
	cancel()
	if err := <-ended; err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("it ends with %v", err)
	}
}

// TestRejectedRecipients: errors tell for good from for now, and do not name the address.
func TestRejectedRecipients(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	smtp, err := New("smtp://"+server.Address()+"?tls=off", "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]struct {
		isFinal bool
		reason  string
	}{
		"unknown@site.example": {true, "5.1.1 <…>: no such mailbox"}, "full@site.example": {false, "4.2.2 <…>: the mailbox is full"},
	} {
		rejected := message
		rejected.To = address
		err := smtp.Deliver(t.Context(), rejected)
		if errors.Is(err, accounts.ErrNoSuchMailbox) != want.isFinal || !strings.Contains(err.Error(), want.reason) || strings.Contains(strings.ToLower(err.Error()), address) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestAddressesOfServers refuses what would have no effect, and repeats no password.
func TestAddressesOfServers(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"smtp://ada:secret@site.example/mail": "it has no path",
		"smtp://ada@site.example":             "without a password",
		"smtps://ada:secret@site.example/":    "",
	} {
		_, err := New(address, "plaza@site.example")
		if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestNewlinesInHeadersAreRefused or harmless: no mail gets another recipient.
func TestNewlinesInHeadersAreRefused(t *testing.T) {
	t.Parallel()
	server := mailertest.Listen(t)
	smtp, err := New("smtp://"+server.Address()+"?tls=off", "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	forged := message
	forged.To = "ada@site.example\r\nBcc: eve@site.example"
	if err := smtp.Deliver(t.Context(), forged); err == nil {
		t.Error("a newline in the recipient was sent")
	}
	if mails := server.Take(); len(mails) != 0 {
		t.Errorf("sent: %+v", mails)
	}
}

// TestTheLogHasTheLink, marked, and not the address.
func TestTheLogHasTheLink(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := (Log{slog.New(slog.NewTextHandler(&text, nil))}).Deliver(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if log := text.String(); strings.Count(log, "token=abc=def") != 1 || !strings.Contains(log, "THIS LINK IS SECRET") || strings.Contains(log, message.To) {
		t.Errorf("the log: %s", log)
	}
}
