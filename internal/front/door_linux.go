package front

import (
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dropsSYN is a socket filter that drops TCP segments with SYN, which begin connections, and lets
// all others pass. It sees a segment from its TCP header on (RFC 9293, section 3.1); byte 13
// contains the flags.
var dropsSYN = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 0, Jf: 1, K: 0x02},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xFFFF},
}

// ignoreNewConnections lets a listener's half-open connections complete, and prevents new ones. If
// the kernel does not allow that, new connections still arrive.
func ignoreNewConnections(listener *net.TCPListener) {
	control(listener, func(fd int) {
		program := unix.SockFprog{Len: uint16(len(dropsSYN)), Filter: &dropsSYN[0]}
		_ = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
}

// limitSilence makes connections of a listener fail when the client's machine has acknowledged
// nothing for the given time (tcp(7), TCP_USER_TIMEOUT, which they inherit). If the kernel does not
// allow that, they fail later.
func limitSilence(listener *net.TCPListener, timeout time.Duration) {
	control(listener, func(fd int) {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
	})
}

// acceptWaiting accepts a connection that is already there; it returns nil if there is none.
// Deadlines have no effect on it.
func acceptWaiting(listener *net.TCPListener) (conn net.Conn) {
	control(listener, func(fd int) {
		accepted, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		file := os.NewFile(uintptr(accepted), "")
		defer func() { _ = file.Close() }() // conn has its own descriptor
		conn, _ = net.FileConn(file)
	})
	return conn
}

func control(listener *net.TCPListener, use func(fd int)) {
	if raw, err := listener.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { use(int(fd)) })
	}
}
