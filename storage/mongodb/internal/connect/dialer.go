package connect

import (
	"bufio"
	"context"
	"net"
)

// readAhead is how many bytes a connection reads at once: most answers, with what stands before
// them.
const readAhead = 16 << 10

// Dialer makes connections that read ahead: the driver reads the length of each answer by itself,
// which is a system call more.
type Dialer struct{ net.Dialer }

// DialContext implements options.ContextDialer.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReaderSize(conn, readAhead)}, nil
}

type connection struct {
	net.Conn

	ahead *bufio.Reader
}

// Read implements net.Conn.
func (c *connection) Read(b []byte) (int, error) { return c.ahead.Read(b) }
