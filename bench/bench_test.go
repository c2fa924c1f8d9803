package bench

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/bench/remembering"
	"plaza/social"
	"plaza/storage"
)

func TestNetworksAreTheSameEachTime(t *testing.T) {
	a, b, c := powerLaw(5000, 1), powerLaw(5000, 1), powerLaw(5000, 2)
	if !slices.Equal(a.follows, b.follows) {
		t.Error("the same seed makes different networks")
	}
	if slices.Equal(a.follows, c.follows) {
		t.Error("different seeds make the same network")
	}
	if len(a.follows) != 5000 || a.people != 250 {
		t.Errorf("%d people and %d follows, want 250 and 5000", a.people, len(a.follows))
	}
	followers := make([]int, a.people)
	for i, f := range a.follows {
		followers[f[1]]++
		if f[0] == f[1] || i > 0 && f == a.follows[i-1] {
			t.Fatalf("the follow %v makes no sense", f)
		}
	}
	slices.Sort(followers)
	if median, most := followers[125], followers[249]; most < 5*median {
		t.Errorf("the most popular has %d followers, in the middle they have %d: that is no power law", most, median)
	}
	star := a.add(100)
	seen := map[int]bool{}
	for _, f := range a.follows {
		if f[1] == star {
			seen[f[0]] = true
		}
	}
	if len(seen) != 100 || seen[star] {
		t.Errorf("the new one has %d followers, want 100", len(seen))
	}
}

func TestTextsAreAsLongAsPeoples(t *testing.T) {
	w := newWriter(1)
	lengths := make([]int, 2000)
	seen := map[string]bool{}
	for i := range lengths {
		text := w.text()
		lengths[i] = len(text)
		seen[text] = true
	}
	slices.Sort(lengths)
	if median := lengths[1000]; median < 70 || median > 110 {
		t.Errorf("the median length is %d", median)
	}
	if long := lengths[1980]; long < 500 || lengths[1999] > maxText+100 {
		t.Errorf("one in a hundred has %d, the longest %d", long, lengths[1999])
	}
	if len(seen) < 1900 {
		t.Errorf("of 2000 texts %d differ", len(seen))
	}
}

func TestThreadsAreTrees(t *testing.T) {
	post := social.PostID{ID: derived(began, "post", 0)}
	all := thread(post, "test", began, []social.UserID{person(1)}, 500, newWriter(1))
	seen, slugs, deepest := map[social.CommentID]bool{{}: true}, map[string]bool{}, 0
	for i, c := range all {
		if !seen[c.Parent] || slugs[c.Slug] || i > 0 && c.ID.Compare(all[i-1].ID.ID) <= 0 {
			t.Fatalf("the comment %d has the parent %v, the slug %s and the id %v", i, c.Parent, c.Slug, c.ID)
		}
		seen[c.ID], slugs[c.Slug] = true, true
		deepest = max(deepest, c.Depth())
	}
	if deepest < 5 || deepest > social.DefaultMaxDepth {
		t.Errorf("the deepest comment is at %d", deepest)
	}
}

func TestDatabasesInURIs(t *testing.T) {
	for _, c := range []struct{ uri, database, other string }{
		{"mongodb://a", "", "mongodb://a/b"},
		{"mongodb://a:1,c:2/d?x=y", "d", "mongodb://a:1,c:2/b?x=y"},
		{"mongodb://u:p%2F@a/?x=y/z", "", "mongodb://u:p%2F@a/b?x=y/z"},
		{"mongodb+srv://a?x", "", "mongodb+srv://a/b?x"},
	} {
		if got := databaseIn(c.uri); got != c.database {
			t.Errorf("the database in %s is %q, want %q", c.uri, got, c.database)
		}
		if got := inDatabase(c.uri, "b"); got != c.other {
			t.Errorf("%s in another database is %s, want %s", c.uri, got, c.other)
		}
	}
}

// countingStore answers one page of news and one user, and counts how often.
type countingStore struct {
	storage.Store

	news, users int
}

