package bench

import (
	"math/rand/v2"
	"time"

	"plaza/social"
)

// talk is how long a thread is active: half of its comments are made in the first quarter of that
// time.
const talk = 3 * 24 * time.Hour

// thread creates n comments by some people from a start time, without storing them. Every fifth
// comment replies to the post, the others to one of the last twenty comments.
func thread(post social.PostID, name string, from time.Time, people []social.UserID, n int, w *writer) []*social.Comment {
	dice := rand.New(rand.NewPCG(uint64(n), 4)) //nolint:gosec // a benchmark's choices need no secrecy
	all := make([]*social.Comment, n)
	for i := range all {
		var parent *social.Comment
		if i%5 > 0 {
			parent = all[i-1-dice.IntN(min(i, 20))]
		}
		if parent != nil && parent.Depth() >= social.DefaultMaxDepth {
			parent = nil
		}
		done := float64(i) / float64(n)
		at := from.Add(time.Duration(done * done * float64(talk))).Add(time.Duration(i) * time.Millisecond)
		own := social.CommentID{ID: derived(at, name, i)}
		all[i] = newComment(post, parent, own, people[i%len(people)], w.text())
	}
	return all
}

func newComment(post social.PostID, parent *social.Comment, own social.CommentID, author social.UserID, text string) *social.Comment {
	c := &social.Comment{Post: post, Author: author, Text: text}
	c.ReplyTo(parent)
	c.SetID(own)
	return c
}
