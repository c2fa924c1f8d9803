package mongodb

import (
	"slices"
	"testing"
	"time"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
)

// TestFeedsThatWereBuiltTooEarlyAreBuiltAgain: one server already keeps the new layout, and has
// built a user's feed in it, while another one still works in the phase before, and does not add
// posts to that layout.
func TestFeedsThatWereBuiltTooEarlyAreBuiltAgain(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{FeedsBucket, FeedsMonth} {
		t.Run(layout, func(t *testing.T) {
			s, ctx := openAlone(t, Options{Heartbeat: 25 * time.Millisecond}), t.Context()
			author, followers := fans(t, s, 1)
			reader := followers[0]
			m := must(s.newMigration(Migration{Subject: MigrateFeeds, To: layout, Goal: GoalSwitch}))(t)
			ok(t, m.Claim(ctx))
			for range 2 { // announced, copying
				ok(t, m.Agree(ctx))
				must(m.Step(ctx))(t)
			}
			ok(t, m.Agree(ctx))
			for _, user := range []social.UserID{author, reader} {
				ok(t, s.InsertPost(ctx, newStatus(user), anEvent(social.EventPostCreated)))
			}
			workOff(t, s, 1)
			settings := must(s.member.ReadSettings(ctx))(t)
			settings[feedsSetting().Name].Move.Phase = cluster.PhaseAnnounced
			missed, before := newStatus(author), must(s.member.NewEra(settings, s.written()))(t).Context(ctx)
			must(s.numberPosts(ctx, []*newPost{{given: *missed}}))(t)
			must(s.posts.InsertOne(ctx, newPostDoc(missed, postsVersion)))(t)
			ok(t, s.feeds.PostsAdded(before, []*social.Post{missed}))
			ok(t, m.Drive(ctx))
			ok(t, m.Release(ctx))
			news := must(s.News(ctx, reader, social.Page{Limit: 10}))(t)
			if !slices.ContainsFunc(news, func(p *social.Post) bool { return p.ID == missed.ID }) {
				t.Errorf("the news have %d posts, without that of the late server", len(news))
			}
			sameAsRead(t, s, author, layout)
			sameAsRead(t, s, reader, layout)
		})
	}
}
