package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plaza/fault"
	"plaza/social"
	"plaza/social/network"
)

// rightArgs are the arguments of the commands that grant and revoke rights.
type rightArgs struct {
	forServers

	Right  string `arg:"" help:"admin: manage profile properties, and read the moderators' audit log; includes all other rights. ads:manage: manage ads. moderate: see reports, and decide cases."`
	Handle string `arg:"" help:"The handle of the user."`
}

type grantCommand struct{ rightArgs }

// Run grants the right.
func (c *grantCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.change(ctx, common, (*network.Service).GrantRight, "%s now has the right %s.\n", "%s already has the right %s.\n")
}

type revokeCommand struct{ rightArgs }

// Run revokes the right.
func (c *revokeCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.change(ctx, common, (*network.Service).RevokeRight, "%s no longer has the right %s.\n", "%s does not have the right %s.\n")
}

func (c *rightArgs) change(ctx context.Context, common *commonFlags,
	change func(*network.Service, context.Context, string, social.Right) (bool, error), changed, unchanged string,
) error {
	right, err := social.ParseRight(c.Right)
	if err != nil {
		return plainly(err)
	}
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	done, err := change(common.service(st), ctx, c.Handle, right)
	if err := errors.Join(plainly(err), st.Close()); err != nil {
		return err
	}
	text := unchanged
	if done {
		text = changed
	}
	fmt.Fprintf(common.console.stdout(), text, c.Handle, right)
	return nil
}

type rightsCommand struct{ forServers }

// Run prints a line for every user who has rights, sorted by handle: the handle and the rights.
func (c *rightsCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	users, err := st.UsersWithRights(ctx)
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	out := common.console.stdout()
	if len(users) == 0 {
		fmt.Fprintln(out, "No user has any rights: plaza grant RIGHT HANDLE grants one.")
	}
	slices.SortFunc(users, func(a, b *social.User) int { return strings.Compare(a.Handle, b.Handle) })
	for _, u := range users {
		fmt.Fprint(out, u.Handle)
		for _, right := range u.RightsInOrder() {
			fmt.Fprint(out, "\t", right)
		}
		fmt.Fprintln(out)
	}
	return nil
}

// plainly reduces a refusal to its message, for the command line.
func plainly(err error) error {
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return errors.New(refused.Message)
	}
	return err
}
