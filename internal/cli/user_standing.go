package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plaza/fault"
	"plaza/social"
	"plaza/social/network"
)

// sanctioned is what the commands about the standing of a user have in common.
type sanctioned struct {
	forServers

	Handle string `arg:"" help:"The handle of the user."`
	Reason string `help:"Why, for the user and the audit log: at most 2000 characters." placeholder:"TEXT" required:""`
}

// carryOut stores the decision, and prints a line about the user.
func (c *sanctioned) carryOut(ctx context.Context, common *commonFlags, d social.Decision, line string) error {
	return withService(ctx, common, func(service *network.Service) error { return c.decide(ctx, common, service, d, line) })
}

func (c *sanctioned) decide(ctx context.Context, common *commonFlags, service *network.Service, d social.Decision, line string) error {
	d.Reason = c.Reason
	user, err := service.Sanction(ctx, handleOf(c.Handle), d)
	if err == nil {
		fmt.Fprintln(common.console.stdout(), user.Handle, line)
	}
	return err
}

type suspendUserCommand struct {
	sanctioned

	For   time.Duration `help:"How long, such as 72h." placeholder:"DURATION" xor:"end" required:""`
	Until time.Time     `help:"Until when: a time such as 2030-01-31T12:00:00Z." placeholder:"TIME" xor:"end" required:""`
}

// Help explains the command, below its one-line help.
func (*suspendUserCommand) Help() string {
	return `The user can still sign in and read, learns the reason and the end, and can delete the account. What they wrote stays visible. The suspension ends by itself. Another one replaces it.`
}

// Run suspends the user. A refusal of the end names the flag that has set it.
func (c *suspendUserCommand) Run(ctx context.Context, common *commonFlags) error {
	return withService(ctx, common, func(service *network.Service) error {
		until, flag := c.Until, "--until"
		if until.IsZero() {
			until, flag = service.Moment().Add(c.For), "--for"
		}
		until = until.UTC().Truncate(time.Millisecond)
		d := social.Decision{Action: social.ActionSuspend, Until: until}
		err := c.decide(ctx, common, service, d, fmt.Sprintf("is suspended until %s.", until.Format(time.RFC3339)))
		if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Field == "until" {
			return fault.Errorf(refused.Code, flag, "%s", refused.Message)
		}
		return err
	})
}

type banUserCommand struct{ sanctioned }

// Help explains the command, below its one-line help.
func (*banUserCommand) Help() string {
	return `To everyone else, the account and all that the user wrote are as if they had never existed. Nothing is deleted: plaza user reinstate brings it back.`
}

// Run bans the user.
func (c *banUserCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.carryOut(ctx, common, social.Decision{Action: social.ActionBan}, "is banned, and signed out everywhere.")
}

type reinstateUserCommand struct{ sanctioned }

// Run ends the suspension or the ban.
func (c *reinstateUserCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.carryOut(ctx, common, social.Decision{Action: social.ActionReinstate}, "is reinstated.")
}
