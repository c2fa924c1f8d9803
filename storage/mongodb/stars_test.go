package mongodb_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// envFollowers says how many followers a star has in tests: 1000000 takes minutes. By default there
// are enough for an author whose posts are merged at read, and for many pages.
const envFollowers = "PLAZA_TEST_FOLLOWERS"

// star is a user with very many followers. A few of these read their news.
type star struct {
	*town

	db       *mongo.Database
	size     int
	author   social.UserID
	readers  []social.UserID
	recorder *recorder
}

func newStar(t *testing.T, o mongodb.Options) *star {
	t.Helper()
	size := 20_000
	if text := os.Getenv(envFollowers); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := &star{size: size, recorder: new(recorder)}
	s.town = newTownOf(t, s.recorder, o)
	s.db = mongotest.Connect(t, s.uri)
	s.author = s.people(1)[0].User.ID
	s.gather(o)
	return s
}

// gather inserts all follows directly, in the form in which the store writes them, and reads the
// news of every hundredth follower.
func (s *star) gather(o mongodb.Options) {
	s.t.Helper()
	const batch = 10_000
	for left := s.size; left > 0; left -= batch {
		edges, copies := make([]any, min(left, batch)), make([]any, min(left, batch))
		for i := range edges {
			follower := social.UserID{ID: id.New()}
			follow := bson.D{
				{Key: "v", Value: 1},
				{Key: "owner", Value: uuid(follower.ID)},
				{Key: "other", Value: uuid(s.author.ID)},
				{Key: "follow", Value: uuid(id.New())},
				{Key: "circles", Value: bson.A{uuid(id.New())}},
			}
			edges[i] = append(bson.D{{Key: "_id", Value: bson.Binary{Data: append(follower.Bytes(), s.author.Bytes()...)}}}, follow...)
			copies[i] = append(bson.D{{Key: "_id", Value: bson.Binary{Data: append(s.author.Bytes(), follower.Bytes()...)}}}, follow...)
			if i%100 == 0 && len(s.readers) < 200 {
				s.readers = append(s.readers, follower)
			}
		}
		s.insert("edges", edges)
		if o.Graph == mongodb.GraphTwo {
			s.insert("followers", copies)
		}
	}
	counted := bson.D{{Key: "$set", Value: bson.D{{Key: "followers", Value: s.size}}}}
	_, err := s.db.Collection("users").UpdateByID(s.ctx, uuid(s.author.ID), counted)
	s.ok(err)
	for _, reader := range s.readers {
		_, err := s.News(s.ctx, reader, social.Page{Limit: 1})
		s.ok(err)
	}
}

func (s *star) insert(collection string, docs []any) {
	s.t.Helper()
	_, err := s.db.Collection(collection).InsertMany(s.ctx, docs, options.InsertMany().SetOrdered(false))
	s.ok(err)
}

func uuid(of id.ID) bson.Binary { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: of.Bytes()} }

// TestPagingFollowersOfPopularUser pages through all followers by cursors, on both layouts of the
// graph. Each page is one command that reads only its own index entries, however deep it is.
func TestPagingFollowersOfPopularUser(t *testing.T) {
	t.Parallel()
	for _, graph := range []string{mongodb.GraphReverse, mongodb.GraphTwo} {
		t.Run(graph, func(t *testing.T) {
			s := newStar(t, mongodb.Options{Graph: graph})
			var middle social.Key
			for _, backwards := range []bool{false, true} {
				seen := map[social.UserID]bool{}
				for p := (social.Page{Limit: 1000, Last: backwards}); ; {
					page := s.followers(p)
					for _, e := range page {
						seen[e.From] = true
					}
					if len(page) < p.Limit {
						break
					}
					if p.After = ""; backwards {
						p.Before = social.Key(page[0].ID.Bytes())
					} else {
						p.After = social.Key(page[len(page)-1].ID.Bytes())
					}
					if len(seen) == s.size/2 {
						middle = max(p.After, p.Before)
					}
				}
				if len(seen) != s.size {
					t.Errorf("backwards %t: %d followers, want %d", backwards, len(seen), s.size)
				}
			}
			for _, p := range []social.Page{{}, {After: middle}, {Before: middle}, {Last: true}, {Last: true, Before: middle}} {
				p.Limit = 20
				s.recorder.take()
				s.followers(p)
				s.covered(s.recorder.take(), p.Limit)
			}
		})
	}
}

func (s *star) followers(p social.Page) []social.Edge {
	s.t.Helper()
	pages, err := s.Followers(s.ctx, lists(p, s.author))
	s.ok(err)
	return pages[social.List[social.UserID]{Of: s.author, Page: p}]
}

func (s *star) covered(commands []bson.Raw, limit int) {
	s.t.Helper()
	if len(commands) != 1 {
		s.t.Fatalf("%d commands: %s", len(commands), names(commands))
	}
	plan := explain(s.t, plainClient(s.t), explainable(s.t, commands[0])[0], "executionStats")["executionStats"]
	if docs, keys := total(plan, "totalDocsExamined"), total(plan, "totalKeysExamined"); docs != 0 || keys > limit+1 {
		s.t.Errorf("a page of %d examines %d documents and %d index entries", limit, docs, keys)
	}
}

// TestPostsOfPopularUser checks two posts of a user with this many followers. The first is pushed
// to all who read their news, and makes the author one whose posts are merged at read. The second
// is not pushed. All readers see both.
func TestPostsOfPopularUser(t *testing.T) {
	t.Parallel()
	s := newStar(t, mongodb.Options{Feeds: mongodb.FeedsHybrid, Graph: mongodb.GraphTwo})
	lists := s.db.Collection("newsLists")
	var posts []social.PostID
	for i, want := range []int{len(s.readers), 0} {
		start := time.Now()
		posts = newestIDs(posts, []social.PostID{s.post(status(s.author, s.author, public)).ID})
		s.finishWithin(2 * testtime.Patience())
		t.Logf("post %d: %v for %d followers", i, time.Since(start), s.size)
		n, err := lists.CountDocuments(s.ctx, bson.D{{Key: "ids", Value: uuid(posts[0].ID)}, {Key: "_id", Value: bson.D{{Key: "$ne", Value: uuid(s.author.ID)}}}})
		s.ok(err)
		if int(n) != want {
			t.Errorf("post %d is in %d lists, want %d", i, n, want)
		}
		for _, reader := range s.readers[:10] {
			s.same(s.news(social.NewUser{User: social.User{ID: reader}}, social.Page{Limit: 20}), posts, "the news after post %d", i)
		}
	}
}
