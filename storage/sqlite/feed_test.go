package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plaza/id"
	"plaza/social"
)

// plaza is a store with a model of its answers in plain Go.
type plaza struct {
	*Store
	t       *testing.T
	people  []social.NewUser
	circles map[social.CircleID]map[social.UserID]bool
	posts   []*social.Post
}

func (p *plaza) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func newPlaza(t *testing.T, people int) *plaza {
	t.Helper()
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &plaza{Store: store, t: t, circles: map[social.CircleID]map[social.UserID]bool{}}
	for i := range people {
		user := social.UserID{ID: id.New()}
		p.people = append(p.people, social.NewUser{
			User:      social.User{ID: user, Handle: fmt.Sprint("u", i)},
			Following: social.NewBuiltInCircle(user),
		})
		p.circles[p.people[i].Following.ID] = map[social.UserID]bool{}
	}
	_, err = p.ImportUsers(t.Context(), p.people)
	p.check(err)
	return p
}

// circle adds a circle for an owner.
func (p *plaza) circle(owner social.UserID, name string) social.CircleID {
	c := &social.Circle{ID: social.CircleID{ID: id.New()}, Owner: owner, Name: name}
	p.check(p.InsertCircle(p.t.Context(), c, social.MaxCircles, social.Event{}))
	p.circles[c.ID] = map[social.UserID]bool{}
	return c.ID
}

func (p *plaza) join(circle social.CircleID, owner, member social.UserID) {
	if owner == member {
		return
	}
	_, err := p.ImportMemberships(p.t.Context(), []social.Membership{{Circle: circle, Owner: owner, Member: member}},
		[]social.EdgeID{{ID: id.New()}})
	p.check(err)
	p.circles[circle][member] = true
}

// page returns a page of the posts that belong to a list, newest first.
func (p *plaza) page(page social.Page, belongs func(*social.Post) bool) []social.PostID {
	var in []social.PostID
	for _, post := range p.posts {
		key := social.Key(post.ID.Bytes())
		if belongs(post) && (page.After == "" || key < page.After) && key > page.Before {
			in = append(in, post.ID)
		}
	}
	slices.SortFunc(in, func(a, b social.PostID) int { return b.Compare(a.ID) })
	if over := len(in) - page.Limit; over > 0 && page.Last {
		return in[over:]
	}
	return in[:min(len(in), page.Limit)]
}

func (p *plaza) same(got []*social.Post, err error, want []social.PostID, what string, args ...any) {
	p.t.Helper()
	p.check(err)
	var ids []social.PostID
	for _, post := range got {
		ids = append(ids, post.ID)
	}
	if !slices.Equal(ids, want) {
		p.t.Fatalf("%s has %d posts, want %d:\n%v\n%v", fmt.Sprintf(what, args...), len(ids), len(want), ids, want)
	}
}

// TestWalkingAndMergingReadTheSameNews reads the feeds of viewers with few and with many lists, so that pages
// are found by the walk, by the merge, and by both.
func TestWalkingAndMergingReadTheSameNews(t *testing.T) {
	const many = 3 * walkLeast
	p := newPlaza(t, many)
	viewers := map[social.UserID]map[social.UserID]bool{} // follows of each viewer
	for _, follows := range []int{0, 3, walkLeast - 1, walkLeast, many - 1} {
		viewer := p.people[rand.IntN(many)]
		for viewers[viewer.User.ID] != nil {
			viewer = p.people[rand.IntN(many)]
		}
		viewers[viewer.User.ID] = p.circles[viewer.Following.ID]
		for _, i := range rand.Perm(many)[:follows] {
			p.join(viewer.Following.ID, viewer.User.ID, p.people[i].User.ID)
			p.join(p.people[i].Following.ID, p.people[i].User.ID, viewer.User.ID) // and back, for Incoming
		}
	}
	p.writePosts(many*4, viewers)
	for viewer, follows := range viewers {
		for range 60 {
			page := p.anyPage()
			got, err := p.News(t.Context(), viewer, page)
			p.same(got, err, p.page(page, func(post *social.Post) bool { return post.Author == viewer || follows[post.Author] }),
				"News of a viewer who follows %d, %+v", len(follows), page)
			got, err = p.Incoming(t.Context(), viewer, page)
			p.same(got, err, p.page(page, func(post *social.Post) bool { return p.comesIn(post, viewer) }),
				"Incoming of a viewer who follows %d, %+v", len(follows), page)
		}
	}
}

