package accesslog

import (
	"bufio"
	"log/slog"
	"net"
	"net/http"
)

// counter records the status and the length of a response. http.ResponseController finds the other
// abilities of the writer that it wraps.
type counter struct {
	http.ResponseWriter

	status int
	bytes  int64
}

// Unwrap gives http.ResponseController access to the wrapped writer.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush sends what was written so far. Writers that wrap this one, such as the compressing one,
// look for http.Flusher and not for Unwrap.
func (c *counter) Flush() { _ = c.FlushError() }

// FlushError is Flush for http.ResponseController.
func (c *counter) FlushError() error { return http.NewResponseController(c.ResponseWriter).Flush() }

func (c *counter) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusOK { // others precede the response
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(data []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(data)
	c.bytes += int64(n)
	return n, err
}

// Hijack serves websockets, whose handshake is not answered through this writer.
func (c *counter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil && c.status == 0 {
		c.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// outcome returns the response's status, or an attribute that reports that the connection was cut
// instead.
func (c *counter) outcome(aborted bool) slog.Attr {
	switch {
	case aborted:
		return slog.Bool("aborted", true)
	case c.status == 0:
		return slog.Int("status", http.StatusOK)
	}
	return slog.Int("status", c.status)
}
