package cli

import (
	"context"
	"errors"

	"plaza/internal/app"
)

type exportCommand struct {
	Comments exportCommentsCommand `cmd:"" help:"Write all comments of a user to the standard output as JSON Lines, newest first."`
}

type exportCommentsCommand struct {
	forServers

	User string `help:"The handle of the user whose comments to write." required:"" placeholder:"HANDLE"`
}

// Help explains the command, below its one-line help.
func (*exportCommentsCommand) Help() string {
	return `Each line is an object with id, postId, parentId (absent for a reply to the post), slug, path, createdAt, editedAt (absent if never edited) and text. Deleted comments are left out. This command is for operators: it includes comments on posts that the user can no longer see.

It works while servers run. If a server has opened the embedded database, it carries the command out.`
}

// Run writes the comments.
func (c *exportCommentsCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(app.ExportComments(ctx, common.console.stdout(), st, c.User), st.Close())
}
