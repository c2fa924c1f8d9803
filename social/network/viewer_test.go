package network

import (
	"context"
	"sync"
	"testing"

	"plaza/id"
	"plaza/social"
)

// allFollowed is a store in which everyone follows everyone.
type allFollowed struct{ social.Store }

func (allFollowed) People(_ context.Context, _ social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	people := make(map[social.UserID]social.Person, len(ids))
	for _, other := range ids {
		people[other] = social.Person{User: &social.User{ID: other}, Relation: social.Relation{Follows: true}}
	}
	return people, nil
}

// TestListsOfOneRequestShareRelations: the lists of one request are read at the same time, by one
// Viewer. None treats people that another list has just read as strangers: their posts would be
// missing in the news, and those of muted people would be shown.
func TestListsOfOneRequestShareRelations(t *testing.T) {
	t.Parallel()
	others := make([]social.UserID, 100)
	for i := range others {
		others[i] = social.UserID{ID: id.New()}
	}
	for range 500 {
		v := New(allFollowed{}, Options{}).Viewer(social.UserID{ID: id.New()})
		var lists sync.WaitGroup
		for range 4 {
			lists.Go(func() {
				relations, err := v.listed(t.Context(), others)
				for _, other := range others {
					if err != nil || !relations[other].Follows {
						t.Errorf("the relation to someone followed is %+v, %v", relations[other], err)
						return
					}
				}
			})
		}
		if lists.Wait(); t.Failed() {
			return
		}
	}
}
