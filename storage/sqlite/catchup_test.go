package sqlite

import (
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/storagetest"
)

func TestClientsCatchUp(t *testing.T) {
	storagetest.RunCatchUp(t, func(t *testing.T) []storage.Store {
		t.Helper()
		return []storage.Store{openAds(t)}
	})
}

func TestClientsCatchUpOnPeople(t *testing.T) {
	storagetest.RunCatchUpEdges(t, func(t *testing.T) []storage.Store {
		t.Helper()
		return []storage.Store{openAds(t)}
	})
}

// TestIDsGrowWhenClockIsSetBack sets the clock back and deletes the newest items: new ids must
// still sort after a cursor that a client already has.
func TestIDsGrowWhenClockIsSetBack(t *testing.T) {
	p := newPlaza(t, 1)
	at := time.Now()
	p.clock = func() time.Time { return at }
	var last id.ID
	for _, step := range []time.Duration{0, 0, -time.Hour, time.Minute, -time.Minute} {
		at = at.Add(step)
		author := p.people[0].User.ID
		post := &social.Post{
			Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
			Content: social.Content{Status: &social.Status{Text: "hello"}},
		}
		p.check(p.InsertPost(t.Context(), post, social.Event{}))
		if post.ID.Serial() <= last.Serial() {
			t.Errorf("%v does not sort behind %v", post.ID, last)
		}
		last = post.ID.ID
		p.check(p.DeletePost(t.Context(), post.ID, social.Event{}))
	}
}

// TestACircleFromTheFutureMovesItsOwnerAlone: the circles of a person who signed up while the clock
// was a year ahead stay in order, and posts keep the time at which they are stored.
func TestACircleFromTheFutureMovesItsOwnerAlone(t *testing.T) {
	p := newPlaza(t, 1)
	owner := p.people[0]
	last := social.Circle{ID: social.CircleID{ID: id.At(time.Now().AddDate(1, 0, 0))}, Owner: owner.User.ID, Name: "Later"}
	_, err := p.ImportCircles(t.Context(), []*social.Circle{&last})
	p.check(err)
	for _, name := range []string{"one", "two"} {
		next := social.Circle{Owner: owner.User.ID, Name: name}
		p.check(p.InsertCircle(t.Context(), &next, social.MaxCircles, social.Event{}))
		if next.ID.Serial() <= last.ID.Serial() {
			t.Errorf("%v does not sort behind %v", next.ID, last.ID)
		}
		last = next
	}
	post := &social.Post{
		Author: owner.User.ID, WallOwner: owner.User.ID, Audience: social.Audience{Kind: social.AudiencePublic},
		Content: social.Content{Status: &social.Status{Text: "hello"}},
	}
	p.check(p.InsertPost(t.Context(), post, social.Event{}))
	if post.ID.Serial() >= last.ID.Serial() {
		t.Errorf("a post has the time of a circle from the future: %v", post.ID.Time())
	}
}
