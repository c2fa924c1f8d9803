package accesslog

import "net/http"

// counter notes the status and the length of a response. http.ResponseController finds the other
// abilities of the writer that it wraps.
type counter struct {
	http.ResponseWriter

	status int
	bytes  int64
}

// Unwrap is for http.ResponseController.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

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

// statusFor is the response's status. A websocket's is written past this writer.
func (c *counter) statusFor(r *http.Request) int {
	switch {
	case c.status != 0:
		return c.status
	case r.Header.Get("Upgrade") != "":
		return http.StatusSwitchingProtocols
	}
	return http.StatusOK
}
