package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"plaza/social"
	"plaza/storage"
)

type deleteCommand struct {
	User deleteUserCommand `cmd:"" help:"Delete a user's account and everything that belongs to it. This can't be undone."`
}

type deleteUserCommand struct {
	forServers

	Handle string `arg:"" help:"The handle of the user to delete."`
	Yes    bool   `help:"Confirm the deletion."`
}

// Help explains the command, below its one-line help.
func (*deleteUserCommand) Help() string {
	return `The user disappears immediately: profile, posts, comments and reactions are hidden, all sessions end, and the handle can't be registered again for 30 days. Then the user's data is removed, and counts are corrected. The command takes part in that work and waits for it. You can stop the command: a running server completes the work, or the next one that starts.

It works while servers run. If a server has opened the embedded database, it carries the command out.`
}

// Run deletes the user.
func (c *deleteUserCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.delete(ctx, common, st), st.Close())
}

func (c *deleteUserCommand) delete(ctx context.Context, common *commonFlags, st storage.Store) error {
	service, out := common.service(st), common.console.stdout()
	handle := strings.TrimPrefix(c.Handle, "@")
	user, err := service.UserNamed(ctx, handle)
	if err != nil {
		return plainly(err)
	}
	if !c.Yes {
		return fmt.Errorf("this would permanently delete %s (%s), who signed up on %s and has %d followers, and everything that belongs to them: pass --yes to confirm",
			user.Handle, user.Name, user.CreatedAt().UTC().Format(time.DateOnly), user.FollowersCount)
	}
	gone := user.ID
	if err := service.DeleteUser(ctx, gone); err != nil {
		return plainly(err)
	}
	fmt.Fprintf(out, "%s is deleted: the account is hidden, and the handle can't be registered again for %d days.\n", user.Handle, social.HandleRest/(24*time.Hour))
	if err := removeLeft(ctx, st, gone, common.console.store == nil); err != nil {
		return fmt.Errorf("the rest of the account's data will be removed in the background, by a running server or by the next one that starts: %w", err)
	}
	fmt.Fprintln(out, "All data of the account has been removed.")
	return nil
}

// removeLeft waits until all data of a deleted user is removed, or ctx ends. It takes part in the
// background work, unless the store's server does it.
func removeLeft(ctx context.Context, st storage.Store, user social.UserID, works bool) error {
	working, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	if works {
		work.Go(func() { st.Work(working) })
	}
	defer work.Wait()
	defer stop()
	const interval = 50 * time.Millisecond
	for {
		left, err := st.IsDeleting(ctx, user)
		if err != nil || !left {
			return err
		}
		backlog, err := st.Backlog(ctx)
		if err != nil {
			return err
		}
		if backlog.Dead > 0 {
			return fmt.Errorf("some jobs failed too often (plaza work status lists them, plaza work retry retries them): %+v", backlog.Faults)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}
