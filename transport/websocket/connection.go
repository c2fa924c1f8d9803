package websocket

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"plaza/transport/codes"
)

// maxCloseReason is what RFC 6455 leaves for the reason in a close frame, in bytes.
const maxCloseReason = 123

// connection is a websocket with its frames, deadlines and closing handshake. It does not know
// GraphQL.
type connection struct {
	conn    *websocket.Conn
	packing *packer // conn's connection
	options *Options
	ctx     context.Context // ends when the connection starts to close
	cancel  context.CancelFunc

	writing sync.Mutex // held while a message is written, and to prevent writes

	mu      sync.Mutex
	closing bool // a close frame was or is being sent: nothing else may follow
}

// read passes messages to handle until the connection fails or the client answers our close frame.
func (c *connection) read(handle func(data []byte)) {
	for {
		if err := c.stayAlive(); err != nil {
			return
		}
		kind, data, err := c.conn.ReadMessage()
		if err != nil {
			if os.IsTimeout(err) {
				c.close(websocket.CloseGoingAway, "No sign of life")
			}
			c.linger(err)
			return
		}
		switch {
		case c.isClosing(): // messages that still arrive are ignored
		case kind != websocket.TextMessage:
			c.close(closeBadRequest, "Messages must be text")
		case !utf8.Valid(data):
			c.close(websocket.CloseInvalidFramePayloadData, "Invalid UTF-8")
		default:
			handle(data)
		}
	}
}

// stayAlive extends the read deadline after any message of the client. Once the connection is
// closing, the deadline of the closing handshake remains.
func (c *connection) stayAlive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	return c.conn.SetReadDeadline(time.Now().Add(c.options.PingInterval + c.options.PongTimeout))
}

// linger reads what the client is still sending after a frame that gorilla rejected (it has sent
// the close frame itself): closing immediately would reset the connection, and the client might
// never see the code.
func (c *connection) linger(err error) {
	c.abandon()
	var closed *websocket.CloseError
	var network net.Error
	if errors.As(err, &closed) || errors.As(err, &network) {
		return
	}
	conn := c.conn.NetConn()
	_ = conn.SetReadDeadline(time.Now().Add(c.options.CloseTimeout))
	_, _ = io.Copy(io.Discard, io.LimitReader(conn, 16*c.options.MaxMessageBytes))
}

// control writes a ping or pong. It may take as long as a message, because a write that fails ends
// the connection.
func (c *connection) control(kind int, data []byte) error {
	return c.conn.WriteControl(kind, data, time.Now().Add(c.options.WriteTimeout))
}

// send writes messages, unless the connection is closing or they are no longer wanted when their turn
// comes.
func (c *connection) send(wanted func() bool, messages ...[]byte) bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isClosing() || !wanted() {
		return false
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.options.WriteTimeout))
	err := c.packing.pack(func() error {
		for _, message := range messages {
			if err := c.conn.WriteMessage(websocket.TextMessage, message); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.Cut()
	}
	return err == nil
}

// close starts the closing handshake: operations end, the client gets the code, and then has
// CloseTimeout to answer. Only the first call counts.
func (c *connection) close(code int, reason string) {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.closing = true
	c.mu.Unlock()
	c.cancel()
	frame := websocket.FormatCloseMessage(code, codes.Truncate(reason, maxCloseReason))
	err := c.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(c.options.CloseTimeout))
	if err != nil { // the client does not read
		c.Cut()
		return
	}
	_ = c.conn.NetConn().SetReadDeadline(time.Now().Add(c.options.CloseTimeout))
}

func (c *connection) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// abandon ends the operations, and prevents further writes.
func (c *connection) abandon() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.cancel()
}

// Cut ends the connection without notice.
func (c *connection) Cut() {
	c.abandon()
	_ = c.conn.Close()
}
