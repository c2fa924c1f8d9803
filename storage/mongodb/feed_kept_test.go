package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// layoutOf returns the name of the layout of feeds that a store reads.
func layoutOf(s *Store) string { return s.member.Now().Layouts[feedsSetting().Name] }

// feedsOf returns the layout of feeds that a store reads.
func feedsOf(s *Store) feeds.Layout { return s.feeds.Layouts()[layoutOf(s)] }

// truthOf returns the layout that reads posts and follows themselves.
func truthOf(s *Store) feeds.Layout { return s.feeds.Layouts()[FeedsRead] }

// newsListsOf returns the collection of lists of the layout hybrid.
func newsListsOf(s *Store) *mongo.Collection { return s.posts.Database().Collection("newsLists") }

// listsOf returns the collection in which the layout of feeds keeps the news of those who read them,
// and whether it does.
func listsOf(s *Store) (lists *mongo.Collection, isKept bool) {
	switch layoutOf(s) {
	case FeedsCache, TinyCache:
		return s.posts.Database().Collection("newsCache"), true
	default:
		return newsListsOf(s), layoutOf(s) == FeedsHybrid
	}
}

// jobsOf returns the collection of a store's jobs.
func jobsOf(s *Store) *mongo.Collection { return s.posts.Database().Collection("jobs") }

// keptFeed is where a layout keeps feeds for all users, and how much it keeps of them.
type keptFeed struct {
	s          *Store
	docs       *mongo.Collection
	size, kept int
	copies     bool
}

// keptNews returns the news that a store's layout keeps for all users.
func keptNews(t *testing.T, s *Store) keptFeed {
	t.Helper()
	limits := map[string][2]int{FeedsBucket: {128, 20}, TinyBucket: {3, 4}, FeedsMonth: {50, 24}, TinyMonth: {3, 4}}
	limit, ok := limits[layoutOf(s)]
	if !ok {
		t.Fatalf("the layout %q keeps nothing for all users", layoutOf(s))
	}
	f := keptFeed{s: s, docs: s.posts.Database().Collection("newsBuckets"), size: limit[0], kept: limit[1]}
	if f.copies = strings.HasSuffix(layoutOf(s), "month"); f.copies {
		f.docs = s.posts.Database().Collection("monthNews")
	}
	return f
}

// openPart and closedPart are documents of a kept feed, as package feeds describes them.
type openPart struct {
	User  social.UserID   `bson:"_id"`
	Gen   bson.Binary     `bson:"gen"`
	IDs   []social.PostID `bson:"ids"`
	Posts []bson.Raw      `bson:"posts"`
	Count int             `bson:"count"`
	From  social.PostID   `bson:"from"`
	Floor social.PostID   `bson:"floor"`
	Parts int             `bson:"parts"`
	Ready bool            `bson:"ready"`
}

type closedPart struct {
	Lower social.PostID   `bson:"lower"`
	Upper social.PostID   `bson:"upper"`
	IDs   []social.PostID `bson:"ids"`
	Posts []bson.Raw      `bson:"posts"`
}

// copied is the part of a copy that identifies it.
type copied struct {
	ID      social.PostID `bson:"_id"`
	Changes int           `bson:"changes"`
}

func copiedOf(t *testing.T, raw bson.Raw) (c copied) {
	t.Helper()
	ok(t, mdbtest.Decode(raw, &c))
	return c
}

