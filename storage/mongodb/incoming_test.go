package mongodb

import (
	"slices"
	"testing"

	"plaza/social"
)

// popular is a user with enough followers for Incoming to walk through posts.
type popular struct {
	t         *testing.T
	s         *Store
	user      social.UserID
	followers []social.UserID
	strangers []social.UserID // they do not follow the user; each follows the first stranger
	incoming  []social.PostID // newest first
}

func newPopular(t *testing.T, followers int) *popular {
	t.Helper()
	p := &popular{t: t, s: openInside(t, Options{walk: walkLimits{followers, 1}})}
	p.user, p.followers = fans(t, p.s, followers)
	_, p.strangers = fans(t, p.s, 5)
	return p
}

// post stores a post. isTo says whether it is in the user's incoming.
func (p *popular) post(author, wallOwner social.UserID, to social.Audience, isTo bool) {
	p.t.Helper()
	post := newStatus(author)
	post.WallOwner, post.Audience = wallOwner, to
	ok(p.t, p.s.InsertPost(p.t.Context(), post, anEvent(social.EventPostCreated)))
	if isTo {
		p.incoming = slices.Insert(p.incoming, 0, post.ID)
	}
}

// postBy stores some posts of each kind by each of n followers, beginning with one of them.
func (p *popular) postBy(from, n int) {
	p.t.Helper()
	for i := range n {
		p.postAll(p.followers[from+i], p.strangers[i])
	}
}

// postOthers stores posts to circles without the user.
func (p *popular) postOthers(n int) {
	p.t.Helper()
	for range n {
		p.post(p.strangers[0], p.strangers[0], social.Audience{Kind: social.AudienceCircles}, false)
	}
}

// postAll stores some posts of each kind: by a follower, by a stranger, and on walls.
func (p *popular) postAll(follower, stranger social.UserID) {
	p.t.Helper()
	owner := &circleOwner{p.t, p.s, follower, social.BuiltInCircleID(follower)}
	with, without := owner.circle("with the user"), owner.circle("without")
	owner.add(with, p.user)
	builtIn := social.BuiltInCircleID(follower)
	everyone := social.Audience{Kind: social.AudiencePublic}
	circles := social.Audience{Kind: social.AudienceCircles}
	p.post(follower, follower, circles, true)
	p.post(follower, follower, listed(builtIn), true)
	p.post(follower, follower, listed(without), false)
	p.post(follower, follower, listed(without, with), true)
	p.post(follower, follower, everyone, false)
	p.post(stranger, stranger, circles, false)
	p.post(stranger, stranger, listed(social.BuiltInCircleID(stranger)), false)
	p.post(stranger, p.user, everyone, true)
	p.post(stranger, follower, everyone, false)
	p.post(p.user, p.user, circles, false)
	owner.remove(with, p.user)
	p.post(follower, p.user, listed(with), true)
	p.post(follower, follower, listed(with), false)
	owner.add(with, p.user)
	p.incoming = slices.Insert(p.incoming, 0, p.newestBy(follower))
}

func listed(circles ...social.CircleID) social.Audience {
	return social.Audience{Kind: social.AudienceListed, Circles: circles}
}

func (p *popular) newestBy(author social.UserID) social.PostID {
	p.t.Helper()
	list := social.List[social.UserID]{Of: author, Page: social.Page{Limit: 1}}
	return must(p.s.PostsBy(p.t.Context(), []social.List[social.UserID]{list}))(p.t)[list][0].ID
}

// page reads a page, and returns its ids, and whether a walk has found it.
func (p *popular) page(page social.Page) (ids []social.PostID, isWalked bool) {
	p.t.Helper()
	for _, post := range must(p.s.Incoming(p.t.Context(), p.user, page))(p.t) {
		ids = append(ids, post.ID)
	}
	walked, isWalked, err := p.s.walkIncoming(p.t.Context(), p.user, page)
	ok(p.t, err)
	if isWalked && !slices.Equal(walked, ids) {
		p.t.Errorf("%+v: a walk finds %v, and the page has %v", page, walked, ids)
	}
	return ids, isWalked
}

// check reads all pages of a length in both directions. It returns how many of them were found by a
// walk.
func (p *popular) check(length int) (walked, all int) {
	p.t.Helper()
	for _, last := range []bool{false, true} {
		page := social.Page{Limit: length, Last: last}
		var got []social.PostID
		for {
			ids, isWalked := p.page(page)
			all++
			if isWalked {
				walked++
			}
			if last {
				got = append(ids, got...)
			} else {
				got = append(got, ids...)
			}
			if len(ids) < length {
				break
			}
			if last {
				page.Before = social.Key(ids[0].Bytes())
			} else {
				page.After = social.Key(ids[len(ids)-1].Bytes())
			}
		}
		if !slices.Equal(got, p.incoming) {
			p.t.Errorf("pages of %d posts, the last first: %t: %d posts, want %d, or another order", length, last, len(got), len(p.incoming))
		}
	}
	return walked, all
}

// TestIncomingOfPopularUser reads pages among posts of which many are for the user, and among posts
// of which hardly any are: there a walk gives up, and the page is merged.
func TestIncomingOfPopularUser(t *testing.T) {
	t.Parallel()
	p := newPopular(t, 140)
	p.postBy(0, 3)
	p.postOthers(75)
	p.postBy(3, 2)
	p.postOthers(250)
	p.postBy(5, 3)
	for _, length := range []int{1, 7, 23, 200} {
		walked, all := p.check(length)
		t.Logf("%d of %d pages of %d posts are found by a walk", walked, all, length)
		if length < 100 && (walked == 0 || walked == all) {
			t.Errorf("%d of %d pages of %d posts are found by a walk", walked, all, length)
		}
	}
}
