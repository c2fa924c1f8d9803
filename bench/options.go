package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"plaza/bench/measure"
	"plaza/storage"
	"plaza/storage/mongodb"
)

// Options are common to all comparisons on MongoDB.
type Options struct {
	URI       string   // of MongoDB; see [OpenArena]
	Overwrite bool     // drop the databases of earlier runs
	Layouts   []string // the compared layouts; none means all
	Rounds    int
	Turn      time.Duration
	Scale     float64 // of the data and the numbers of people; 1 is the usual size
	Seed      uint64
	Only      string // a part of the names of the calls to measure; empty means all
	Command   string // the command line that the report shows
	// Serve returns Plaza's HTTP handler over a store, with the usual people cache or without one.
	Serve func(st storage.Store, peopleCache bool) http.Handler
	// Progress is called with each step. Default: none.
	Progress func(stage string, done, total int)
}

func (o *Options) progress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

// scaled returns n times the run's scale, but at least a minimum.
func (o *Options) scaled(n, least int) int { return max(least, int(float64(n)*o.Scale)) }

func (o *Options) contest(meter *measure.Meter, stage string) *measure.Contest {
	return &measure.Contest{
		Meter: meter, Rounds: o.Rounds, Turn: o.Turn, Only: o.Only,
		Progress: func(done, total int) { o.progress(stage, done, total) },
	}
}

// contender is a name, and the configuration of its database.
type contender struct {
	name    string
	options mongodb.Options
}

// contenders returns the layouts of one kind, each with the default layouts of the other kinds, and
// then with other layouts of those kinds that matter.
func contenders(of string, others ...string) []contender {
	var all []contender
	for _, layout := range mongodb.Layouts(of) {
		c := contender{name: layout}
		c.options.SetLayout(of, layout)
		all = append(all, c)
	}
	first := all[0]
	for _, other := range others {
		for i, layout := range mongodb.Layouts(other) {
			if i > 0 {
				c := contender{name: first.name + "+" + layout, options: first.options}
				c.options.SetLayout(other, layout)
				all = append(all, c)
			}
		}
	}
	return all
}

// chosen returns the contenders that the options name.
func (o *Options) chosen(all []contender) ([]contender, error) {
	if len(o.Layouts) == 0 {
		return all, nil
	}
	var chosen []contender
	for _, name := range o.Layouts {
		at := slices.IndexFunc(all, func(c contender) bool { return c.name == name })
		if at < 0 {
			return nil, fmt.Errorf("--layouts: there is no %q: choose from %s", name, strings.Join(namesOf(all), ", "))
		}
		if slices.ContainsFunc(chosen, func(c contender) bool { return c.name == name }) {
			return nil, fmt.Errorf("--layouts: %q is named twice", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

func namesOf(all []contender) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return names
}

// check validates the options.
func (o *Options) check() error {
	switch {
	case o.Rounds < 1:
		return errors.New("--rounds must be 1 or more")
	case o.Scale <= 0 || o.Scale > 100:
		return errors.New("--scale must be above 0, and at most 100")
	case o.Turn <= 0:
		return errors.New("--turn must be above 0")
	}
	return nil
}

// inArena opens a rival for each contender, lets run measure them, and drops their databases.
func (o *Options) inArena(ctx context.Context, all []contender, run func(*Arena, []*Rival) error) error {
	return o.withArena(ctx, all, func(arena *Arena, chosen []contender) error {
		var rivals []*Rival
		for _, c := range chosen {
			rival, err := arena.Open(ctx, c.name, c.options)
			if err != nil {
				return err
			}
			rivals = append(rivals, rival)
		}
		return run(arena, rivals)
	})
}

// withArena opens an arena for the chosen contenders, and finally drops the databases that run has
// opened there.
func (o *Options) withArena(ctx context.Context, all []contender, run func(*Arena, []contender) error) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	chosen, err := o.chosen(all)
	if err != nil {
		return err
	}
	arena, err := OpenArena(ctx, o.URI, o.Overwrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, arena.Close(ctx)) }()
	return run(arena, chosen)
}
