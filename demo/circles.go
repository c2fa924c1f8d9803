package demo

import (
	"time"

	"plaza/social"
)

// circle is a circle that a person created.
type circle struct {
	owner, name string
	members     []string
}

// circles are all circles that are not built in. Their members are followed.
var circles = []circle{
	{"ada", "Family", []string{"rosa", "theo"}},
	{"ada", "Chess club", []string{"kofi", "linus", "nadia"}},
	{"ada", "Climbing", []string{"mei", "grace", "sam"}},
	{"grace", "Night shift", []string{"ada", "omar", "nadia"}},
	{"kofi", "Chess club", []string{"ada", "linus", "nadia", "theo"}},
	{"linus", "Boat crew", []string{"sam", "ada", "theo"}},
	{"mei", "Route testers", []string{"ada", "sam", "grace"}},
	{"nadia", "Observing nights", []string{"ada", "ines", "sam", "kofi"}},
	{"omar", "Regulars", []string{"ada", "linus", "grace", "sam", "ines", "kofi"}},
	{"rosa", "Family", []string{"ada", "theo"}},
	{"theo", "Family", []string{"ada", "rosa"}},
	{"ines", "Darkroom", []string{"nadia", "ada"}},
}

// follows are those that need no circle except the built-in one.
var follows = []struct {
	who      string
	followed []string
}{
	{"ada", []string{"omar", "grace", "linus", "ines", "bruno", "vic", "mei"}},
	{"omar", []string{"nadia", "mei", "rosa", "theo", "bruno"}},
	{"grace", []string{"mei", "linus", "sam", "ines", "kofi"}},
	{"linus", []string{"omar", "grace", "kofi", "nadia"}},
	{"rosa", []string{"omar", "kofi", "grace"}},
	{"theo", []string{"mei", "linus", "nadia", "sam", "omar"}},
	{"nadia", []string{"omar", "linus", "grace", "rosa"}},
	{"sam", []string{"ada", "omar", "grace", "linus", "nadia", "mei", "ines", "kofi"}},
	{"mei", []string{"omar", "ines", "theo"}},
	{"ines", []string{"lucia", "omar", "sam", "mei", "grace", "linus"}},
	{"kofi", []string{"lucia", "omar", "rosa", "grace", "sam"}},
	{"bruno", []string{"ada", "omar", "grace", "linus", "mei", "ines", "kofi", "vic"}},
	{"vic", []string{"ada", "omar", "bruno", "nadia"}},
	{"lucia", []string{"ada", "rosa", "ines", "omar", "linus"}},
}

// circle returns the id of a person's circle.
func (s *stage) circle(owner, name string) social.CircleID {
	for i, c := range circles {
		if c.owner == owner && c.name == name {
			made := s.at(45*time.Minute + time.Duration(i)*10*time.Second)
			return social.CircleID{ID: derive(made, "user/"+owner+"/circle/"+name, 0)}
		}
	}
	panic(owner + " has no circle " + name) // the script is part of the program, and its tests play all of it
}

func (s *stage) circles() []*social.Circle {
	made := make([]*social.Circle, len(circles))
	for i, c := range circles {
		made[i] = &social.Circle{ID: s.circle(c.owner, c.name), Owner: s.user(c.owner), Name: c.name}
	}
	return made
}

// memberships adds the members to everyone's circles, one every few seconds, so that lists of
// followers have an order.
func (s *stage) memberships() (all []social.Membership, edges []social.EdgeID) {
	add := func(circle social.CircleID, owner string, members []string) {
		for _, member := range members {
			at := s.at(50*time.Minute + time.Duration(len(all))*5*time.Second)
			all = append(all, social.Membership{Circle: circle, Owner: s.user(owner), Member: s.user(member)})
			edges = append(edges, social.EdgeID{ID: derive(at, "follow/"+owner+"/"+member, 0)})
		}
	}
	for _, c := range circles {
		add(s.circle(c.owner, c.name), c.owner, c.members)
	}
	for _, f := range follows {
		add(social.BuiltInCircleID(s.user(f.who)), f.who, f.followed)
	}
	return all, edges
}