// storedParts reads a user's feed as it is stored, and reports what is wrong with it: the closed
// parts must cover the range before the open one without gaps, down to the floor, within their
// limits, and each must contain only its own posts, each once.
func storedParts(t *testing.T, f keptFeed, user social.UserID) (open openPart, closed []closedPart) {
	t.Helper()
	docs := must(mdb.FindAll[openPart](t.Context(), f.docs, mdb.Doc("_id", user), 1))(t)
	if len(docs) != 1 || !docs[0].Ready {
		t.Fatalf("the feed of %v is not ready: %+v", user, docs)
	}
	open = docs[0]
	newestFirst := options.Find().SetSort(mdb.Doc("upper", -1))
	closed = must(mdb.FindAll[closedPart](t.Context(), f.docs, mdb.Doc("user", user, "gen", open.Gen, "lower", mdb.Doc("$exists", true)), 100, newestFirst))(t)
	checkIDs(t, f, "the open part", open.IDs, open.Posts)
	if len(open.IDs) > 2*f.size || open.Count != len(open.IDs) {
		t.Errorf("the open part has %d posts, and counts %d", len(open.IDs), open.Count)
	}
	if most := f.kept + f.kept/4; len(closed) > most || open.Parts != len(closed) {
		t.Errorf("%d closed parts, %d are counted, at most %d are kept", len(closed), open.Parts, most)
	}
	upper := open.From
	for i := range closed {
		c := &closed[i]
		what := fmt.Sprintf("closed part %d", i)
		checkIDs(t, f, what, c.IDs, c.Posts)
		if c.Upper != upper {
			t.Errorf("%s does not follow the one before", what)
		}
		if len(c.IDs) >= 2*f.size {
			t.Errorf("%s has %d posts", what, len(c.IDs))
		}
		for _, post := range c.IDs {
			if post.Compare(c.Lower.ID) < 0 || post.Compare(c.Upper.ID) >= 0 {
				t.Errorf("%s has a post that does not belong there", what)
			}
		}
		upper = c.Lower
	}
	if upper != open.Floor {
		t.Errorf("the parts end at %v, the floor is %v", upper, open.Floor)
	}
	return open, closed
}

func checkIDs(t *testing.T, f keptFeed, what string, ids []social.PostID, copies []bson.Raw) {
	t.Helper()
	seen := map[social.PostID]bool{}
	for _, post := range ids {
		if seen[post] {
			t.Errorf("%s has post %v twice", what, post)
		}
		seen[post] = true
	}
	if !f.copies && len(copies) > 0 || len(copies) > len(ids) {
		t.Errorf("%s has %d copies of %d posts", what, len(copies), len(ids))
	}
	const maxCopy = 16 << 10
	for _, c := range copies {
		post := copiedOf(t, c).ID
		if !seen[post] || len(c) > maxCopy {
			t.Errorf("%s has a copy of %v in %d bytes", what, post, len(c))
		}
		seen[post] = false // once
	}
}

// freshCopies checks that every copy matches its post.
func freshCopies(t *testing.T, f keptFeed, user social.UserID) {
	t.Helper()
	open, closed := storedParts(t, f, user)
	copies := open.Posts
	for _, c := range closed {
		copies = slices.Concat(copies, c.Posts)
	}
	posts := mdb.Map(copies, func(c *bson.Raw) social.PostID { return copiedOf(t, *c).ID })
	now := must(mdb.FindIn[bson.Raw](t.Context(), f.s.posts, "_id", posts))(t)
	if diff := cmp.Diff(texts(t, now), texts(t, copies)); diff != "" {
		t.Errorf("copies are old (-posts +copies):\n%s", diff)
	}
}

// texts describes copies, in the order of their ids.
func texts(t *testing.T, copies []bson.Raw) []string {
	t.Helper()
	all := mdb.Map(copies, func(c *bson.Raw) string {
		p := must(postReader{}.Decode(*c))(t)
		return fmt.Sprintf("%v %d: %+v, %d comments, %d latest, %v, %v", p.ID, copiedOf(t, *c).Changes, p.Content.Status, p.CommentCount, len(p.Latest), p.Reactions, p.Audience)
	})
	slices.Sort(all)
	return all
}

// sameAsRead compares the pages of news and wall with those of the read layout.
func sameAsRead(t *testing.T, s *Store, user social.UserID, what string) {
	t.Helper()
	truth := truthOf(s)
	for _, p := range []social.Page{{Limit: 100}, {Limit: 5}, {Limit: 4, Last: true}} {
		got := must(s.News(t.Context(), user, p))(t)
		want := must(truth.News(t.Context(), user, p))(t)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the news %s differ (-read +kept):\n%s", what, diff)
		}
		for _, owners := range [][]social.UserID{{user}, {user, {ID: id.New()}}} {
			var lists []social.List[social.UserID]
			for _, owner := range owners {
				lists = append(lists, social.List[social.UserID]{Of: owner, Page: p})
			}
			walls := must(s.Wall(t.Context(), lists))(t)
			if diff := cmp.Diff(must(truth.Walls(t.Context(), lists))(t), walls, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the walls %s differ (-read +kept):\n%s", what, diff)
			}
		}
	}
}

