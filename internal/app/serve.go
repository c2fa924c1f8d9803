package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"plaza/internal/front"
	"plaza/web"
)

// drainTime is how long requests and sockets have to finish once the listener is closed.
const drainTime = 9 * time.Second

// Serve answers requests on a listener of front.Listen until ctx ends, and drains: no request that
// has begun fails.
func (s *Server) Serve(ctx context.Context, listener *net.TCPListener) error {
	return s.serve(ctx, front.New(listener))
}

func (s *Server) serve(ctx context.Context, f *front.Front) error {
	defer f.Close() // also closes connections without a request
	background, stop := context.WithCancel(context.Background())
	defer stop()
	hubDone, err := s.Hub.Open(background)
	if err != nil {
		return fmt.Errorf("cannot follow the event log: %w", err)
	}
	working, rest := context.WithCancel(background) // jobs are durable, so shutting down does not wait for them
	worked := inBackground(working, s.store.Work)
	kept := inBackground(working, func(ctx context.Context) { s.ads.Work(ctx, slog.Default()) })
	notified := inBackground(working, s.Notifier.Run)
	mailed := inBackground(working, func(ctx context.Context) { s.social.RunMails(ctx, slog.Default()) })
	lived := inBackground(working, func(ctx context.Context) { liveDemo(ctx, s.community, s.social, s.isWatched) })
	defer func() {
		rest()
		<-lived
		<-mailed
		<-worked
		<-notified
		<-kept
		s.DrainAds()
	}()
	f.Open(s.Handler)
	s.announce(ctx, "http://"+f.Address())
	select {
	case err := <-f.Failed():
		return fmt.Errorf("the server stopped: %w", err)
	case <-ctx.Done():
	}
	s.drain(f)
	f.Close()
	rest()
	stop()
	<-hubDone
	return nil
}

// drain ends a server without failing a request (ADR 30). Readiness fails first, while requests are
// still answered. Then the listener closes together with the sockets, and requests under way
// finish.
func (s *Server) drain(f *front.Front) {
	slog.Info("shutting down")
	s.ending.Store(true)
	if s.config.LastCall != nil {
		s.config.LastCall()
	}
	f.Shut()
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	s.GraphQL.CloseSockets()
	if err := errors.Join(f.Wait(limit), s.GraphQL.Shutdown(limit)); err != nil {
		slog.WarnContext(limit, "closing connections that did not finish in time", "error", err)
	}
}

// announce logs the address and the settings with which the server runs.
func (s *Server) announce(ctx context.Context, address string) {
	on := s.store.Description()
	attributes := []slog.Attr{
		slog.String("version", s.config.Version), slog.String("engine", on.Engine), slog.String("database", on.Database),
		slog.String("publicURL", s.config.PublicURL), slog.String("graphql", address+"/graphql"),
	}
	if !s.config.NoGraphiQL {
		attributes = append(attributes, slog.String("graphiql", address))
	}
	if !s.config.NoApp {
		attributes = append(attributes, slog.String("app", address+web.AppPath))
	}
	for _, of := range slices.Sorted(maps.Keys(on.Layouts)) {
		attributes = append(attributes, slog.String(of, on.Layouts[of]))
	}
	slog.LogAttrs(ctx, slog.LevelInfo, "Plaza is open", attributes...)
}

// DrainAds stores the clicks that still wait for the database, returns the leased part of budgets,
// and stores the counts of requests for ads.
func (s *Server) DrainAds() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := s.ads.Drain(ctx); err != nil {
		slog.WarnContext(ctx, "the last clicks on ads were not stored", "error", err)
	}
	if err := s.ads.Close(ctx); err != nil {
		slog.WarnContext(ctx, "the last work on ads was not done", "error", err)
	}
}
