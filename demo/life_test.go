package demo

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// liveRound plays one round of the life, in which nothing may fail.
func liveRound(t *testing.T, l *Life) {
	t.Helper()
	if err := l.recall(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, next := range l.acts {
		if err := next(t.Context(), l); err != nil {
			t.Fatalf("act %d: %v", i, err)
		}
	}
}

// size returns the numbers of posts and comments.
func size(t *testing.T, st storage.Store) (posts, comments int) {
	t.Helper()
	s := take(t, st)
	for _, wall := range s.Walls {
		posts += len(wall)
	}
	for _, thread := range s.Threads {
		comments += len(thread)
	}
	return posts, comments
}

// lifeDoesNotGrow plays rounds of the life, with a restart of the server after the first.
func lifeDoesNotGrow(t *testing.T, st storage.Store) {
	t.Helper()
	service := network.New(st, network.Options{})
	before, _ := size(t, st)
	liveRound(t, mustSeed(t, st).Life(service))
	posts, comments := size(t, st)
	if posts != before+len(scenes) {
		t.Errorf("there are %d posts, and were %d: a round has %d scenes", posts, before, len(scenes))
	}
	liveRound(t, mustSeed(t, st).Life(service))
	if again, said := size(t, st); again != posts || said != comments {
		t.Errorf("the second round has made %d posts and %d comments of %d and %d", again, said, posts, comments)
	}
}

// TestLifeKeepsWhatVisitorsJoined: posts and comments that visitors have joined in on stay, up to a
// limit.
func TestLifeKeepsWhatVisitorsJoined(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	ctx := t.Context()
	service := network.New(st, network.Options{})
	community := mustSeed(t, st)
	l := community.Life(service)
	guest, _, err := service.SignUp(ctx, accounts.SignUpInput{Handle: "guest", Name: "A guest", Password: "another one"})
	if err != nil {
		t.Fatal(err)
	}
	join := []func() error{
		func() error {
			_, err := service.AddComment(ctx, guest.User, network.NewComment{Post: l.post, Text: "Hello!"})
			return err
		},
		func() error { return service.React(ctx, guest.User, l.post, social.ReactionLike) },
	}
	var joined []social.PostID
	for i := range mostKept + 3 {
		if err := scenes[0].publish(ctx, l); err != nil {
			t.Fatal(err)
		}
		if l.post.IsZero() {
			continue
		}
		if err := join[i%len(join)](); err != nil {
			t.Fatal(err)
		}
		joined = append(joined, l.post)
	}
	stored := must(st.Posts(ctx, joined))(t)
	// One reaction more than the scene's own counts as a visitor's. A visitor's reaction in place
	// of one of the scene's cannot be distinguished, so the post is deleted.
	for i, id := range joined {
		if i%2 == 0 && stored[id] == nil {
			t.Errorf("post %d is gone, which a visitor had commented on", i)
		}
	}
	if n := len(l.posted[scenes[0].content.Text()]); n > mostKept {
		t.Errorf("%d posts of one scene are kept, want at most %d", n, mostKept)
	}
}

func TestLifeKeepsCommentsWithReplies(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	ctx := t.Context()
	service := network.New(st, network.Options{})
	community := mustSeed(t, st)
	l := community.Life(service)
	omar := l.stage.user("omar")
	for range mostKept + 2 {
		if err := talk[0].talk(ctx, l); err != nil {
			t.Fatal(err)
		}
		said := l.said[talk[0].text]
		in := network.NewComment{Post: community.Threads()[0], Parent: said[len(said)-1], Text: "Good."}
		if _, err := service.AddComment(ctx, omar, in); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.said[talk[0].text]); n != mostKept {
		t.Errorf("%d comments with replies are kept, want %d", n, mostKept)
	}
}

// TestLifeContinuesWithoutItsThread: when visitors delete the post of the talk, the talk moves to
// the next post, and ends with the last one.
func TestLifeContinuesWithoutItsThread(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	ctx := t.Context()
	service := network.New(st, network.Options{})
	community := mustSeed(t, st)
	l := community.Life(service)
	for i, id := range community.Threads() {
		posts := must(st.Posts(ctx, []social.PostID{id}))(t)
		if posts[id] == nil || posts[id].Audience.Kind != social.AudiencePublic {
			t.Fatalf("thread %d is %v", i, posts[id])
		}
		before := posts[id].CommentCount
		if err := talk[i].talk(ctx, l); err != nil {
			t.Fatal(err)
		}
		if after := must(st.Posts(ctx, []social.PostID{id}))(t)[id].CommentCount; after != before+1 {
			t.Errorf("thread %d has %d comments, and had %d", i, after, before)
		}
		if err := service.DeletePost(ctx, posts[id].Author, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := talk[len(talk)-1].talk(ctx, l); err != nil {
		t.Error(err)
	}
}

// TestLifeRests checks that the life pauses while there are no visitors, and ends with its context.
func TestLifeRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var acted atomic.Int32
		var watched atomic.Bool
		l := &Life{recalled: true, acts: []act{func(context.Context, *Life) error { acted.Add(1); return nil }}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.Run(ctx, watched.Load, slog.New(slog.DiscardHandler))
		}()
		time.Sleep(10*pace + pace/2) //nolint:forbidigo // takes no time in a synctest bubble
		synctest.Wait()
		if n := acted.Load(); n != 0 {
			t.Errorf("%d acts while no one watches", n)
		}
		watched.Store(true)
		time.Sleep(10 * pace) //nolint:forbidigo // as above
		synctest.Wait()
		if n := acted.Load(); n != 10 {
			t.Errorf("%d acts in the time of 10", n)
		}
		cancel()
		<-done
	})
}

func TestScenesAreSound(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, s := range scenes {
		texts = append(texts, s.content.Text())
		for _, n := range s.lines {
			if (n.text == "") == (n.reaction == "") {
				t.Errorf("%s: a line of %s is not either a comment or a reaction", s.content.Text(), n.by)
			}
		}
	}
	for _, n := range talk {
		texts = append(texts, n.text)
	}
	slices.Sort(texts)
	for i, text := range texts {
		if text == "" || i > 0 && text == texts[i-1] {
			t.Errorf("%q is empty or there twice", text)
		}
	}
}
