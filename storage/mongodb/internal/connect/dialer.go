package connect

import (
	"bufio"
	"context"
	"net"
)

// readAhead is the buffer size in bytes: it holds most answers with their headers.
const readAhead = 16 << 10

// Dialer makes connections with a read buffer. Without it, the driver needs an extra system call to
// read the length of each answer.
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
