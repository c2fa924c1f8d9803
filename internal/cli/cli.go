package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"plaza/storage/sqlite"
)

// commandLine has all of plaza's commands, flags and environment variables.
type commandLine struct {
	commonFlags

	Serve   serveCommand   `cmd:"" default:"withargs" help:"Serve the API, GraphiQL and the web app (the default command)."`
	Import  importCommand  `cmd:"" help:"Load people and circles from files."`
	Export  exportCommand  `cmd:"" help:"Write a user's data to the standard output."`
	Work    workCommand    `cmd:"" help:"Inspect the database's background work, and retry failed jobs."`
	Grant   grantCommand   `cmd:"" help:"Grant a right to a user."`
	Revoke  revokeCommand  `cmd:"" help:"Revoke a right of a user."`
	Rights  rightsCommand  `cmd:"" help:"List the users who have rights."`
	User    userCommand    `cmd:"" help:"List, create, suspend, ban and export accounts; set passwords; end sessions."`
	Invite  inviteCommand  `cmd:"" name:"invitation" help:"Invite people to create accounts, where registration is by invitation."`
	Delete  deleteCommand  `cmd:"" help:"Delete a user."`
	Shard   shardCommand   `cmd:"" help:"Distribute a MongoDB database over the shards of a cluster."`
	Bench   benchCommand   `cmd:"" help:"Compare what layouts and designs cost."`
	Migrate migrateCommand `cmd:"" help:"Move a MongoDB database to another layout, or its documents to the newest version, while servers run."`
	Ads     adsCommand     `cmd:"" help:"Load ads from a file, and rebuild their reports."`
}

const description = `Plaza is a headless social network: a GraphQL API over MongoDB or an embedded SQLite file.

To try it, run "plaza --demo" and open http://127.0.0.1:8080 in a browser. "plaza serve --help" lists the flags of the server.

Flags can also be set with the environment variable shown after their description.`

// Run runs the command that the arguments of the process name. Exit codes: 0 success, 1 failure, 80
// invalid arguments.
func Run() (exitCode int) {
	var cli commandLine
	parser, err := newParser(&cli)
	if err != nil {
		panic(err) // the commands contradict each other
	}
	if i := slices.IndexFunc(os.Args, func(arg string) bool { return !utf8.ValidString(arg) }); i > 0 {
		fmt.Fprintf(os.Stderr, "plaza: the argument %q is not valid UTF-8\n", os.Args[i])
		return 1
	}
	command, err := parser.Parse(os.Args[1:])
	if mistake, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintf(os.Stderr, "plaza: %v\nRun %s --help for usage.\n", mistake, mistaken(mistake))
		return mistake.ExitCode()
	}
	slog.SetDefault(newLogger(cli.LogLevel))
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	if err := checkEnvironment(command.Model, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "plaza:", err)
		return 1
	}
	if err := cli.run(ctx, command); err != nil {
		fmt.Fprintln(os.Stderr, "plaza:", withAdvice(err))
		return 1
	}
	return 0
}

// newParser parses arguments into cli.
func newParser(cli *commandLine, options ...kong.Option) (*kong.Kong, error) {
	options = append(options, plainMistakes()...)
	return kong.New(cli, append(options, kong.Name("plaza"), kong.Description(description), kong.Vars{"version": build()}, kong.ValueFormatter(helpOf))...)
}

// helpOf returns the help of a flag, with the default where a placeholder hides it.
func helpOf(flag *kong.Value) string {
	shown := *flag
	if flag.Default != "" && flag.Tag.PlaceHolder != "" {
		shown.Help += " Default: " + flag.Default + "."
	}
	return kong.DefaultHelpValueFormatter(&shown)
}

// patience is how long a command waits for another one, which has opened the embedded database.
const patience = 2 * time.Second

// run runs a command. If a server has opened the embedded database, that server carries it out.
func (c *commandLine) run(ctx context.Context, command *kong.Context) error {
	for giveUp := time.Now().Add(patience); ; {
		err := command.Run(&c.commonFlags)
		if err == nil {
			err = c.console.unwritten()
		}
		if !errors.Is(err, sqlite.ErrInUse) {
			return err
		}
		if isForServers(command) {
			if sent := c.send(ctx, command.Args); !errors.Is(sent, errNoServer) {
				return sent
			}
		}
		if time.Now().After(giveUp) {
			return err
		}
		select {
		case <-time.After(patience / 40):
		case <-ctx.Done():
			return err
		}
	}
}

// endSignals ask a process to end. A hangup that is already ignored stays ignored, as nohup
// requires.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// mistaken returns the command whose arguments contain the mistake, as far as they were understood.
// For the default command it is "plaza", unless the arguments name the command.
func mistaken(mistake *kong.ParseError) string {
	if command := mistake.Context.Selected(); command != nil && slices.Contains(os.Args, command.Name) {
		return command.FullPath()
	}
	return "plaza"
}
