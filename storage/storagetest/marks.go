package storagetest

import (
	"context"
	"slices"

	"plaza/social"
)

// marksAreListed checks that each list of a user's marks has every mark once, in pages of any size.
func marksAreListed(w *world) {
	ada, ben := w.user(), w.user()
	var reactions []social.Mark[social.ReactionKind]
	var votes []social.Mark[int]
	var mutes []social.Mark[bool]
	for i := range 5 {
		p := w.poll(ada, 2)
		kind := social.ReactionKinds[i]
		for _, user := range []social.UserID{ada.ID, ben.ID} {
			w.ok(w.PutReaction(w.ctx, p.ID, user, kind, event(social.EventReactionAdded)), "PutReaction")
			w.ok(w.PutVote(w.ctx, p.ID, user, i%2, event(social.EventPollVoted)), "PutVote")
			_, err := w.MuteThread(w.ctx, p.ID, user, event(social.EventThreadMuted))
			w.ok(err, "MuteThread")
		}
		reactions = append(reactions, social.Mark[social.ReactionKind]{Post: p.ID, Value: kind})
		votes = append(votes, social.Mark[int]{Post: p.ID, Value: i % 2})
		mutes = append(mutes, social.Mark[bool]{Post: p.ID, Value: true})
	}
	marksInPages(w, ben.ID, w.ReactionsBy, reactions)
	marksInPages(w, ben.ID, w.VotesBy, votes)
	marksInPages(w, ben.ID, w.ThreadsMutedBy, mutes)
	none, err := w.ReactionsBy(w.ctx, w.user().ID, social.PostID{}, 10)
	w.ok(err, "ReactionsBy")
	w.same(len(none), 0, "the reactions of a user without any")
}

func marksInPages[T comparable](w *world, user social.UserID, read func(context.Context, social.UserID, social.PostID, int) ([]social.Mark[T], error), want []social.Mark[T]) {
	for _, size := range []int{1, 2, 10} {
		var all []social.Mark[T]
		var after social.PostID
		for {
			page, err := read(w.ctx, user, after, size)
			w.ok(err, "a page of marks")
			all = append(all, page...)
			if len(page) < size {
				break
			}
			after = page[len(page)-1].Post
		}
		if !slices.Equal(all, want) {
			w.t.Errorf("in pages of %d: %v, want %v", size, all, want)
		}
	}
}
