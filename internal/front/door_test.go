package front

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestDoor shuts a listener while connections wait to be accepted: none of them is reset, and later
// ones are refused.
func TestDoor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("connections that come while the listener closes are reset")
	}
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{listener}
	var waiting [20]net.Conn
	for i := range waiting {
		if waiting[i], err = net.Dial("tcp", listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = waiting[i].Close() })
	}
	d.shut()
	if _, err := (&net.Dialer{Timeout: time.Millisecond}).Dial("tcp", listener.Addr().String()); !os.IsTimeout(err) {
		t.Errorf("a new connection: %v, want none", err)
	}
	accepted := 0
	for conn, err := d.Accept(); err == nil; conn, err = d.Accept() {
		accepted++
		_, _ = io.WriteString(conn, "x")
		_ = conn.Close()
	}
	for _, conn := range waiting {
		if text, err := io.ReadAll(conn); err != nil || string(text) != "x" {
			t.Errorf("a connection that waited: %q, %v", text, err)
		}
	}
	if accepted != len(waiting) {
		t.Errorf("%d were accepted, want %d", accepted, len(waiting))
	}
	if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the listener is still open")
	}
}
