package cli

import (
	"context"
	"io"
	"os"
	"os/exec"

	"plaza/bench"
	"plaza/bench/figures"
	"plaza/internal/app"
	"plaza/internal/front"
	"plaza/social/network"
	"plaza/storage"
)

type benchLiveCommand struct {
	benchFlags

	Sockets int `help:"Subscribers to each event." default:"1000" placeholder:"N"`
	Idle    int `help:"Subscribers whose memory is measured; 0 leaves that out." default:"10000" placeholder:"N"`
}

// Help explains the command, below its one-line help.
func (*benchLiveCommand) Help() string {
	return benchHelp + "\n\nIt opens six times as many websockets as --sockets, plus --idle. The limit on open files must allow that."
}

// Run runs the measurement.
func (c *benchLiveCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(common, func(o bench.Options) (*figures.Report, error) {
		return bench.Live(ctx, bench.LiveOptions{Options: o, Sockets: c.Sockets, Idle: c.Idle, Start: startServer, Listeners: startListeners})
	})
}

// startServer serves a store on a free port.
func startServer(ctx context.Context, st storage.Store) (*bench.LiveServer, error) {
	listener, err := front.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := app.New(st, app.Config{PublicURL: "http://plaza.invalid", Social: network.Options{CacheSize: defaultPeopleCache << 20}})
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	return &bench.LiveServer{
		Handler: server.Handler, Address: listener.Addr().String(), Subscriptions: server.Hub.Subscriptions,
		Stop: func() error { stop(); return <-ended },
	}, nil
}

// startListeners starts this program again, as a process of listeners.
func startListeners(ctx context.Context) (in io.WriteCloser, out io.Reader, wait func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	listeners := exec.CommandContext(ctx, program, "bench", "listen")
	listeners.Stderr = os.Stderr
	if in, err = listeners.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if out, err = listeners.StdoutPipe(); err != nil {
		return nil, nil, nil, err
	}
	return in, out, listeners.Wait, listeners.Start()
}

// benchListenCommand is a process of listeners: see bench.Listen.
type benchListenCommand struct{}

// Run runs the listeners.
func (*benchListenCommand) Run(ctx context.Context) error {
	return bench.Listen(ctx, os.Stdin, os.Stdout)
}