// readyFeeds gives users feeds that are ready and empty, as if their jobs had been done.
func readyFeeds(t *testing.T, s *Store, users []social.UserID) {
	t.Helper()
	must(jobsOf(s).DeleteMany(t.Context(), mdb.Doc()))(t)
	set := mdb.Doc("ids", bson.A{}, "posts", bson.A{}, "count", 0, "ready", true)
	must(keptNews(t, s).docs.UpdateMany(t.Context(), mdb.Doc("_id", mdb.Doc("$in", users)), mdb.Doc("$set", set)))(t)
}

// TestKeptJobsThatAreRepeatedAddNothing is TestJobsThatAreRepeatedAddNothing for layouts that keep
// feeds for all users.
func TestKeptJobsThatAreRepeatedAddNothing(t *testing.T) {
	t.Parallel()
	const n = 2*followersInJob + 7
	for _, layout := range []string{FeedsBucket, FeedsMonth} {
		t.Run(layout, func(t *testing.T) {
			s := openInside(t, Options{Feeds: layout})
			author, followers := fans(t, s, n)
			readyFeeds(t, s, followers)
			holding := func(post social.PostID) (n int) {
				for _, d := range must(mdb.FindIn[openPart](t.Context(), keptNews(t, s).docs, "_id", followers))(t) {
					checkIDs(t, keptNews(t, s), "an open part", d.IDs, d.Posts)
					n += len(slices.DeleteFunc(slices.Clone(d.IDs), func(id social.PostID) bool { return id != post }))
				}
				return n
			}
			p := newStatus(author)
			ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
			if jobs := workOff(t, s, 3); jobs < 3 {
				t.Errorf("%d jobs for %d followers", jobs, n)
			}
			if got := holding(p.ID); got != n {
				t.Errorf("the post is in feeds %d times, want once in each of %d", got, n)
			}
			ok(t, s.DeletePost(t.Context(), p.ID, anEvent(social.EventPostDeleted)))
			workOff(t, s, 3)
			if got := holding(p.ID); got != 0 {
				t.Errorf("the post is in feeds %d times after its deletion", got)
			}
		})
	}
}

// TestPartsStayInOrder posts much more than a feed keeps, some of it late, and checks the parts
// repeatedly. Each job is done twice.
func TestPartsStayInOrder(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{TinyBucket, TinyMonth} {
		t.Run(layout, func(t *testing.T) {
			s := openInside(t, Options{Feeds: layout})
			author, followers := fans(t, s, 1)
			reader := followers[0]
			month := time.Date(2020, time.January, 30, 12, 0, 0, 0, time.UTC)
			for i := range 70 {
				p := newStatus(author)
				at := month.Add(time.Duration(i) * 17 * time.Hour) // crosses several ends of months
				if i%9 == 8 {
					at = at.Add(-40 * 24 * time.Hour)
				}
				p.ID = social.PostID{ID: id.At(at)}
				ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
				workOff(t, s, 2)
				if i%11 == 10 {
					storedParts(t, keptNews(t, s), reader)
					sameAsRead(t, s, reader, fmt.Sprintf("after %d posts", i+1))
				}
			}
			if open, _ := storedParts(t, keptNews(t, s), reader); open.Floor.IsZero() {
				t.Error("nothing was trimmed")
			}
			ok(t, feedsOf(s).Build(t.Context(), reader))
			_, closed := storedParts(t, keptNews(t, s), reader)
			if n := must(keptNews(t, s).docs.CountDocuments(t.Context(), mdb.Doc("user", reader, "lower", mdb.Doc("$exists", true))))(t); int(n) != len(closed) {
				t.Errorf("%d closed parts are stored, and %d of them are read", n, len(closed))
			}
		})
	}
}

