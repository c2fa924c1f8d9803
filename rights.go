package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"plaza/fault"
	"plaza/social"
)

// rightArgs are the arguments of the commands that give and take rights.
type rightArgs struct {
	Right  string `arg:"" help:"admin: shape the community, and everything below. ads:manage: manage ads."`
	Handle string `arg:"" help:"Whose right it is."`
}

type grantCommand struct{ rightArgs }

// Run gives the right.
func (c *grantCommand) Run(ctx context.Context, cli *commandLine) error {
	return c.change(ctx, cli, os.Stdout, (*social.Service).GrantRight, "%s has the right %s now.\n", "%s has had the right %s already.\n")
}

type revokeCommand struct{ rightArgs }

// Run takes the right.
func (c *revokeCommand) Run(ctx context.Context, cli *commandLine) error {
	return c.change(ctx, cli, os.Stdout, (*social.Service).RevokeRight, "%s has no more the right %s.\n", "%s has not had the right %s.\n")
}

func (c *rightArgs) change(ctx context.Context, cli *commandLine, out io.Writer,
	change func(*social.Service, context.Context, string, social.Right) (bool, error), changed, unchanged string,
) error {
	right, err := social.ParseRight(c.Right)
	if err != nil {
		return plainly(err)
	}
	st, err := cli.openStore(ctx)
	if err != nil {
		return err
	}
	done, err := change(social.New(st, social.Options{}), ctx, c.Handle, right)
	if err := errors.Join(plainly(err), st.Close()); err != nil {
		return err
	}
	text := unchanged
	if done {
		text = changed
	}
	fmt.Fprintf(out, text, c.Handle, right)
	return nil
}

// plainly is a refusal as it is told on the command line.
func plainly(err error) error {
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return errors.New(refused.Message)
	}
	return err
}
