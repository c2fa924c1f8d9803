package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/importer"
	"plaza/internal/progress"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
)

type importCommand struct {
	EgoFacebook egoFacebookCommand `cmd:"" name:"ego-facebook" help:"Load SNAP's ego-facebook networks: about 4,000 people, their friendships and their circles."`
}

type egoFacebookCommand struct {
	Dir      string  `arg:"" help:"Folder with the networks: N.edges and N.circles for each user N." type:"path"`
	Password *string `help:"Set this password for all added users; without it, they can't sign in. For experiments only." placeholder:"PASSWORD"`
}

// Help explains the command, below its one-line help.
func (*egoFacebookCommand) Help() string {
	return `N.edges has a friendship "a b" on each line, N.circles a circle "name<TAB>member<TAB>member…". User N becomes fbN, and is friends with everyone in N's files. Friends follow each other.

You can run it repeatedly: it adds what is missing and leaves the rest unchanged. After Ctrl-C or a crash, the same command resumes where it stopped. Invalid lines are reported and skipped.`
}

// Run imports the folder.
func (c *egoFacebookCommand) Run(ctx context.Context, common *commonFlags) error {
	faults := &faultPrinter{out: os.Stderr}
	networks, err := importer.ReadFolder(c.Dir, faults.print)
	if err != nil {
		return err
	}
	faults.end()
	hash, err := c.passwordHash(ctx)
	if err != nil {
		return err
	}
	st, err := common.makeStore(ctx)
	if err != nil {
		return err
	}
	meter := progress.OnStderr()
	meter.Begin("importing", 0)
	show := func(p importer.Progress) { meter.Show(p.Done, p.Total) }
	summary, err := importer.Load(ctx, st, networks, importer.Options{PasswordHash: hash, Progress: show})
	meter.End()
	err = errors.Join(stopped(err), st.Close())
	if err != nil {
		return err
	}
	writeSummary(common.console.stdout(), networks, summary, faults.count, meter.Took())
	if hash != "" && summary.Users.Existing() > 0 {
		fmt.Fprintln(common.console.stdout(), "Existing users keep their passwords, or remain without one.")
	}
	return nil
}

// passwordHash returns a hash that is computed once for all users, in the same way as at sign-up;
// "" without a password.
func (c *egoFacebookCommand) passwordHash(ctx context.Context) (string, error) {
	if c.Password == nil {
		return "", nil
	}
	in := accounts.SignUpInput{Handle: "fb0", Name: "User 0", Password: *c.Password}
	account, err := network.New(nil, network.Options{}).NewAccount(ctx, in, social.UserID{ID: id.New()})
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return "", fmt.Errorf("--password: %s", refused.Message)
	}
	return account.PasswordHash, err
}

// stopped explains how to resume after Ctrl-C.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("the import was stopped; what is already stored remains, and the same command resumes from there")
	}
	return err
}

// faultPrinter prints the first faults, and counts all of them.
type faultPrinter struct {
	out   io.Writer
	count int
}

// maxFaultsShown is how many faults are printed individually.
const maxFaultsShown = 20

func (p *faultPrinter) print(f importer.Fault) {
	p.count++
	if p.count <= maxFaultsShown {
		fmt.Fprintln(p.out, f)
	}
}

func (p *faultPrinter) end() {
	if more := p.count - maxFaultsShown; more > 0 {
		fmt.Fprintf(p.out, "… and %s more\n", progress.Grouped(more))
	}
}

func writeSummary(out io.Writer, n *importer.Networks, s importer.Summary, leftOut int, took time.Duration) {
	read := fmt.Sprintf("%d networks", n.Count)
	if n.Count == 1 {
		read = "1 network"
	}
	fmt.Fprintf(out, "Read %s; %s.\n\n", read, linesLeftOut(leftOut))
	fmt.Fprintf(out, "%-20s %9s %15s\n", "", "added", "already there")
	row := func(name string, c importer.Count) {
		fmt.Fprintf(out, "%-20s %9s %15s\n", name, progress.Grouped(c.Added), progress.Grouped(c.Existing()))
	}
	row("users", s.Users)
	row("follows", s.Follows)
	row("circles", s.Circles)
	row("members in circles", s.Memberships)
	if s.Users.Refused > 0 {
		fmt.Fprintf(out, "\nAccounts that were deleted, and not added again: %s.\n", progress.Grouped(s.Users.Refused))
	}
	if refused := s.Follows.Refused + s.Memberships.Refused; refused > 0 {
		fmt.Fprintf(out, "\nFollows and members that were not added, because one of the two users blocks the other, or has deleted the account: %s.\n", progress.Grouped(refused))
	}
	fmt.Fprintf(out, "\nTook %s. Now start plaza and look at a user in GraphiQL:\n\n  %s\n",
		took.Round(10*time.Millisecond), lookAt(n))
}

func linesLeftOut(n int) string {
	switch n {
	case 0:
		return "no line was left out"
	case 1:
		return "1 line was left out"
	default:
		return progress.Grouped(n) + " lines were left out"
	}
}

// lookAt returns a query that shows the person with the most friends.
func lookAt(n *importer.Networks) string {
	friends := make(map[importer.Person]int, len(n.People))
	var most importer.Person
	for _, f := range n.Friendships {
		for _, p := range []importer.Person{f.Low, f.High} {
			friends[p]++
			if friends[p] > friends[most] {
				most = p
			}
		}
	}
	if len(n.Friendships) == 0 && len(n.People) > 0 {
		most = n.People[0]
	}
	return fmt.Sprintf(`{ user(handle: %q) { name followersCount followers(first: 5) { nodes { handle } } } }`, importer.Handle(most))
}
