package export

import (
	"context"

	"plaza/social"
)

// EvenIfAway returns a store in which one user's own account is not away: a user who is banned, or
// has deactivated the account, still gets all that is stored about them, with the people they would
// see otherwise.
func EvenIfAway(st social.Store, user social.UserID) social.Store { return present{st, user} }

type present struct {
	social.Store

	user social.UserID
}

// Relations implements social.Graph.
func (p present) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	relations, err := p.Store.Relations(ctx, pairs)
	if err != nil {
		return nil, err
	}
	var others []social.UserID
	for pair, r := range relations {
		if r.Away && pair.Viewer == p.user {
			others = append(others, pair.Other)
		}
	}
	if len(others) == 0 {
		return relations, nil
	}
	users, err := p.Store.Users(ctx, others)
	for _, other := range others {
		pair := social.Pair{Viewer: p.user, Other: other}
		r := relations[pair]
		r.Away = users[other] != nil && social.IsAway(users[other].Standing)
		relations[pair] = r
	}
	return relations, err
}

// People implements social.Graph.
func (p present) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	people, err := p.Store.People(ctx, viewer, ids)
	for id, person := range people {
		if viewer == p.user && person.User != nil {
			person.Relation.Away = social.IsAway(person.User.Standing)
			people[id] = person
		}
	}
	return people, err
}
