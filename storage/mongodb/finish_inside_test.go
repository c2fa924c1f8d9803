package mongodb

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// beginUpgrade makes the store write documents of the previous version, as during an upgrade.
func (s *Store) beginUpgrade(t *testing.T, collection string) {
	t.Helper()
	_, err := s.settings.UpdateOne(t.Context(), mdb.Doc("_id", "documents"), mdb.Doc("$set", mdb.Doc("newest", s.member.Edition.Previous)))
	ok(t, err)
	testtime.Eventually(t, "documents of the previous version are written", func() bool { return s.writes(collection) == s.member.Edition.Previous.Of(collection) })
}

// TestWritesUnderWayWhileTheUpgradeIsFinished: a write that began before the upgrade was finished
// stores a document of the old version. The upgrade of documents waits for it, and so upgrades that
// document too.
func TestWritesUnderWayWhileTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	h := mdbtest.NewHolder("insert", "adConversions")
	s := openInside(t, Options{Heartbeat: time.Millisecond, Monitor: &event.CommandMonitor{Started: h.Started}})
	s.beginUpgrade(t, h.Collection)
	h.Hold(1)
	recorded := make(chan error, 1)
	go func() {
		now := time.Now()
		_, err := s.Ads().Record(t.Context(), ads.Recording{Kind: ads.Conversion, Choice: ads.ChoiceID{ID: id.New()}, At: now, KeepUntil: now.Add(time.Hour), Days: 1})
		recorded <- err
	}()
	testtime.Eventually(t, "a write is under way", func() bool { return h.Held() == 1 })
	finished := make(chan error, 1)
	go func() { finished <- s.FinishUpgrade(t.Context(), nil) }()
	testtime.Eventually(t, "new calls write the newest versions", func() bool { return s.written().Reach(s.member.Edition.Newest) })
	ok(t, s.member.Renew(t.Context()))
	if older := must(s.member.ServersBefore(t.Context(), s.member.Edition.Newest, cluster.Writes))(t); len(older) != 1 {
		t.Errorf("%d servers may store old documents while one is being written, want 1", len(older))
	}
	upgrade := s.documents.Upgrading()
	ok(t, upgrade.Step(t.Context()))
	h.Release()
	ok(t, <-recorded)
	ok(t, <-finished)
	ok(t, upgrade.Step(t.Context()))
	conversions := s.settings.Database().Collection(h.Collection)
	if n := must(conversions.CountDocuments(t.Context(), mdb.Doc("v", mdb.FirstVersion)))(t); n != 0 {
		t.Errorf("%d documents of the old version are left", n)
	}
	if n := must(conversions.CountDocuments(t.Context(), mdb.Doc()))(t); n != 1 {
		t.Errorf("%d conversions are recorded, want 1", n)
	}
}

// TestCommentsAreHiddenOnceTheUpgradeIsFinished: servers of the previous version would show them.
func TestCommentsAreHiddenOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	s.beginUpgrade(t, "cases")
	comment := &social.Comment{ID: social.CommentID{ID: id.New()}, Hidden: true}
	hide := social.Ruling{Decision: social.Decision{Action: social.ActionHide}, Comment: comment, Case: &social.Case{ID: social.CaseID{ID: id.New()}}}
	if err := s.Decide(t.Context(), hide, social.Event{}); !errors.Is(err, social.ErrTooEarly) {
		t.Errorf("before: %v", err)
	}
	ok(t, s.FinishUpgrade(t.Context(), nil))
	if err := s.Decide(t.Context(), hide, social.Event{}); !errors.Is(err, social.ErrConflict) { // there is no such case
		t.Errorf("afterwards: %v", err)
	}
}

// TestNotificationsKeepSeveralActsOnceTheUpgradeIsFinished: servers of the previous version would show
// and count one person several times.
func TestNotificationsKeepSeveralActsOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	s.beginUpgrade(t, "notifications")
	_, _, err := s.LeaseNotifier(t.Context(), "server", time.Hour)
	ok(t, err)
	group := social.NotificationGroup{To: social.UserID{ID: id.New()}, Kind: social.NotifyComment, Post: social.PostID{ID: id.New()}}
	actor := social.UserID{ID: id.New()}
	comment := func() []social.Act {
		act := social.Act{Actor: actor, Comment: social.CommentID{ID: id.New()}}
		ok(t, s.Notify(t.Context(), "server", time.Hour, "1", []social.Notice{{NotificationGroup: group, Act: act}}))
		found := must(s.Notifications(t.Context(), group.To, social.Page{Limit: 10}))(t)
		if len(found) != 1 || found[0].Acts[0].Comment != act.Comment {
			t.Fatalf("the notifications are %+v, want one with the comment %s in front", found, act.Comment)
		}
		return found[0].Acts
	}
	comment()
	if acts := comment(); len(acts) != 1 {
		t.Errorf("before: %d acts, want 1", len(acts))
	}
	ok(t, s.FinishUpgrade(t.Context(), nil))
	if acts := comment(); len(acts) != 2 {
		t.Errorf("afterwards: %d acts, want 2", len(acts))
	}
}

