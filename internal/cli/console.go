package cli

import (
	"context"
	"io"
	"os"

	"plaza/social/accounts"
	"plaza/storage"
)

// console is where a command runs. The zero value is a process of its own: it has a terminal, and
// opens the database.
type console struct {
	out      io.Writer                           // nil: the standard output
	store    storage.Store                       // that of the server which carries the command out; nil: none does
	audit    func(context.Context, accounts.Act) // nil: none
	password *string                             // nil: not read yet
}

// stdout is what the command's output is written to.
func (c *console) stdout() io.Writer {
	if c.out == nil {
		return os.Stdout
	}
	return c.out
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
