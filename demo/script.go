package demo

import (
	"cmp"
	"context"
	"slices"
)

// script returns the steps of everything that happens after the people were created, in the order
// of time.
func script() []step {
	var steps []step
	for _, posts := range [][]post{wall, town} {
		for i := range posts {
			steps = append(steps, posts[i].steps()...)
		}
	}
	for _, m := range mutes {
		steps = append(steps, m.step())
	}
	for _, b := range blocks {
		steps = append(steps, b.step())
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.after, b.after) })
	return steps
}

// rift is a mute or a block.
type rift struct {
	day   int
	clock string
	from  string
	to    string
}

type mute rift

type block rift

// mutes and blocks of the script.
var (
	mutes = []mute{
		{4, "08:10", "ada", "bruno"},
		{9, "12:00", "linus", "bruno"},
		{10, "07:30", "kofi", "vic"},
	}
	blocks = []block{
		{8, "19:30", "ada", "vic"},
	}
)

func (m mute) step() step {
	return step{
		name: "mute/" + m.from + "/" + m.to, after: after(m.day, m.clock),
		do: func(ctx context.Context, s *stage) error { return s.social.Mute(ctx, s.user(m.from), s.user(m.to)) },
	}
}

func (b block) step() step {
	return step{
		name: "block/" + b.from + "/" + b.to, after: after(b.day, b.clock),
		do: func(ctx context.Context, s *stage) error {
			_, err := s.social.Block(ctx, s.user(b.from), s.user(b.to))
			return err
		},
	}
}