// TestOldCopiesAreNeverShown changes posts in every way while no job is done: readers see each
// change immediately. Then the copies are refreshed.
func TestOldCopiesAreNeverShown(t *testing.T) {
	t.Parallel()
	s, ctx := openInside(t, Options{Feeds: TinyMonth}), t.Context()
	author, followers := fans(t, s, 1)
	reader := followers[0]
	var posts []*social.Post
	for range 9 {
		p := newStatus(author)
		p.WallOwner = reader
		posts = append(posts, p)
		ok(t, s.InsertPost(ctx, p, anEvent(social.EventPostCreated)))
		workOff(t, s, 1)
	}
	change := func(i int, what string, write func(p *social.Post) error) {
		t.Helper()
		ok(t, write(posts[i]))
		sameAsRead(t, s, reader, "after "+what)
	}
	var comment *social.Comment
	for _, i := range []int{0, 4, 8} { // in closed parts and in the open one
		change(i, "a comment", func(p *social.Post) error {
			comment = &social.Comment{Post: p.ID, Author: reader, Text: "hm"}
			return s.InsertComment(ctx, comment, anEvent(social.EventCommentAdded))
		})
		change(i, "an edit of a comment", func(*social.Post) error {
			return s.EditComment(ctx, comment.ID, "ah", time.Now(), anEvent(social.EventCommentEdited))
		})
		change(i, "a reaction", func(p *social.Post) error {
			return s.PutReaction(ctx, p.ID, reader, social.ReactionLike, anEvent(social.EventReactionAdded))
		})
	}
	change(4, "a comment's deletion", func(*social.Post) error {
		comments := must(s.LatestComments(ctx, []social.PostID{posts[4].ID}, nil, 1))(t)[posts[4].ID]
		return s.DeleteComment(ctx, comments[0].ID, anEvent(social.EventCommentDeleted))
	})
	change(3, "an edit without an audience", func(p *social.Post) error {
		edited := *p
		edited.Revision, edited.Audience = 1, social.Audience{Kind: social.AudienceOnlyMe}
		edited.Content.Status = &social.Status{Text: "no more"}
		return s.UpdatePost(ctx, &edited, nil, anEvent(social.EventPostEdited))
	})
	for _, i := range []int{8, 1} {
		change(i, "a deletion", func(p *social.Post) error { return s.DeletePost(ctx, p.ID, anEvent(social.EventPostDeleted)) })
	}
	workOff(t, s, 2)
	sameAsRead(t, s, reader, "in the end")
	freshCopies(t, keptNews(t, s), reader)
	walls := keptNews(t, s)
	walls.docs = s.posts.Database().Collection("monthWalls")
	freshCopies(t, walls, reader)
}

