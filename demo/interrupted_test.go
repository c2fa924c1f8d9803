package demo

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
	"plaza/storage"
)

var errKilled = errors.New("killed")

// mortal is a store whose process dies at the first write that it has not tried before: alternately
// before the write and after it.
type mortal struct {
	storage.Store
	tried map[any]bool // survives
}

func (m *mortal) write(key any, write func() error) error {
	if m.tried[key] {
		return write()
	}
	m.tried[key] = true
	if len(m.tried)%2 == 0 {
		return errKilled
	}
	if err := write(); err != nil {
		return err
	}
	return errKilled
}

func (m *mortal) ImportUsers(ctx context.Context, users []social.NewUser) (n int, err error) {
	err = m.write("users", func() error { n, err = m.Store.ImportUsers(ctx, users); return err })
	return n, err
}

func (m *mortal) ImportCircles(ctx context.Context, circles []*social.Circle) (n int, err error) {
	err = m.write("circles", func() error { n, err = m.Store.ImportCircles(ctx, circles); return err })
	return n, err
}

func (m *mortal) ImportMemberships(ctx context.Context, all []social.Membership, edges []social.EdgeID) (n int, err error) {
	err = m.write("memberships", func() error { n, err = m.Store.ImportMemberships(ctx, all, edges); return err })
	return n, err
}

func (m *mortal) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.InsertPost(ctx, p, e) })
}

func (m *mortal) UpdatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.UpdatePost(ctx, p, replaced, e) })
}

func (m *mortal) PutVote(ctx context.Context, p social.PostID, u social.UserID, option int, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.PutVote(ctx, p, u, option, e) })
}

func (m *mortal) PutReaction(ctx context.Context, p social.PostID, u social.UserID, k social.ReactionKind, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.PutReaction(ctx, p, u, k, e) })
}

func (m *mortal) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.InsertComment(ctx, c, e) })
}

func (m *mortal) EditComment(ctx context.Context, c social.CommentID, text string, at time.Time, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.EditComment(ctx, c, text, at, e) })
}

func (m *mortal) DeleteComment(ctx context.Context, c social.CommentID, e social.Event) error {
	return m.write(e.ID, func() error { return m.Store.DeleteComment(ctx, c, e) })
}

func (m *mortal) Block(ctx context.Context, edge social.Edge, e social.Event) (done bool, err error) {
	err = m.write(e.ID, func() error { done, err = m.Store.Block(ctx, edge, e); return err })
	return done, err
}

func (m *mortal) Mute(ctx context.Context, edge social.Edge, e social.Event) (done bool, err error) {
	err = m.write(e.ID, func() error { done, err = m.Store.Mute(ctx, edge, e); return err })
	return done, err
}

func (m *mortal) Ads() ads.Store { return mortalAds{m.Store.Ads(), m} }

type mortalAds struct {
	ads.Store
	mortal *mortal
}

func (m mortalAds) Save(ctx context.Context, b ads.Batch) (n int, err error) {
	err = m.mortal.write("ads", func() error { n, err = m.Store.Save(ctx, b); return err })
	return n, err
}

// A seeding that dies at each of its writes, and resumes each time, has the same result as one
// without interruption.
func TestSeedResumesAfterEveryInterruption(t *testing.T) {
	now := time.Now()
	whole, pieces := openSQLite(t), openSQLite(t)
	if _, err := seed(t.Context(), whole, now, testURL); err != nil {
		t.Fatal(err)
	}
	dying := &mortal{pieces, map[any]bool{}}
	deaths := 0
	for {
		_, err := seed(t.Context(), dying, now.Add(time.Duration(deaths)*time.Hour), testURL) // begun again later, and later
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("after %d interruptions: %v", deaths, err)
		}
		deaths++
	}
	if least := len(script()); deaths < least {
		t.Errorf("the seeding was interrupted %d times, want at least %d", deaths, least)
	}
	if diff := cmp.Diff(take(t, whole), take(t, pieces)); diff != "" {
		t.Errorf("it differs from one that ran through (-whole +pieces):\n%s", diff)
	}
}

// overtaken is a store in which another server seeds, too, and stores the first comment a moment
// before this one.
type overtaken struct {
	storage.Store
	post social.PostID // that it is on
}

func (o *overtaken) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	if o.post.IsZero() {
		o.post = c.Post
		first, event := *c, e
		event.ID = social.EventID{ID: id.New()}
		if err := o.Store.InsertComment(ctx, &first, event); err != nil {
			return err
		}
	}
	return o.Store.InsertComment(ctx, c, e)
}

// TestTwoSeedingsStoreACommentOnce: a comment that another server has stored is not stored again
// under another id.
func TestTwoSeedingsStoreACommentOnce(t *testing.T) {
	st := &overtaken{Store: openSQLite(t)}
	if _, err := seed(t.Context(), st, time.Now(), testURL); err == nil {
		t.Error("the seeding succeeds although another server does the same")
	}
	posts, err := st.Posts(t.Context(), []social.PostID{st.post})
	if err != nil {
		t.Fatal(err)
	}
	if n := posts[st.post].CommentCount; n != 1 {
		t.Errorf("the post has %d comments, want 1", n)
	}
}