func (p *plaza) anyPage() social.Page {
	page := social.Page{Limit: []int{1, 2, 5, 20, 2000}[rand.IntN(5)], Last: rand.IntN(2) == 0}
	if rand.IntN(2) == 0 {
		page.After = social.Key(p.posts[rand.IntN(len(p.posts))].ID.Bytes())
	}
	if rand.IntN(2) == 0 {
		page.Before = social.Key(p.posts[rand.IntN(len(p.posts))].ID.Bytes())
	}
	return page
}

func (p *plaza) comesIn(post *social.Post, viewer social.UserID) bool {
	if post.Author == viewer {
		return false
	}
	if post.WallOwner == viewer {
		return true
	}
	for _, c := range post.Audience.Circles {
		if p.circles[c][viewer] {
			return true
		}
	}
	if post.Audience.Kind != social.AudienceCircles {
		return false
	}
	return slices.ContainsFunc(p.people, func(u social.NewUser) bool {
		return u.User.ID == post.Author && p.circles[u.Following.ID][viewer]
	})
}

// writePosts lets a few users post often and the others seldom, to all kinds of audiences, and to
// several circles with the same members.
func (p *plaza) writePosts(n int, viewers map[social.UserID]map[social.UserID]bool) {
	for i := range n {
		author := p.people[rand.IntN(len(p.people))]
		if i%2 == 0 {
			author = p.people[rand.IntN(5)]
		}
		post := &social.Post{
			ID: social.PostID{ID: id.New()}, Author: author.User.ID, WallOwner: author.User.ID,
			Audience: social.Audience{Kind: []social.AudienceKind{
				social.AudiencePublic, social.AudienceCircles, social.AudienceListed, social.AudienceOnlyMe,
			}[rand.IntN(4)]},
			Content: social.Content{Status: &social.Status{Text: strconv.Itoa(i)}},
		}
		if rand.IntN(5) == 0 {
			post.WallOwner = p.people[rand.IntN(len(p.people))].User.ID
		}
		if post.Audience.Kind == social.AudienceListed {
			post.Audience.Circles = append(post.Audience.Circles, author.Following.ID)
			for k := range rand.IntN(3) {
				circle := p.circle(author.User.ID, fmt.Sprint("circle ", i, k))
				for viewer := range viewers {
					p.join(circle, author.User.ID, viewer)
					p.join(author.Following.ID, author.User.ID, viewer) // so that the model's follows stay simple
				}
				post.Audience.Circles = append(post.Audience.Circles, circle)
			}
		}
		p.check(p.InsertPost(p.t.Context(), post, social.Event{}))
		p.posts = append(p.posts, post)
	}
}

func TestFullDiskIsUnavailable(t *testing.T) {
	p := newPlaza(t, 1)
	// The disk is full: the file cannot grow.
	p.check(p.db.Pragma(t.Context(), `max_page_count = 1`))
	write := func() error {
		ada := p.people[0].User.ID
		return p.InsertPost(t.Context(), &social.Post{
			ID: social.PostID{ID: id.New()}, Author: ada, WallOwner: ada, Audience: social.Audience{Kind: social.AudiencePublic},
			Content: social.Content{Status: &social.Status{Text: strings.Repeat("long ", 10_000)}},
		}, social.Event{})
	}
	if err := write(); !errors.Is(err, social.ErrUnavailable) {
		t.Fatalf("the error is %v, want ErrUnavailable", err)
	}
	if news, err := p.News(t.Context(), p.people[0].User.ID, social.Page{Limit: 1}); err != nil || len(news) != 0 {
		t.Errorf("what was refused is there: %v, %v", news, err)
	}
	p.check(p.db.Pragma(t.Context(), `max_page_count = 4294967294`))
	p.check(write())
}

func TestBusyFileIsUnavailable(t *testing.T) {
	p := newPlaza(t, 1)
	p.check(p.db.Pragma(t.Context(), `busy_timeout = 10`))
	other := connect(t, p.Description().Database) // a backup tool, say
	_, err := other.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	p.check(err)
	err = p.InsertCircle(t.Context(), &social.Circle{Name: "Friends"}, social.MaxCircles, social.Event{})
	if !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("the error is %v, want ErrUnavailable", err)
	}
	_, err = other.ExecContext(t.Context(), `ROLLBACK`)
	p.check(err)
	p.check(p.InsertCircle(t.Context(), &social.Circle{Name: "Friends"}, social.MaxCircles, social.Event{}))
}
