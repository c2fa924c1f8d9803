package cli

import (
	"context"
	"errors"
	"os"

	"plaza/internal/app"
)

type exportCommand struct {
	Comments exportCommentsCommand `cmd:"" help:"Write all comments of a user to the standard output as JSON Lines, newest first."`
}

type exportCommentsCommand struct {
	User string `help:"The handle of the comments' author." required:"" placeholder:"HANDLE"`
}

// Help explains the command, below its one-line help.
func (*exportCommentsCommand) Help() string {
	return `Each line is an object with id, postId, parentId (absent for a reply to the post), slug, path, createdAt, editedAt (absent if never edited) and text. Deleted comments are left out. This command is for operators: it includes comments on posts that the user can no longer see.

With the embedded database, stop the server first; MongoDB can be read at any time.`
}

// Run writes the comments.
func (c *exportCommentsCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(app.ExportComments(ctx, os.Stdout, st, c.User), st.Close())
}
