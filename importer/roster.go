package importer

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// roster is the list of a circle's future members.
type roster struct {
	circle  social.CircleID
	owner   Person
	members []Person
}

// following lists everyone's built-in circle: the friends.
func following(n *Networks) []roster {
	friendsOf := make(map[Person][]Person, len(n.People))
	for _, f := range n.Friendships {
		friendsOf[f.Low] = append(friendsOf[f.Low], f.High)
		friendsOf[f.High] = append(friendsOf[f.High], f.Low)
	}
	rosters := make([]roster, 0, len(friendsOf))
	for _, p := range slices.Sorted(maps.Keys(friendsOf)) {
		rosters = append(rosters, roster{social.BuiltInCircleID(UserID(p)), p, friendsOf[p]})
	}
	return rosters
}

// follows fills the built-in circles.
func (l *loading) follows(ctx context.Context, n *Networks) error {
	rosters := following(n)
	for some := range slices.Chunk(rosters, batchSize) {
		earlier := make([]social.CircleID, len(some))
		for i, r := range some {
			earlier[i] = earlierBuiltInID(r.owner)
		}
		there, err := l.store.Circles(ctx, earlier)
		if err != nil {
			return err
		}
		for i, circle := range earlier {
			if there[circle] != nil {
				some[i].circle = circle
			}
		}
	}
	return l.rosters(ctx, rosters, &l.summary.Follows)
}

// handMade lists the circles that were made by hand.
func handMade(n *Networks) []roster {
	rosters := make([]roster, len(n.Circles))
	for i, c := range n.Circles {
		rosters[i] = roster{circleID(c), c.Owner, c.Members}
	}
	return rosters
}

// pending is a set of memberships to store.
type pending struct {
	memberships []social.Membership
	edges       []social.EdgeID
}

func (p *pending) add(r roster, member Person) {
	p.memberships = append(p.memberships, social.Membership{Circle: r.circle, Owner: UserID(r.owner), Member: UserID(member)})
	p.edges = append(p.edges, edgeID(r.owner, member))
}

// rosters fills circles. It reads the current members first, many circles at a time, so that a
// second run has little to do.
func (l *loading) rosters(ctx context.Context, rosters []roster, count *Count) error {
	var p pending
	for some := range slices.Chunk(rosters, rosterPage) {
		there, err := l.members(ctx, some)
		if err != nil {
			return err
		}
		existing := 0
		for _, r := range some {
			for _, member := range r.members {
				if there[r.circle][UserID(member)] {
					existing++
				} else {
					p.add(r, member)
				}
			}
		}
		l.advance(existing)
		if err := l.flush(ctx, &p, batchSize, count); err != nil {
			return err
		}
	}
	return l.flush(ctx, &p, 1, count)
}

// flush stores the pending memberships in batches, while there are at least that many.
func (l *loading) flush(ctx context.Context, p *pending, least int, count *Count) error {
	for len(p.memberships) >= least {
		n := min(batchSize, len(p.memberships))
		err := batch(ctx, func(ctx context.Context) error {
			added, err := l.store.ImportMemberships(ctx, p.memberships[:n], p.edges[:n])
			if err == nil {
				count.Added += added
				count.Refused += n - added
			}
			return err
		})
		if err != nil {
			return err
		}
		p.memberships, p.edges = p.memberships[n:], p.edges[n:]
		l.advance(n)
	}
	return nil
}

// members reads the members of circles.
func (l *loading) members(ctx context.Context, rosters []roster) (map[social.CircleID]map[social.UserID]bool, error) {
	lists, err := l.nonEmpty(ctx, rosters)
	if err != nil {
		return nil, err
	}
	members := make(map[social.CircleID]map[social.UserID]bool, len(lists))
	for len(lists) > 0 {
		read, err := l.store.Members(ctx, lists)
		if err != nil {
			return nil, err
		}
		var more []social.List[social.CircleID]
		for _, list := range lists {
			if members[list.Of] == nil {
				members[list.Of] = make(map[social.UserID]bool, len(read[list]))
			}
			for _, member := range read[list] {
				members[list.Of][member.To] = true
			}
			if n := len(read[list]); n == list.Limit {
				list.After = social.Key(read[list][n-1].ID.Bytes())
				more = append(more, list)
			}
		}
		lists = more
	}
	return members, nil
}

// nonEmpty returns the lists of the circles that have members: in a first run there are none.
func (l *loading) nonEmpty(ctx context.Context, rosters []roster) ([]social.List[social.CircleID], error) {
	ids := make([]social.CircleID, len(rosters))
	for i, r := range rosters {
		ids[i] = r.circle
	}
	circles, err := l.store.Circles(ctx, ids)
	if err != nil {
		return nil, err
	}
	var lists []social.List[social.CircleID]
	for _, c := range circles {
		if c.MembersCount > 0 {
			lists = append(lists, social.List[social.CircleID]{Of: c.ID, Page: social.Page{Limit: batchSize}})
		}
	}
	return lists, nil
}
