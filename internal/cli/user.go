package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"plaza/fault"
	"plaza/internal/app"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// userCommand has the commands for accounts, except their deletion: see deleteUserCommand.
type userCommand struct {
	List      listUsersCommand     `cmd:"" help:"List all users, sorted by name."`
	Add       addUserCommand       `cmd:"" help:"Create an account. The password is read from the terminal or the standard input."`
	Password  userPasswordCommand  `cmd:"" help:"Set a user's password, and end all their sessions and access tokens. The password is read from the terminal or the standard input."`
	SignOut   signOutUserCommand   `cmd:"" name:"sign-out" help:"End all sessions and access tokens of a user immediately, on all servers, and refuse the tokens that the site of --jwt-issuer and OpenID providers have issued to them so far."`
	Suspend   suspendUserCommand   `cmd:"" help:"Suspend a user until a time: they can read, and change nothing but their own account."`
	Ban       banUserCommand       `cmd:"" help:"Ban a user: end all their sessions and access tokens, refuse their sign-ins, and hide the account and all that they wrote."`
	Reinstate reinstateUserCommand `cmd:"" help:"End the suspension or the ban of a user immediately."`
	Export    exportUserCommand    `cmd:"" help:"Write all that is stored about a user, on the standard output, as JSON Lines."`
	Readmit   readmitUserCommand   `cmd:"" help:"Allow a user of the --jwt-issuer or of an OpenID provider whose account here was deleted to have an account again."`
}

// Help explains the commands, below their one-line help.
func (*userCommand) Help() string {
	return `They work while servers run, which see the change immediately. If a server has opened the embedded database, it carries the command out.`
}

// withService runs do with the domain's service over the database.
func withService(ctx context.Context, common *commonFlags, do func(*network.Service) error) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(naming(do(common.service(st))), st.Close())
}

// service returns the domain's service over an open store.
func (c *commonFlags) service(st storage.Store) *network.Service {
	audit := c.console.audit
	if c.console.store == nil && c.AuditLog == "on" {
		audit = app.Audit(slog.Default())
	}
	return network.New(st, network.Options{Now: storage.TimeOf(st), Accounts: accounts.Options{Audit: audit}})
}

// naming reduces a refusal to the name of the invalid field and the message.
func naming(err error) error {
	if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Field != "" && refused.Code != fault.CodeNotFound {
		return fmt.Errorf("%s: %s", cmp.Or(flagOf[refused.Field], refused.Field), refused.Message)
	}
	return plainly(err)
}

// flagOf has the flags that set a field of another name.
var flagOf = map[string]string{"expiresInDays": "--days", "uses": "--uses"}

type listUsersCommand struct {
	forServers

	JSON bool `help:"Write one JSON object per line."`
}

// listedUser is a line of plaza user list --json.
type listedUser struct {
	ID        string              `json:"id"`
	Handle    string              `json:"handle"`
	Name      string              `json:"name"`
	CreatedAt time.Time           `json:"createdAt"`
	Followers int                 `json:"followersCount"`
	Following int                 `json:"followingCount"`
	Rights    []social.Right      `json:"rights"`
	Standing  social.StandingKind `json:"standing"`
}

// Help explains the command, below its one-line help.
func (*listUsersCommand) Help() string {
	return `Each line has the handle, the day of sign-up (UTC), the id and the name, separated by tabs.`
}

// Run prints a line for each user.
func (c *listUsersCommand) Run(ctx context.Context, common *commonFlags) error {
	out := bufio.NewWriter(common.console.stdout())
	err := withService(ctx, common, func(service *network.Service) error { return c.list(ctx, out, service) })
	return errors.Join(err, out.Flush())
}

// userBatch is how many users are read in one batch.
const userBatch = 500

func (c *listUsersCommand) list(ctx context.Context, out io.Writer, service *network.Service) error {
	page := social.Page{Limit: userBatch}
	for {
		users, last, err := service.AllUsers(ctx, page)
		if err != nil {
			return err
		}
		if len(users) == 0 && page.After == "" && !c.JSON {
			_, err := fmt.Fprintln(out, "There are no users yet: plaza user add HANDLE creates an account.")
			return err
		}
		for _, u := range users {
			if err := c.write(out, u, service.Moment()); err != nil {
				return err
			}
		}
		if len(users) < userBatch {
			return nil
		}
		page.After = last
	}
}