// TestChangesWhilePostsAreCopied lets a post change before each of the commands that copy it, close
// a part over it, or build a feed with it.
func TestChangesWhilePostsAreCopied(t *testing.T) {
	t.Parallel()
	const most = 20
	m := newMeeting(t, TinyMonth)
	var hot social.PostID
	change := func() {
		kinds := []social.ReactionKind{social.ReactionLike, social.ReactionWow}
		for _, kind := range kinds {
			ok(t, m.other.PutReaction(t.Context(), hot, m.reader, kind, anEvent(social.EventReactionAdded)))
		}
		workOff(t, m.other, 1)
	}
	for name, do := range map[string]func(){
		"a push": func() {
			p := newStatus(m.author)
			hot = p.ID
			ok(t, m.other.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		},
		"a build": func() { m.follow(m.other); m.unfollow(m.other) },
	} {
		interrupted := 0
		for command := 1; command <= most; command++ {
			hot = m.post(m.author)
			do()
			m.between.set(command, func() { interrupted++; change() })
			if j := must(m.one.jobs.Claim(t.Context(), time.Now()))(t); j != nil {
				ok(t, m.one.feeds.Do(t.Context(), j))
				ok(t, m.one.jobs.Finish(t.Context(), j))
			}
			m.between = interrupter{}
			m.check("%s, a change before command %d", name, command)
			freshCopies(t, keptNews(t, m.other), m.reader)
		}
		if interrupted < 5 || interrupted == most {
			t.Errorf("%s: %d of up to %d commands were interrupted", name, interrupted, most)
		}
	}
}

// TestConcurrentClosingOfParts lets others close parts, post and delete before each of the commands
// that close one, as if the first had been slow, or died.
func TestConcurrentClosingOfParts(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{TinyBucket, TinyMonth} {
		t.Run(layout, func(t *testing.T) {
			m := newMeeting(t, layout)
			interrupted := 0
			for command := 1; interrupted == command-1; command++ { // until the job has fewer
				var last social.PostID
				for open, _ := storedParts(t, keptNews(t, m.other), m.reader); open.Count < 2*3; open, _ = storedParts(t, keptNews(t, m.other), m.reader) {
					last = m.post(m.author)
				}
				p := newStatus(m.author)
				ok(t, m.other.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
				m.between.set(command, func() {
					interrupted++
					m.post(m.author)
					ok(t, m.other.DeletePost(t.Context(), last, anEvent(social.EventPostDeleted)))
					workOff(t, m.other, 1)
				})
				workOff(t, m.one, 1)
				m.between = interrupter{}
				m.check("closed in between, before command %d", command)
			}
			if interrupted < 5 {
				t.Errorf("only %d commands were interrupted", interrupted)
			}
		})
	}
}

// TestNextWriterClosesFullPart: a server dies after it has stored a closed part, and before it has
// shortened the open one.
func TestNextWriterClosesFullPart(t *testing.T) {
	t.Parallel()
	m := newMeeting(t, TinyBucket)
	f := keptNews(t, m.other)
	for open, _ := storedParts(t, f, m.reader); open.Count < 2*3; open, _ = storedParts(t, f, m.reader) {
		m.post(m.author)
	}
	ok(t, m.other.InsertPost(t.Context(), newStatus(m.author), anEvent(social.EventPostCreated)))
	j := must(m.one.jobs.Claim(t.Context(), time.Now()))(t)
	ctx, die := context.WithCancel(t.Context())
	m.between.set(9, die) // before it shortens the reader's open part; the author's feed is first
	if err := m.one.feeds.Do(ctx, j); err == nil {
		t.Fatal("the server did not die")
	}
	m.between = interrupter{}
	if n := must(f.docs.CountDocuments(t.Context(), mdb.Doc("user", m.reader, "lower", mdb.Doc("$exists", true))))(t); n == 0 {
		t.Fatal("the server died before it stored a closed part")
	}
	sameAsRead(t, m.other, m.reader, "with a part that is not read")
	ok(t, m.one.jobs.Continue(t.Context(), j))
	for range 8 {
		m.post(m.author)
		m.check("afterwards")
	}
	storedParts(t, f, m.reader)
}

// TestLongPostsAreNotCopied: a document's length is bounded, whatever is posted.
func TestLongPostsAreNotCopied(t *testing.T) {
	t.Parallel()
	s, ctx := openInside(t, Options{Feeds: TinyMonth}), t.Context()
	author, followers := fans(t, s, 1)
	for i := range 12 {
		p := newStatus(author)
		if i%2 == 0 {
			p.Content.Status.Text = strings.Repeat("長", social.MaxTextLen)
		}
		ok(t, s.InsertPost(ctx, p, anEvent(social.EventPostCreated)))
		if i%2 == 1 { // it becomes long, and short again
			for revision, text := range []string{strings.Repeat("長", social.MaxTextLen), "short"} {
				p.Revision, p.Content.Status = revision+1, &social.Status{Text: text}
				ok(t, s.UpdatePost(ctx, p, nil, anEvent(social.EventPostEdited)))
				workOff(t, s, 1)
				sameAsRead(t, s, followers[0], "with a long post")
			}
		}
	}
	workOff(t, s, 1)
	sameAsRead(t, s, followers[0], "with long posts")
	freshCopies(t, keptNews(t, s), followers[0])
}