func (s *countingStore) News(context.Context, social.UserID, social.Page) ([]*social.Post, error) {
	s.news++
	return []*social.Post{{ID: social.PostID{ID: derived(began, "post", 0)}}}, nil
}

func (s *countingStore) Users(_ context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	s.users += len(ids)
	return map[social.UserID]*social.User{person(1): {ID: person(1)}}, nil
}

func TestRememberingReadsOnce(t *testing.T) {
	counting := &countingStore{}
	r := remembering.New(counting)
	for range 3 {
		posts, err := r.News(t.Context(), person(1), social.Page{Limit: 20})
		if err != nil || len(posts) != 1 {
			t.Fatalf("%v, %v", posts, err)
		}
		users, err := r.Users(t.Context(), []social.UserID{person(1), person(2)})
		if err != nil || len(users) != 1 || users[person(1)] == nil {
			t.Fatalf("%v, %v", users, err)
		}
		delete(users, person(1)) // the map that the caller got
	}
	if counting.news != 1 || counting.users != 2 {
		t.Errorf("%d pages and %d users were read, want 1 and 2", counting.news, counting.users)
	}
	if _, err := r.News(t.Context(), person(2), social.Page{Limit: 20}); err != nil || counting.news != 2 {
		t.Errorf("another's page: %d reads, %v", counting.news, err)
	}
}

func TestReadersFollowMany(t *testing.T) {
	for _, edges := range []int{500, 20_000} {
		n := powerLaw(edges, 1)
		s := newFeedScene(FeedsOptions{Options: Options{Scale: 0.01, Seed: 1}}, n, nil)
		following := n.following()
		most := slices.Max(following)
		if len(s.readers) == 0 || len(s.readers) > maxReaders {
			t.Fatalf("%d readers", len(s.readers))
		}
		for _, reader := range s.readers {
			if following[reader] < min(20, most-1) { // the star's follow was added later
				t.Errorf("%d follows: a reader has %d", edges, following[reader])
			}
		}
		if len(s.posts) < 40 || len(s.fans) != 20 {
			t.Errorf("%d posts, %d fans", len(s.posts), len(s.fans))
		}
	}
}

// TestVerdicts checks the verdict on embedding, which compares its savings on a read with its cost
// on a write.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		saved, extra float64
		want         string
	}{
		{0.2, 2, "embedding saves 0.20 ms on a read and costs 2.00 ms more on a write, so it pays above 10.0 reads for each write"},
		{-0.2, -1, "embedding costs 0.20 ms more on a read and saves 1.00 ms on a write, so it pays below 5.00 reads for each write"},
		{0.2, 0, "embedding saves 0.20 ms on a read and changes nothing on a write: it always pays"},
		{0, -0.2, "embedding changes nothing on a read and saves 0.20 ms on a write: it always pays"},
		{-0.2, 0.3, "embedding costs 0.20 ms more on a read and costs 0.30 ms more on a write: it never pays"},
		{0, 0, "both designs cost about the same"},
	} {
		if got := verdict(c.saved, c.extra); got != c.want {
			t.Errorf("%v and %v: %q, want %q", c.saved, c.extra, got, c.want)
		}
	}
	if difference(1.05, 1) != 0 || difference(1.5, 1) != 0.5 || difference(1, 1.5) != -0.5 {
		t.Error("a tenth is no difference, and a half is")
	}
	cost := func(call, rival string, ms int) measure.Result {
		return measure.Result{Call: call, Rival: rival, Samples: []measure.Sample{{Server: time.Duration(ms) * time.Millisecond}}}
	}
	s := figures.Section{Results: []measure.Result{cost("read", embedded, 1), cost("read", referenced, 3), cost("write", embedded, 5)}}
	if advise(&s, readAndWrite{"read", "write"}); len(s.Remarks) > 0 {
		t.Errorf("what was not measured is remarked on: %v", s.Remarks)
	}
	s.Results = append(s.Results, cost("write", referenced, 1))
	if advise(&s, readAndWrite{"read", "write"}); len(s.Remarks) != 1 || !strings.Contains(s.Remarks[0], "above 2.00 reads") {
		t.Errorf("the remarks are %v", s.Remarks)
	}
}
