package front

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestConnectionsOfSilentClientsEnd: the network of a client fails silently, so the client
// acknowledges nothing. The server's reads from it end, instead of waiting for minutes.
func TestConnectionsOfSilentClientsEnd(t *testing.T) {
	t.Parallel()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	limitSilence(listener, 50*time.Millisecond)
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	dropEverything(t, client)
	if _, err := io.WriteString(server, ": heartbeat\n\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, unix.ETIMEDOUT) {
		t.Errorf("read: %v, want a time-out", err)
	}
}

// dropEverything cuts a connection off: its kernel drops everything that arrives for it.
func dropEverything(t *testing.T, conn net.Conn) {
	t.Helper()
	tcp, _ := conn.(*net.TCPConn)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
		program := unix.SockFprog{Len: uint16(len(drop)), Filter: &drop[0]}
		if err := unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
