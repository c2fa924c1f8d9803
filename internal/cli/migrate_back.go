package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"plaza/storage/sqlite"
)

// migrateBackCommand downgrades the embedded database for an earlier version.
type migrateBackCommand struct {
	To int `help:"The version of the tables that the earlier Plaza knows. Its error message names it when it refuses the file." required:"" placeholder:"VERSION"`
}

// Help explains the command, below its one-line help.
func (*migrateBackCommand) Help() string {
	return `An earlier version of Plaza refuses a file that a newer one has opened, because its tables have changed. Stop the server, run this command with the newer version, and start the earlier one. All data that the earlier tables can store is kept, including data written since the upgrade. Data that only the newer version can store is lost.`
}

// Run downgrades the file. A MongoDB database needs no downgrade until the upgrade is finished.
func (c *migrateBackCommand) Run(ctx context.Context, common *commonFlags) error {
	if common.MongodbURI != "" {
		return errors.New("a MongoDB database needs no downgrade before \"plaza migrate finish\": just start the earlier version. After \"plaza migrate finish\", it can't be downgraded")
	}
	err := sqlite.GoBack(ctx, filepath.Join(common.Data, "plaza.sqlite"), c.To)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no Plaza database in %s: name its folder with --data or PLAZA_DATA", common.Data)
	}
	if err == nil {
		fmt.Fprintf(common.console.stdout(), "the tables now have version %d: start the earlier Plaza; this one would upgrade them again\n", c.To)
	}
	return err
}