// TestCopiesAreShortOnceTheUpgradeIsFinished: servers of the previous version could not read short
// copies of comments in posts.
func TestCopiesAreShortOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	s.beginUpgrade(t, "posts")
	author, _ := fans(t, s, 0)
	p := newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	var parent *social.Comment
	comment := func() {
		c := &social.Comment{Post: p.ID, Author: author, Text: "yes"}
		c.ReplyTo(parent)
		ok(t, s.InsertComment(t.Context(), c, anEvent(social.EventCommentAdded)))
		parent = c
	}
	check := func(full, version int) {
		t.Helper()
		var d postDoc
		ok(t, s.posts.FindOne(t.Context(), mdb.Doc("_id", p.ID)).Decode(&d))
		n, short := 0, 0
		for _, c := range d.Latest {
			switch {
			case c.Slug != "" && c.Path != "" && c.Post == p.ID && c.TreePath != "" && c.Version > 0:
				n++
			case c.Slug == "" && c.Path == "" && c.Post.IsZero() && c.Version == 0:
				short++
			}
		}
		if n != full || n+short != len(d.Latest) || d.Version != version {
			t.Errorf("%d of %d copies are full, %d are short, and the post has version %d; want %d full ones and version %d", n, len(d.Latest), short, d.Version, full, version)
		}
		list := social.List[social.Thread]{Of: social.Thread{Post: p.ID, Order: social.OrderOldest}, Page: social.Page{Limit: 10}}
		thread := must(s.Thread(t.Context(), []social.List[social.Thread]{list}))(t)[list]
		post := must(s.Posts(t.Context(), []social.PostID{p.ID}))(t)[p.ID]
		if diff := cmp.Diff(thread, post.Latest); diff != "" {
			t.Errorf("the copies mean something else (-thread +copies):\n%s", diff)
		}
	}
	previous := s.member.Edition.Previous.Of("posts")
	comment()
	comment()
	check(2, previous)
	ok(t, s.FinishUpgrade(t.Context(), nil))
	comment()
	comment()
	edit := func() {
		p.Revision, p.EditedAt = p.Revision+1, time.UnixMilli(1<<41).UTC()
		ok(t, s.UpdatePost(t.Context(), p, nil, anEvent(social.EventPostEdited)))
	}
	edit()
	check(2, previous)
	ok(t, s.documents.Upgrading().Step(t.Context()))
	check(0, postsVersion)
	edit()
	check(0, postsVersion)
}

// TestRetiredIndexesAreDroppedOnceTheUpgradeIsFinished: servers of the previous version name them in
// hints, and would fail without them.
func TestRetiredIndexesAreDroppedOnceTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{Heartbeat: time.Millisecond})
	s.beginUpgrade(t, "posts")
	want := 0
	for c, names := range s.retiredIndexes() {
		for _, name := range names {
			want++
			must(c.Indexes().CreateOne(t.Context(), mdb.Index(name, mdb.Doc(name, 1))))(t)
		}
	}
	left := func() (n int) {
		for c, names := range s.retiredIndexes() {
			for _, index := range must(c.Indexes().ListSpecifications(t.Context()))(t) {
				if slices.Contains(names, index.Name) {
					n++
				}
			}
		}
		return n
	}
	upgrade := s.documents.Upgrading()
	ok(t, upgrade.Step(t.Context()))
	if n := left(); n != want {
		t.Errorf("before: %d indexes of earlier servers, want %d", n, want)
	}
	ok(t, s.FinishUpgrade(t.Context(), nil))
	ok(t, upgrade.Step(t.Context()))
	if n := left(); n != 0 {
		t.Errorf("afterwards: %d indexes of earlier servers are left", n)
	}
}
