package demo

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"plaza/ads/adserver"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// look is one seeded database, as one viewer sees it.
type look struct {
	t      *testing.T
	st     storage.Store
	viewer *network.Viewer
	people map[string]*social.User
	names  map[social.UserID]string
}

func newLook(t *testing.T, st storage.Store, viewer string) *look {
	t.Helper()
	l := &look{t: t, st: st, people: must(st.UsersByHandle(t.Context(), castHandles()))(t), names: map[social.UserID]string{}}
	for handle, user := range l.people {
		l.names[user.ID] = handle
	}
	l.viewer = network.New(st, network.Options{}).Viewer(l.id(viewer))
	return l
}

// id returns a person's id; "" means signed out.
func (l *look) id(handle string) social.UserID {
	if handle == "" {
		return social.UserID{}
	}
	return l.people[handle].ID
}

var page = social.Page{Limit: social.MaxPageSize}

// wall returns a person's wall as a visitor sees it.
func (l *look) wall(of string) []*social.Post {
	l.t.Helper()
	list := social.List[social.UserID]{Of: l.id(of), Page: page}
	return must(l.viewer.Walls(l.t.Context(), []social.List[social.UserID]{list}))(l.t)[list].Items
}

func (l *look) thread(p *social.Post) []*social.Comment {
	l.t.Helper()
	list := social.List[social.Thread]{Of: social.Thread{Post: p.ID, Order: social.OrderThreaded}, Page: page}
	return must(l.viewer.Threads(l.t.Context(), []social.List[social.Thread]{list}))(l.t)[list].Items
}

// authors returns the authors of the posts, sorted, each once.
func (l *look) authors(posts []*social.Post) []string {
	var authors []string
	for _, p := range posts {
		authors = append(authors, l.names[p.Author])
	}
	slices.Sort(authors)
	return slices.Compact(authors)
}

func (l *look) atLeast(least, n int, what string) {
	l.t.Helper()
	if n < least {
		l.t.Errorf("%d %s, want at least %d", n, what, least)
	}
}

func whatVisitorsSee(t *testing.T, st storage.Store) {
	t.Helper()
	l := newLook(t, st, "")
	wall := l.wall("ada")
	l.atLeast(10, len(wall), "posts on ada's wall")
	types := map[social.PostType]bool{}
	for _, p := range wall[:5] {
		types[p.Content.Type()] = true
		l.atLeast(2, p.CommentCount, "comments on one of the newest posts")
		l.atLeast(2, len(p.Reactions), "kinds of reactions to one of the newest posts")
	}
	l.atLeast(5, len(types), "types among the five newest posts")
	for _, p := range wall[:3] {
		deepest := 0
		for _, c := range l.thread(p) {
			deepest = max(deepest, c.Depth())
		}
		l.atLeast(3, deepest, "levels of one of the newest threads")
	}
	for _, p := range wall {
		if p.Audience.Kind != social.AudiencePublic {
			t.Errorf("a visitor sees %s", p.Content.Text())
		}
	}
}

