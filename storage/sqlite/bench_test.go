package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite"
)

// town is a store with many authors. Its viewers follow 1, 100, 1,000 and all of them; all have one
// popular user in a circle; one lonely viewer follows only users who do not post.
type town struct {
	store            *sqlite.Store
	viewers          map[int]social.UserID
	popular, unlucky social.UserID
	authors          []social.NewUser
}

const (
	townAuthors = 5_000
	townPosts   = 50_000
)

func newTown(b *testing.B) *town {
	b.Helper()
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "town.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	t := &town{store: store, viewers: map[int]social.UserID{}}
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	named := func(name string) social.NewUser {
		user := social.UserID{ID: id.New()}
		return social.NewUser{
			User:      social.User{ID: user, Handle: name, Name: name, WallPolicy: social.WallEveryone},
			Following: social.NewBuiltInCircle(user),
		}
	}
	for i := range townAuthors {
		t.authors = append(t.authors, named(fmt.Sprintf("author_%d", i)))
	}
	_, err = store.ImportUsers(b.Context(), t.authors)
	check(err)
	follow := func(u social.NewUser, others []social.NewUser) {
		var memberships []social.Membership
		var edges []social.EdgeID
		for _, other := range others {
			memberships = append(memberships, social.Membership{Circle: u.Following.ID, Owner: u.User.ID, Member: other.User.ID})
			edges = append(edges, social.EdgeID{ID: id.New()})
		}
		_, err := store.ImportMemberships(b.Context(), memberships, edges)
		check(err)
	}
	for _, n := range []int{1, 20, 100, 1_000, townAuthors} {
		u := named(fmt.Sprintf("follows_%d", n))
		_, err := store.ImportUsers(b.Context(), []social.NewUser{u})
		check(err)
		follow(u, t.authors[:n])
		t.viewers[n] = u.User.ID
	}
	// The unlucky viewer follows as many users as there are authors, but only the first of them
	// post.
	unlucky, popular := named("unlucky"), named("popular")
	_, err = store.ImportUsers(b.Context(), []social.NewUser{unlucky, popular})
	check(err)
	t.unlucky, t.popular = unlucky.User.ID, popular.User.ID
	follow(unlucky, t.authors[townAuthors/5:])
	for _, a := range t.authors {
		follow(a, []social.NewUser{popular})
	}
	start := time.Now().Add(-townPosts * time.Minute)
	for i := range townPosts {
		author := t.authors[(i*7919)%(townAuthors/5)].User.ID
		if i < townAuthors {
			author = t.authors[i].User.ID // everyone once, long ago
		}
		p := &social.Post{
			ID: social.PostID{ID: id.At(start.Add(time.Duration(i) * time.Minute))}, Author: author, WallOwner: author,
			Audience: social.Audience{Kind: social.AudiencePublic},
			Content:  social.Content{Status: &social.Status{Text: fmt.Sprintf("%d: %0300d", i, i)}},
		}
		if i%10 == 0 {
			p.Audience.Kind = social.AudienceCircles
		}
		check(store.InsertPost(b.Context(), p, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostCreated}))
		for range 4 * (i / (townPosts - 500)) {
			check(store.InsertComment(b.Context(), &social.Comment{Post: p.ID, Author: author, Text: "A comment."}, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventCommentAdded}))
		}
	}
	return t
}

// BenchmarkFeeds reads pages of 20 (and one more, as the service does): the newest, and ones in the
// middle of the past.
func BenchmarkFeeds(b *testing.B) {
	t := newTown(b)
	long := social.Key(id.At(time.Now().Add(-townPosts / 2 * time.Minute)).Bytes())
	for _, p := range []struct {
		name string
		page social.Page
	}{
		{"newest", social.Page{Limit: 21}},
		{"older", social.Page{Limit: 21, After: long}},
		{"last", social.Page{Limit: 21, Last: true}},
	} {
		news := func(name string, viewer social.UserID) {
			b.Run(fmt.Sprintf("News/%s/%s", name, p.name), func(b *testing.B) {
				for b.Loop() {
					if posts, err := t.store.News(b.Context(), viewer, p.page); err != nil || len(posts) == 0 {
						b.Fatal(len(posts), err)
					}
				}
			})
		}
		for _, n := range []int{1, 20, 100, 1_000, townAuthors} {
			news(fmt.Sprintf("follows%d", n), t.viewers[n])
		}
		news("unlucky", t.unlucky)
		b.Run("Incoming/popular/"+p.name, func(b *testing.B) {
			for b.Loop() {
				if posts, err := t.store.Incoming(b.Context(), t.popular, p.page); err != nil || len(posts) != 21 {
					b.Fatal(len(posts), err)
				}
			}
		})
		b.Run("Wall/"+p.name, func(b *testing.B) {
			list := []social.List[social.UserID]{{Of: t.authors[0].User.ID, Page: p.page}}
			for b.Loop() {
				if posts, err := t.store.Wall(b.Context(), list); err != nil || len(posts) != 1 {
					b.Fatal(len(posts), err)
				}
			}
		})
	}
}

// BenchmarkImport stores a network of the size of ego-facebook: each friendship is a follow in both
// directions.
func BenchmarkImport(b *testing.B) {
	const people, follows, batch = 4_000, 176_000, 1_000
	for b.Loop() {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "town.db"))
		if err != nil {
			b.Fatal(err)
		}
		users := make([]social.NewUser, people)
		for i := range users {
			users[i] = newUser()
		}
		if _, err := store.ImportUsers(b.Context(), users); err != nil {
			b.Fatal(err)
		}
		for done := 0; done < follows; done += batch {
			var memberships []social.Membership
			var edges []social.EdgeID
			for range batch {
				u, other := users[rand.IntN(people)], users[rand.IntN(people)]
				memberships = append(memberships, social.Membership{Circle: u.Following.ID, Owner: u.User.ID, Member: other.User.ID})
				edges = append(edges, social.EdgeID{ID: id.New()})
			}
			if _, err := store.ImportMemberships(b.Context(), memberships, edges); err != nil {
				b.Fatal(err)
			}
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrites posts from one goroutine, and from many concurrently.
func BenchmarkWrites(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "town.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	author := social.UserID{ID: id.New()}
	write := func() {
		if err := store.InsertPost(b.Context(), newStatus(author), event(social.EventPostCreated)); err != nil {
			b.Error(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			write()
		}
	})
	b.Run("together", func(b *testing.B) {
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				write()
			}
		})
	})
}
