package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"plaza/internal/app"
	"plaza/internal/progress"
)

type exportUserCommand struct {
	Handle string `arg:"" help:"The handle of the user."`
	Out    string `help:"The file to write; it must not exist. Default: the standard output." placeholder:"FILE"`
}

// Help explains the command, below its one-line help.
func (*exportUserCommand) Help() string {
	return `Each line is an object with a type; docs/export.md describes all types. The last line has the type end. It is what the user gets from GET /export.

With the embedded database, stop the server first; MongoDB can be read at any time.`
}

// showProgressAfter is how long an export takes before its progress is shown.
const showProgressAfter = 2 * time.Second

// Run writes the export.
func (c *exportUserCommand) Run(ctx context.Context, common *commonFlags) (err error) {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	meter := progress.OnStderr()
	meter.Begin("exporting, lists", 0)
	defer meter.End()
	shown := func(done, lists int) {
		if meter.Took() > showProgressAfter {
			meter.Show(done, lists)
		}
	}
	return c.to(func(out io.Writer) error { return app.ExportUser(ctx, out, st, c.Handle, shown) })
}

// to opens the output. A file that could not be written completely is removed.
func (c *exportUserCommand) to(write func(io.Writer) error) error {
	if c.Out == "" {
		return write(os.Stdout)
	}
	// Only the owner may read it: it has private posts.
	file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(c.Out))
	}
	return nil
}
