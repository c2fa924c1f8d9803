package demo

import (
	"testing"

	"plaza/ads"
	"plaza/social"
	"plaza/storage"
)

// snapshot is the whole content of a seeded database, apart from hashes of passwords.
type snapshot struct {
	Users     map[string]*social.User
	Circles   map[string][]*social.Circle
	Members   map[string][]social.Edge
	Followers map[string][]social.Edge
	Following map[string][]social.Edge
	Blocked   map[string][]social.Edge
	Muted     map[string][]social.Edge
	Walls     map[string][]*social.Post
	Threads   map[string][]*social.Comment
	Reactions map[string]map[social.PostID]social.ReactionKind
	Votes     map[string]map[social.PostID]int
	Ads       []*ads.Unit
	Zones     []*ads.Zone
}

const everything = 1000

// take reads the snapshot.
func take(t *testing.T, st storage.Store) *snapshot {
	t.Helper()
	ctx := t.Context()
	s := &snapshot{
		Circles: map[string][]*social.Circle{}, Members: map[string][]social.Edge{},
		Followers: map[string][]social.Edge{}, Following: map[string][]social.Edge{},
		Blocked: map[string][]social.Edge{}, Muted: map[string][]social.Edge{},
		Walls: map[string][]*social.Post{}, Threads: map[string][]*social.Comment{},
		Reactions: map[string]map[social.PostID]social.ReactionKind{}, Votes: map[string]map[social.PostID]int{},
	}
	var posts []social.PostID
	s.Users = must(st.UsersByHandle(ctx, castHandles()))(t)
	page := social.Page{Limit: everything}
	for handle, user := range s.Users {
		list := social.List[social.UserID]{Of: user.ID, Page: page}
		lists := []social.List[social.UserID]{list}
		s.Circles[handle] = must(st.CirclesOf(ctx, user.ID, page))(t)
		s.Followers[handle] = must(st.Followers(ctx, lists))(t)[list]
		s.Following[handle] = must(st.Following(ctx, lists))(t)[list]
		s.Blocked[handle] = must(st.Blocked(ctx, user.ID, page))(t)
		s.Muted[handle] = must(st.Muted(ctx, user.ID, page))(t)
		s.Walls[handle] = must(st.Wall(ctx, lists))(t)[list]
		for _, c := range s.Circles[handle] {
			members := social.List[social.CircleID]{Of: c.ID, Page: page}
			s.Members[c.ID.String()] = must(st.Members(ctx, []social.List[social.CircleID]{members}))(t)[members]
		}
		for _, p := range s.Walls[handle] {
			posts = append(posts, p.ID)
			thread := social.List[social.Thread]{Of: social.Thread{Post: p.ID, Order: social.OrderThreaded}, Page: page}
			s.Threads[p.ID.String()] = must(st.Thread(ctx, []social.List[social.Thread]{thread}))(t)[thread]
		}
	}
	for handle, user := range s.Users {
		s.Reactions[handle] = must(st.Reactions(ctx, user.ID, posts))(t)
		s.Votes[handle] = must(st.Votes(ctx, user.ID, posts))(t)
	}
	s.takeAds(t, st)
	return s
}

func (s *snapshot) takeAds(t *testing.T, st storage.Store) {
	t.Helper()
	batch := newStage(st, s.Users["ada"].CreatedAt(), testURL).catalogue()
	for _, u := range batch.Units {
		s.Ads = append(s.Ads, must(st.Ads().Units(t.Context(), []ads.UnitID{u.ID}))(t)[u.ID])
	}
	for _, z := range batch.Zones {
		s.Zones = append(s.Zones, must(st.Ads().Zone(t.Context(), z.ID))(t))
	}
}

// must returns a call's result, and fails the test on an error.
func must[T any](answer T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}
