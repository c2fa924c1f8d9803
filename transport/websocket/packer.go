package websocket

import (
	"bytes"
	"errors"
	"net"
	"sync"
)

// packer is a connection whose writes can be packed into one, because the cost of sending a small
// message is that of the system call.
type packer struct {
	net.Conn

	mu     sync.Mutex
	packed *bytes.Buffer // nil: writes are not packed
}

// Write implements net.Conn.
func (p *packer) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.packed != nil {
		return p.packed.Write(data)
	}
	return p.Conn.Write(data)
}

// pack calls do, and then writes all that was written meanwhile, also by other goroutines, and
// whether or not do fails.
func (p *packer) pack(do func() error) error {
	buf := getBuffer()
	defer putBuffer(buf)
	p.mu.Lock()
	p.packed = buf
	p.mu.Unlock()
	err := do()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.packed = nil
	if buf.Len() == 0 {
		return err
	}
	_, writeErr := p.Conn.Write(buf.Bytes())
	return errors.Join(err, writeErr)
}
