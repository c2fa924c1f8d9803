package mongodb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// cachedNews is a document of newsCache, as package feeds describes it.
type cachedNews struct {
	Stamp   bson.Binary
	Authors []bson.Binary
	IDs     []bson.Binary
	UsedAt  time.Time `bson:"usedAt"`
}

// inCache returns the cached news of a reader.
func (w *town) inCache(reader social.NewUser) (news cachedNews) {
	w.t.Helper()
	w.ok(mongotest.Connect(w.t, w.uri).Collection("newsCache").FindOne(w.ctx, stored(reader)).Decode(&news))
	return news
}

// setInCache changes the cached news of a reader.
func (w *town) setInCache(reader social.NewUser, fields bson.D) {
	w.t.Helper()
	_, err := mongotest.Connect(w.t, w.uri).Collection("newsCache").UpdateOne(w.ctx, stored(reader), bson.D{{Key: "$set", Value: fields}})
	w.ok(err)
}

// quietReader returns a reader of authors whose posts, which are returned too, are no longer in memory.
func quietReader(t *testing.T, authors, n int) (w *town, reader social.NewUser, posts []social.PostID) {
	t.Helper()
	w = newTownOf(t, nil, mongodb.Options{Feeds: mongodb.TinyCache})
	people := w.people(authors + 2)
	reader = people[0]
	w.follow(reader, people[1:1+authors])
	posts = w.posts(people[1:1+authors], n)
	w.posts(people[1+authors:], 12)
	return w, reader, posts
}

// TestNewsAreCachedOnce: the first page stores the news, and further pages do not, until the follows
// change, or enough posts have come that the document would no longer continue those in memory, or
// a day has passed. A post writes nothing.
func TestNewsAreCachedOnce(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: mongodb.TinyCache})
	people := w.people(5)
	reader, other, authors := people[0], people[1], people[2:]
	w.follow(reader, authors[:2])
	posts := w.posts(authors[:2], 9)
	writes := func(what string, want int, do func()) {
		t.Helper()
		r.take()
		do()
		n := strings.Count(names(r.take()), "newsCache")
		if n != want {
			t.Errorf("%s: %d commands for newsCache, want %d", what, n, want)
		}
	}
	const find, store = 1, 2 // the page is first read like others, and then alone
	page := func() { w.same(w.news(reader, social.Page{Limit: 4}), posts[:4], "the news") }
	writes("the first page", find+store, page)
	writes("the second", find, page)
	writes("a post", 0, func() { posts = newestIDs(posts, w.posts(authors[:1], 1)); w.finish() })
	writes("after a post", find, page)
	before := w.inCache(reader)
	writes("after many posts", find+store, func() {
		posts = newestIDs(posts, w.posts(authors[:2], 13))
		page()
	})
	if after := w.inCache(reader); after.Stamp.Equal(before.Stamp) || len(after.IDs) != 5 {
		t.Errorf("the news have %d ids, and the stamp %v", len(after.IDs), after.Stamp)
	}
	w.follow(reader, authors[2:])
	if left := w.inCache(reader); len(left.Authors)+len(left.IDs) > 0 || left.Stamp.Equal(before.Stamp) {
		t.Errorf("after a follow there are %d authors and %d ids", len(left.Authors), len(left.IDs))
	}
	writes("after a follow", find+store, page)
	if n := len(w.inCache(reader).Authors); n != 4 {
		t.Errorf("the news have posts by %d people", n)
	}
	w.setInCache(reader, bson.D{{Key: "usedAt", Value: time.Now().Add(-25 * time.Hour)}, {Key: "authors", Value: w.inCache(reader).Authors[3:]}}) // as if a part of a backup was restored
	writes("a day later", find+store, page)
	if news := w.inCache(reader); time.Since(news.UsedAt) > 24*time.Hour || len(news.Authors) != 4 {
		t.Errorf("the news have posts by %d people, and were used at %v", len(news.Authors), news.UsedAt)
	}
	writes("the news of someone without follows", find+store, func() { w.news(other, social.Page{Limit: 4}) })
}

// TestNewsOfManyAreNotCached: those who follow too many people have no document.
func TestNewsOfManyAreNotCached(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.TinyCache})
	people := w.people(7)
	reader, authors := people[0], people[1:]
	w.follow(reader, authors)
	posts := w.posts(authors, 31)
	for range 2 {
		w.same(w.walk(reader, 7, false), posts, "the news of six people")
		if news := w.inCache(reader); len(news.Authors)+len(news.IDs) > 0 {
			t.Errorf("%d authors and %d ids are stored", len(news.Authors), len(news.IDs))
		}
	}
}

