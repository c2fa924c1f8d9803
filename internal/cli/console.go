package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"plaza/social/accounts"
	"plaza/storage"
)

// console is where a command runs. The zero value is a process of its own: it has a terminal, and
// opens the database.
type console struct {
	out      io.Writer                           // nil: the standard output
	own      *output                             // the standard output, once it was used
	store    storage.Store                       // that of the server which carries the command out; nil: none does
	audit    func(context.Context, accounts.Act) // nil: none
	password *string                             // nil: not read yet
}

// stdout is what the command's output is written to.
func (c *console) stdout() io.Writer {
	if c.out != nil {
		return c.out
	}
	if c.own == nil {
		c.own = &output{file: os.Stdout}
	}
	return c.own
}

// unwritten returns an error if a part of the output could not be written.
func (c *console) unwritten() error {
	if c.own == nil || c.own.err == nil {
		return nil
	}
	return fmt.Errorf("the output is incomplete: %w", c.own.err)
}

// output is a file that remembers the first error.
type output struct {
	file *os.File
	err  error
}

// Write implements io.Writer.
func (o *output) Write(text []byte) (int, error) {
	n, err := o.file.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// readPassword returns the password for the command.
func (c *console) readPassword() (string, error) {
	if c.password != nil {
		return *c.password, nil
	}
	password, err := readPassword(os.Stdin, os.Stderr)
	if err == nil {
		c.password = &password
	}
	return password, err
}

// forServers marks commands that the server carries out which has opened the embedded database.
type forServers struct{}

func (forServers) isForServers() {}

// borrowed is the store of a server, which closes it.
type borrowed struct{ storage.Store }

// Close implements storage.Store.
func (borrowed) Close() error { return nil }

// Now implements storage.Clock.
func (b borrowed) Now() time.Time { return storage.TimeOf(b.Store)() }
