package websocket

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
)

// recorder is a connection that records each write.
type recorder struct {
	net.Conn

	writes []string
	fault  error
}

func (r *recorder) Write(data []byte) (int, error) {
	r.writes = append(r.writes, string(data))
	return len(data), r.fault
}

// TestPacker: what is written while it packs is one write, also after a fault.
func TestPacker(t *testing.T) {
	t.Parallel()
	to, fault := &recorder{}, errors.New("broken")
	p := &packer{Conn: to}
	write := func(texts ...string) {
		for _, text := range texts {
			if n, err := io.WriteString(p, text); n != len(text) || err != nil {
				t.Errorf("wrote %d bytes of %q: %v", n, text, err)
			}
		}
	}
	write("a", "b")
	if err := p.pack(func() error { write("c", "d", "e"); return nil }); err != nil {
		t.Error(err)
	}
	if err := p.pack(func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := p.pack(func() error { write("f"); return fault }); !errors.Is(err, fault) {
		t.Errorf("%v, want %v", err, fault)
	}
	write("g")
	to.fault = io.ErrClosedPipe
	if err := p.pack(func() error { write("h"); return nil }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
	}
	if want := []string{"a", "b", "cde", "f", "g", "h"}; !slices.Equal(to.writes, want) {
		t.Errorf("wrote %q, want %q", to.writes, want)
	}
}
