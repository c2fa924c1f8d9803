package cli

import (
	"context"
	"errors"
	"time"

	"plaza/internal/app"
	"plaza/internal/progress"
)

type exportUserCommand struct {
	forServers

	Handle string `arg:"" help:"The handle of the user."`
}

// Help explains the command, below its one-line help.
func (*exportUserCommand) Help() string {
	return `Each line is an object with a type; docs/export.md describes all types. The last line has the type end. It is what the user gets from GET /export.`
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
	shown := func(int, int) {}
	if common.console.out == nil { // a terminal of its own
		meter := progress.OnStderr()
		meter.Begin("exporting, lists", 0)
		defer meter.End()
		shown = func(done, lists int) {
			if meter.Took() > showProgressAfter {
				meter.Show(done, lists)
			}
		}
	}
	return app.ExportUser(ctx, common.console.stdout(), st, c.Handle, shown)
}
