package cli

import (
	"context"
	"errors"

	"plaza/bench"
	"plaza/bench/figures"
)

// benchCommand compares the costs of designs, on separate databases.
type benchCommand struct {
	Feeds    benchFeedsCommand    `cmd:"" help:"Compare the layouts of feeds and of the follower graph: news, walls, posts, comments, follows."`
	Comments benchCommentsCommand `cmd:"" help:"Compare the layouts of comment threads: pages, permalinks, discussions, new comments."`
	Model    benchModelCommand    `cmd:"" help:"Compare embedding with referencing: authors' names, previews of comments, poll votes."`
	Ads      benchAdsCommand      `cmd:"" help:"Compare the designs of ad zones on both engines: choices, and queries for ads."`
	Live     benchLiveCommand     `cmd:"" help:"Measure live updates: what each delivery and each idle subscriber costs."`
	Listen   benchListenCommand   `cmd:"" hidden:""`
}

type benchFeedsCommand struct {
	benchFlags

	Networks string `help:"Folder with SNAP's ego-facebook networks (see plaza import); without it only the generated network is used." type:"path" placeholder:"DIR"`
	Edges    int    `help:"Follows in the generated network, at most 1,000,000; 0 leaves it out." default:"200000" placeholder:"N"`
}

// Help explains the command, below its one-line help.
func (*benchFeedsCommand) Help() string { return benchHelp }

// Run runs the comparison.
func (c *benchFeedsCommand) Run(ctx context.Context, common *commonFlags) error {
	if c.Edges < 0 || c.Edges > 1_000_000 {
		return errors.New("--edges must be from 0 to 1,000,000")
	}
	if c.Edges == 0 && c.Networks == "" {
		return errors.New("there is no network to load: give --edges, or --networks")
	}
	return c.run(common, func(o bench.Options) (*figures.Report, error) {
		return bench.Feeds(ctx, bench.FeedsOptions{Options: o, Networks: c.Networks, Edges: c.Edges})
	})
}

type benchCommentsCommand struct {
	benchFlags

	Cache int `help:"MB of mongod's cache for measuring threads that don't fit into it; 0 leaves them out." default:"64" placeholder:"MB"`
}

// Help explains the command, below its one-line help.
func (*benchCommentsCommand) Help() string { return benchHelp }

// Run runs the comparison.
func (c *benchCommentsCommand) Run(ctx context.Context, common *commonFlags) error {
	if c.Cache < 0 {
		return errors.New("--cache must not be negative")
	}
	return c.run(common, func(o bench.Options) (*figures.Report, error) {
		return bench.Comments(ctx, bench.CommentsOptions{Options: o, Cache: c.Cache})
	})
}

type benchModelCommand struct {
	benchFlags
}

// Help explains the command, below its one-line help.
func (*benchModelCommand) Help() string { return benchHelp }

// Run runs the comparison.
func (c *benchModelCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(common, func(o bench.Options) (*figures.Report, error) { return bench.Model(ctx, o) })
}

type benchAdsCommand struct {
	benchFlags

	Zones    int `help:"How many zones are loaded." default:"1000" placeholder:"N"`
	Units    int `help:"How many ads each zone has." default:"100" placeholder:"N"`
	Profiles int `help:"How many people have seen ads before." default:"1000000" placeholder:"N"`
}

// Help explains the command, below its one-line help.
func (*benchAdsCommand) Help() string { return benchHelp }

// Run runs the comparison.
func (c *benchAdsCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(common, func(o bench.Options) (*figures.Report, error) {
		return bench.Ads(ctx, bench.AdsOptions{Options: o, Zones: c.Zones, Units: c.Units, Profiles: c.Profiles})
	})
}
