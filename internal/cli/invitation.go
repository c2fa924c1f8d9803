package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
)

// registrations are the values of --registration.
var registrations = map[string]accounts.Registration{
	"open": accounts.RegistrationOpen, "invitation": accounts.RegistrationByInvitation, "closed": accounts.RegistrationClosed,
}

// inviteCommand has the commands for invitations.
type inviteCommand struct {
	Create createInvitationCommand `cmd:"" help:"Create an invitation, and print its code, which is not stored."`
	List   listInvitationsCommand  `cmd:"" help:"List the invitations of operators, or of a user, that have not expired, the newest first."`
	Revoke revokeInvitationCommand `cmd:"" help:"Make an invitation invalid. The accounts that it has created remain."`
}

// Help explains the commands, below their one-line help.
func (*inviteCommand) Help() string {
	return `Servers that run with --registration=invitation create accounts only for those who send the code of an invitation. The commands work while servers run. If a server has opened the embedded database, it carries the command out.`
}

type createInvitationCommand struct {
	forServers

	Uses int `help:"How many accounts it creates: 1 to 10,000." default:"1" placeholder:"NUMBER"`
	Days int `help:"How many days it lasts: 1 to 365." default:"7" placeholder:"NUMBER"`
}

// Run prints the code on a line of its own.
func (c *createInvitationCommand) Run(ctx context.Context, common *commonFlags) error {
	return withService(ctx, common, func(service *network.Service) error {
		i, code, err := service.InviteAsOperator(ctx, c.Uses, c.Days)
		if err == nil {
			fmt.Fprintf(common.console.stdout(), "%s\n%s creates %s until %s.\n", code, i.ID, accountsOf(i.MaxUses), timeOf(i.ExpiresAt))
		}
		return err
	})
}

func accountsOf(n int) string {
	if n == 1 {
		return "one account"
	}
	return fmt.Sprintf("%d accounts", n)
}

func timeOf(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }

type listInvitationsCommand struct {
	forServers

	By   string `help:"The handle of the user whose invitations are listed." placeholder:"HANDLE"`
	JSON bool   `help:"Write one JSON object per line."`
}

// listedInvitation is a line of plaza invitation list --json.
type listedInvitation struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	Uses      int       `json:"uses"`
	MaxUses   int       `json:"maxUses"`
}

// Help explains the command, below its one-line help.
func (*listInvitationsCommand) Help() string {
	return `Each line has the id, when the invitation expires (UTC), and how many of its accounts it has created, separated by tabs.`
}

// Run prints a line for each invitation.
func (c *listInvitationsCommand) Run(ctx context.Context, common *commonFlags) error {
	out := bufio.NewWriter(common.console.stdout())
	err := withService(ctx, common, func(service *network.Service) error {
		var inviter social.UserID
		if c.By != "" {
			user, err := service.UserNamed(ctx, handleOf(c.By))
			if err != nil {
				return err
			}
			inviter = user.ID
		}
		invitations, err := service.Invitations(ctx, inviter)
		if err != nil {
			return err
		}
		return c.list(out, invitations)
	})
	return errors.Join(err, out.Flush())
}

func (c *listInvitationsCommand) list(out io.Writer, invitations []social.Invitation) error {
	if len(invitations) == 0 && !c.JSON && c.By != "" {
		_, err := fmt.Fprintf(out, "%s has no invitations that have not expired.\n", handleOf(c.By))
		return err
	}
	if len(invitations) == 0 && !c.JSON {
		_, err := fmt.Fprintln(out, "There are no invitations: plaza invitation create creates one.")
		return err
	}
	for _, i := range invitations {
		if err := c.write(out, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *listInvitationsCommand) write(out io.Writer, i social.Invitation) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(listedInvitation{ID: i.ID.String(), CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, Uses: i.Uses, MaxUses: i.MaxUses})
	}
	_, err := fmt.Fprintf(out, "%s\t%s\t%d of %d\n", i.ID, timeOf(i.ExpiresAt), i.Uses, i.MaxUses)
	return err
}

type revokeInvitationCommand struct {
	forServers

	ID string `arg:"" help:"The id of the invitation, as plaza invitation list and the audit log show it, or its code."`
}

// Run revokes the invitation.
func (c *revokeInvitationCommand) Run(ctx context.Context, common *commonFlags) error {
	which, err := social.ParseInvitationID(c.ID)
	if err != nil {
		which, err = social.InvitationOf(c.ID)
	}
	if err != nil {
		return fmt.Errorf("%q is neither the id of an invitation, such as invitation_01h45ytscbebyvny4gc8cr8ma2, nor a code, such as invite_01h45ytscbebyvny4gc8cr8ma2", c.ID)
	}
	return withService(ctx, common, func(service *network.Service) error {
		err := service.RevokeInvitationAsOperator(ctx, which)
		if err == nil {
			fmt.Fprintf(common.console.stdout(), "%s is not valid any more.\n", which)
		}
		return err
	})
}
