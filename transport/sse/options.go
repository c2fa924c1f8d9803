package sse

import (
	"cmp"
	"time"
)

// Options configure a [Handler]. A zero field means its default.
type Options struct {
	// OpenTimeout is how long a client may take to open the stream that it has reserved. Default 10
	// s.
	OpenTimeout time.Duration
	// WriteTimeout is how long sending one event may take. After that, a client that does not read
	// is disconnected. Default 45 s.
	WriteTimeout time.Duration
	// HeartbeatInterval is the time between comments that keep proxies from closing a silent
	// stream. Default 15 s.
	HeartbeatInterval time.Duration
	// FinishTimeout is how long a stream's queries and mutations may continue when the server shuts
	// down or the session ends, before the stream ends. Default 5 s.
	FinishTimeout time.Duration
	// CloseTimeout is how long the server tries to send a stream's last events. Default 2 s.
	CloseTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.OpenTimeout = cmp.Or(o.OpenTimeout, 10*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 45*time.Second)
	o.HeartbeatInterval = cmp.Or(o.HeartbeatInterval, 15*time.Second)
	o.FinishTimeout = cmp.Or(o.FinishTimeout, 5*time.Second)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 2*time.Second)
	return o
}
