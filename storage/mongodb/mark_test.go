package mongodb_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plaza/social"
	"plaza/storage/mongodb"
)

// TestMarksShareTransactions lets many people react to one post, and to a post each, at the same
// time, and vote in one poll. There are far fewer transactions than marks, and the counts are exact,
// also of people who choose twice at the same time, and of those who are refused.
func TestMarksShareTransactions(t *testing.T) {
	t.Parallel()
	for _, feeds := range []string{mongodb.FeedsRead, mongodb.FeedsMonth} {
		t.Run(feeds, func(t *testing.T) {
			r := new(recorder)
			w := newTownOf(t, r, mongodb.Options{Feeds: feeds})
			const people = 60
			users := w.people(people)
			author := users[0].User.ID
			hot, poll := w.post(status(author, author, public)), w.post(pollOf(author))
			own := w.posts(users, people)
			kinds := []social.ReactionKind{social.ReactionLike, social.ReactionLove}
			react := func(post social.PostID, i, kind int) {
				w.ok(w.PutReaction(w.ctx, post, users[i%people].User.ID, kinds[kind%2], happened(social.EventReactionAdded)))
			}
			r.take()
			atOnce(2*people, func(i int) {
				if i < people {
					react(hot.ID, i, i)
				} else {
					react(own[i-people], i, 0)
				}
			})
			if n := strings.Count(names(r.take()), "commitTransaction"); n == 0 || n > people {
				t.Errorf("%d reactions took %d transactions", 2*people, n)
			}
			w.wantMarks(hot.ID, map[social.ReactionKind]int{social.ReactionLike: people / 2, social.ReactionLove: people / 2}, nil)
			for _, post := range own {
				w.wantMarks(post, map[social.ReactionKind]int{social.ReactionLike: 1}, nil)
			}

			atOnce(2*people, func(i int) { react(hot.ID, i, i/people) }) // everyone chooses both
			chosen := map[social.ReactionKind]int{}
			for _, u := range users {
				mine, err := w.Reactions(w.ctx, u.User.ID, []social.PostID{hot.ID})
				w.ok(err)
				chosen[mine[hot.ID]]++
			}
			w.wantMarks(hot.ID, chosen, nil)

			atOnce(people, func(i int) {
				option, want := i%2, error(nil)
				if i%10 == 7 {
					option, want = 5, social.ErrNotFound
				}
				if err := w.PutVote(w.ctx, poll.ID, users[i].User.ID, option, happened(social.EventPollVoted)); !errors.Is(err, want) {
					t.Errorf("voter %d: %v, want %v", i, err, want)
				}
			})
			w.wantMarks(poll.ID, nil, []int{people / 2, people/2 - people/10})
		})
	}
}

func pollOf(author social.UserID) *social.Post {
	p := status(author, author, public)
	p.Content = social.Content{Poll: &social.Poll{Question: "Which?", Options: []string{"this", "that"}, ClosesAt: time.Now().Add(time.Hour)}}
	return p
}

// wantMarks checks what a post counts.
func (w *town) wantMarks(post social.PostID, reactions map[social.ReactionKind]int, votes []int) {
	w.t.Helper()
	posts, err := w.Posts(w.ctx, []social.PostID{post})
	w.ok(err)
	p := posts[post]
	for _, kind := range []social.ReactionKind{social.ReactionLike, social.ReactionLove} {
		if p.Reactions[kind] != reactions[kind] {
			w.t.Errorf("a post counts the reactions %v, want %v", p.Reactions, reactions)
		}
	}
	for option, want := range votes {
		if p.Votes[option] != want {
			w.t.Errorf("a poll counts the votes %v, want %v", p.Votes, votes)
		}
	}
}
