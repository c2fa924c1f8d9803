package websocket

import (
	"cmp"
	"time"
)

// Options configure a [Handler]. A zero field means its default.
type Options struct {
	// AllowedOrigins are the web origins ("https://plaza.example") whose pages may open a
	// websocket, besides the server's own; "*" allows all. Programs that send no Origin are always
	// allowed.
	AllowedOrigins []string
	// MaxMessageBytes bounds one message from a client. A longer one closes the socket with 1009.
	// Default 1 MiB.
	MaxMessageBytes int64
	// InitTimeout is how long a client may take to send connection_init. After that, the socket is
	// closed with 4408. Default 10 s.
	InitTimeout time.Duration
	// WriteTimeout is how long sending one message or ping may take. After that, a client that does
	// not read is disconnected. Default PingInterval + PongTimeout, so a client that is slow for a
	// shorter time stays connected, and can read why its subscriptions ended.
	WriteTimeout time.Duration
	// PingInterval is the time between the server's keep-alive pings (websocket frames). Default 25
	// s.
	PingInterval time.Duration
	// PongTimeout is how long a client may send nothing after a ping was due. After that, it is
	// disconnected. Default 20 s.
	PongTimeout time.Duration
	// FinishTimeout is how long a socket's queries and mutations may continue when the server shuts
	// down or the session ends, before the socket is closed. Default 5 s.
	FinishTimeout time.Duration
	// CloseTimeout is how long the server tries to send a close frame, and then waits for the
	// client's answer to it. Default 2 s.
	CloseTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.MaxMessageBytes = cmp.Or(o.MaxMessageBytes, 1<<20)
	o.InitTimeout = cmp.Or(o.InitTimeout, 10*time.Second)
	o.PingInterval = cmp.Or(o.PingInterval, 25*time.Second)
	o.PongTimeout = cmp.Or(o.PongTimeout, 20*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, o.PingInterval+o.PongTimeout)
	o.FinishTimeout = cmp.Or(o.FinishTimeout, 5*time.Second)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 2*time.Second)
	return o
}
