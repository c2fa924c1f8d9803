package main

import (
	"context"
	"fmt"
	"os"

	"plaza/social"
)

// grantCommand gives somebody a right.
type grantCommand struct {
	Right  string `arg:"" help:"The right: ads:manage."`
	Handle string `arg:"" help:"Whose it becomes."`
}

// Run stores the right.
func (c *grantCommand) Run(ctx context.Context, cli *commandLine) error {
	return setRight(ctx, cli, c.Right, c.Handle, true)
}

// revokeCommand takes a right away.
type revokeCommand struct {
	Right  string `arg:"" help:"The right: ads:manage."`
	Handle string `arg:"" help:"Who has it."`
}

// Run removes the right.
func (c *revokeCommand) Run(ctx context.Context, cli *commandLine) error {
	return setRight(ctx, cli, c.Right, c.Handle, false)
}

func setRight(ctx context.Context, cli *commandLine, right, handle string, has bool) error {
	st, err := cli.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	changed, err := social.New(st, social.Options{}).SetRight(ctx, handle, social.Right(right), has)
	if err != nil {
		return err
	}
	word := map[bool]string{true: "has", false: "does not have"}[has]
	if !changed {
		word += " (as before)"
	}
	fmt.Fprintf(os.Stdout, "%s %s the right %s\n", handle, word, right)
	return nil
}