func whatAdaSees(t *testing.T, st storage.Store) {
	t.Helper()
	l := newLook(t, st, "ada")
	ctx := t.Context()

	news := must(l.viewer.News(ctx, page))(t).Items
	l.atLeast(30, len(news), "posts in the news")
	wantAuthors := []string{"ada", "grace", "ines", "kofi", "linus", "mei", "nadia", "omar", "rosa", "sam", "theo"}
	if got := l.authors(news); !slices.Equal(got, wantAuthors) {
		t.Errorf("news by %v, want %v (neither the muted, the blocked nor the unknown)", got, wantAuthors)
	}

	incoming := must(l.viewer.Incoming(ctx, page))(t).Items
	l.atLeast(10, len(incoming), "posts in incoming")
	kinds := map[social.AudienceKind]bool{}
	for _, p := range incoming {
		kinds[p.Audience.Kind] = true
	}
	if want := 3; len(kinds) != want {
		t.Errorf("incoming has %d kinds of audience, want %d: %v", len(kinds), want, kinds)
	}

	all := must(l.viewer.OwnWall(ctx, social.ViewAll, page))(t).Items
	followed := must(l.viewer.OwnWall(ctx, social.ViewFollowed, page))(t).Items
	l.atLeast(15, len(all), "posts on the own wall")
	if len(followed) != len(all)-1 || slices.Contains(l.authors(all), "bruno") || slices.Contains(l.authors(all), "vic") {
		t.Errorf("own wall: %d posts by %v, of which %d by %v that ada follows",
			len(all), l.authors(all), len(followed), l.authors(followed))
	}
	if hidden := len(newLook(t, st, "rosa").wall("ada")); hidden == len(all) {
		t.Error("rosa sees all of ada's wall")
	}

	circles := must(l.viewer.OwnCircles(ctx, page))(t).Items
	var names []string
	for _, c := range circles {
		names = append(names, fmt.Sprintf("%s %d", c.Name, c.MembersCount))
	}
	// vic was the seventh in Following.
	if want := []string{"Following 6", "Family 2", "Chess club 3", "Climbing 3"}; !slices.Equal(names, want) {
		t.Errorf("circles %v, want %v", names, want)
	}
	blocked := must(l.viewer.Blocked(ctx, page))(t).Items
	if len(blocked) != 1 || blocked[0].User.Handle != "vic" {
		t.Errorf("blocked: %v", blocked)
	}
	muted := must(l.viewer.Muted(ctx, page))(t).Items
	if len(muted) != 1 || muted[0].To != l.id("bruno") {
		t.Errorf("muted: %v", muted)
	}
}

// kinds counts the noteworthy things.
type kinds struct {
	posts, comments, tombstones, edited, corrected, elsewhere, openPolls, closedPolls, votes, reactions int
	depth                                                                                               int
	types                                                                                               map[social.PostType]int
	audiences                                                                                           map[social.AudienceKind]int
}

func (l *look) count() kinds {
	k := kinds{types: map[social.PostType]int{}, audiences: map[social.AudienceKind]int{}}
	s := take(l.t, l.st)
	for _, posts := range s.Walls {
		for _, p := range posts {
			k.add(p)
		}
	}
	for _, comments := range s.Threads {
		for _, c := range comments {
			k.comments++
			k.depth = max(k.depth, c.Depth())
			k.tombstones += one(c.Deleted)
			k.corrected += one(!c.EditedAt.IsZero())
		}
	}
	return k
}

func (k *kinds) add(p *social.Post) {
	k.posts++
	k.types[p.Content.Type()]++
	k.audiences[p.Audience.Kind]++
	k.edited += one(p.Edits > 0)
	k.elsewhere += one(p.WallOwner != p.Author)
	if poll := p.Content.Poll; poll != nil {
		k.closedPolls += one(poll.IsClosed(time.Now()))
		k.openPolls += one(!poll.IsClosed(time.Now()))
	}
	for _, n := range p.Votes {
		k.votes += n
	}
	for _, n := range p.Reactions {
		k.reactions += n
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func somethingOfEverything(t *testing.T, st storage.Store) {
	t.Helper()
	l := newLook(t, st, "")
	k := l.count()
	t.Logf("%+v", k)
	l.atLeast(30, k.posts, "posts")
	l.atLeast(80, k.comments, "comments")
	l.atLeast(5, k.depth, "levels")
	l.atLeast(1, k.tombstones, "tombstones")
	l.atLeast(1, k.edited, "edited posts")
	l.atLeast(1, k.corrected, "edited comments")
	l.atLeast(5, k.elsewhere, "posts on others' walls")
	l.atLeast(1, k.openPolls, "open polls")
	l.atLeast(1, k.closedPolls, "closed polls")
	l.atLeast(20, k.votes, "votes")
	l.atLeast(100, k.reactions, "reactions")
	l.atLeast(5, len(k.types), "types of posts")
	l.atLeast(4, len(k.audiences), "kinds of audience")
}

func adsAreThere(t *testing.T, st storage.Store) {
	t.Helper()
	service := adserver.New(st.Ads(), adserver.Options{})
	for zone, want := range map[string]int{"sidebar": 4, "banner": 3} {
		if chosen := must(service.Choose(t.Context(), adserver.Request{Site: "plaza", Zone: zone, Count: adserver.MaxCount}))(t); len(chosen) != want {
			t.Errorf("%d ads in the %s, want %d", len(chosen), zone, want)
		}
	}
}