func (c *listUsersCommand) write(out io.Writer, u *social.User, now time.Time) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(listedUser{
			ID: u.ID.String(), Handle: u.Handle, Name: u.Name, CreatedAt: u.CreatedAt().UTC(), Followers: u.FollowersCount,
			Following: u.FollowingCount, Rights: append([]social.Right{}, u.RightsInOrder()...),
			Standing: u.Standing.At(now),
		})
	}
	_, err := fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", u.Handle, u.CreatedAt().UTC().Format(time.DateOnly), u.ID, u.Name)
	return err
}

type addUserCommand struct {
	forServers

	Handle string `arg:"" help:"The handle: letters (a–z), digits and underscores. Reserved handles are allowed."`
	Name   string `help:"The display name; default: the handle." placeholder:"NAME"`
}

// Run creates the account.
func (c *addUserCommand) Run(ctx context.Context, common *commonFlags) error {
	password, err := common.console.readPassword()
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		name = c.Handle
	}
	return withService(ctx, common, func(service *network.Service) error {
		user, err := service.AddUser(ctx, accounts.SignUpInput{Handle: handleOf(c.Handle), Name: name, Password: password})
		if err == nil {
			fmt.Fprintf(common.console.stdout(), "%s now has an account: %s\n", user.Handle, user.ID)
		}
		return err
	})
}

type userPasswordCommand struct {
	forServers

	Handle string `arg:"" help:"The handle of the user."`
}

// Run sets the password.
func (c *userPasswordCommand) Run(ctx context.Context, common *commonFlags) error {
	password, err := common.console.readPassword()
	if err != nil {
		return err
	}
	return withService(ctx, common, func(service *network.Service) error {
		user, err := service.ReplacePassword(ctx, handleOf(c.Handle), password)
		if err == nil {
			fmt.Fprintf(common.console.stdout(), "%s has a new password, and is signed out everywhere.\n", user.Handle)
		}
		return err
	})
}

type signOutUserCommand struct {
	forServers

	Handle string `arg:"" help:"The handle of the user."`
}

// Run ends the sessions.
func (c *signOutUserCommand) Run(ctx context.Context, common *commonFlags) error {
	return withService(ctx, common, func(service *network.Service) error {
		user, err := service.EndAllSessions(ctx, handleOf(c.Handle))
		if err == nil {
			fmt.Fprintf(common.console.stdout(), "%s is signed out everywhere.\n", user.Handle)
		}
		return err
	})
}

type readmitUserCommand struct {
	forServers

	Issuer  string `arg:"" help:"The site, as in --jwt-issuer, or the issuer in --oidc-provider."`
	Subject string `arg:"" help:"The issuer's identifier of the user: the claim sub."`
}

// Help explains the command, below its one-line help.
func (*readmitUserCommand) Help() string {
	return `When an account is deleted, the issuer's next token for that user would immediately create a new one. Plaza therefore refuses the user's tokens until this command allows them again. The new account starts empty: the old one is not restored.`
}

// Run readmits the user.
func (c *readmitUserCommand) Run(ctx context.Context, common *commonFlags) error {
	if c.Issuer == "" || c.Subject == "" {
		return errors.New("name the issuer and the subject: neither can be empty")
	}
	return withService(ctx, common, func(service *network.Service) error {
		err := service.ReadmitIdentity(ctx, c.Issuer, c.Subject)
		if err == nil {
			fmt.Fprintln(common.console.stdout(), "The user is readmitted: the next token creates an account.")
		}
		return err
	})
}

// handleOf accepts a handle written as @ada.
func handleOf(argument string) string { return strings.TrimPrefix(argument, "@") }

// readPassword reads a password, from a terminal without echo, or else from the first line of in.
// It is never an argument, because other users of the machine can see those.
func readPassword(in *os.File, prompt io.Writer) (string, error) {
	if term.IsTerminal(int(in.Fd())) {
		fmt.Fprint(prompt, "Password: ")
		password, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(prompt)
		return string(password), err
	}
	line, err := bufio.NewReader(io.LimitReader(in, 1<<16)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("no password on the standard input: pipe one line into the command, or run it in a terminal")
	}
	if !utf8.ValidString(line) {
		return "", errors.New("the password on the standard input is not valid UTF-8")
	}
	return line, nil
}