// TestCachedNewsReachBelowTheirFloor: after deletions, a reader renews news from a server that has
// more posts in memory than the document had. Another server has fewer in memory.
func TestCachedNewsReachBelowTheirFloor(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.TinyCache})
	people := w.people(3)
	reader, authors, others := people[0], people[1:2], people[2:]
	w.follow(reader, authors)
	w.posts(others, 20)
	posts := w.posts(authors, 7)
	page := social.Page{Limit: 2}
	for range 2 {
		w.news(reader, page)
	}
	for _, post := range posts[:3] {
		w.ok(w.DeletePost(w.ctx, post, happened(social.EventPostDeleted)))
	}
	w.news(reader, page) // forgets them
	w.setInCache(reader, bson.D{{Key: "usedAt", Value: time.Now().Add(-25 * time.Hour)}})
	w.news(reader, page)
	w.posts(others, 1)
	second := newTownAt(t, nil, w.uri, mongodb.Options{Feeds: mongodb.TinyCache})
	second.same(second.news(reader, social.Page{Limit: 5}), posts[3:], "the news on another server")
}

// TestDeletedPostsLeaveCachedNews: a page that meets deleted posts removes their ids, so that the next
// page is read like others.
func TestDeletedPostsLeaveCachedNews(t *testing.T) {
	t.Parallel()
	w, reader, posts := quietReader(t, 1, 7)
	page := social.Page{Limit: 2}
	w.same(w.news(reader, page), posts[:2], "the news")
	if n := len(w.inCache(reader).IDs); n != 5 {
		t.Fatalf("%d ids are cached", n)
	}
	for _, post := range posts[:3] {
		w.ok(w.DeletePost(w.ctx, post, happened(social.EventPostDeleted)))
	}
	w.same(w.news(reader, page), posts[3:5], "after the newest are gone")
	if n := len(w.inCache(reader).IDs); n != 2 {
		t.Errorf("%d ids are cached after three posts were deleted", n)
	}
	w.same(w.walk(reader, 3, false), posts[3:], "all news")
}

// TestCachedNewsOfNewReaders: a user's first page stores an empty document, and the second one fills
// it, so that news are stored only in the place of a document that the snapshot had.
func TestCachedNewsOfNewReaders(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.FeedsCache})
	people := w.people(2)
	posts := w.posts(people[:1], 3)
	for page, authors := range []int{0, 1, 1} {
		w.same(w.news(people[0], social.Page{Limit: 5}), posts, "page %d", page)
		if n := len(w.inCache(people[0]).Authors); n != authors {
			t.Errorf("after page %d there are %d authors, want %d", page, n, authors)
		}
	}
}

// TestPagesDoNotNeedTheCache: news is read while no document can be stored.
func TestPagesDoNotNeedTheCache(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.FeedsCache})
	people := w.people(2)
	posts := w.posts(people[1:], 3)
	w.follow(people[0], people[1:])
	db := mongotest.Connect(t, w.uri)
	accept := func(documents bson.D) error {
		return db.RunCommand(context.WithoutCancel(w.ctx), bson.D{{Key: "collMod", Value: "newsCache"}, {Key: "validator", Value: documents}}).Err()
	}
	w.ok(accept(bson.D{{Key: "stamp", Value: 0}}))
	defer func() { w.ok(accept(bson.D{})) }()
	for range 2 {
		w.same(w.news(people[0], social.Page{Limit: 5}), posts, "the news")
		w.same(w.news(people[1], social.Page{Limit: 5}), posts, "the news of someone without a document")
	}
}

// TestCachedNewsAreCompared: a day later, news are right even if the document was of other follows, as
// after a part of a backup was restored.
func TestCachedNewsAreCompared(t *testing.T) {
	t.Parallel()
	w, reader, posts := quietReader(t, 2, 6)
	page := social.Page{Limit: 6}
	w.same(w.news(reader, page), posts, "the news")
	news := w.inCache(reader)
	w.setInCache(reader, bson.D{
		{Key: "usedAt", Value: time.Now().Add(-25 * time.Hour)}, {Key: "authors", Value: news.Authors[1:]}, {Key: "ids", Value: news.IDs[:1]},
	})
	w.same(w.news(reader, page), posts, "the news a day later")
}
