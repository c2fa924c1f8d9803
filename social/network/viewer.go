package network

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// Viewer reads on behalf of one user, or signed out (the zero id), and returns only what that user
// may see. It caches the relations that it has read, so it must live no longer than one request or
// one live update. It is safe for concurrent use.
type Viewer struct {
	ID social.UserID
	// ShowsPeople announces that the people named by posts and comments will be requested: they are
	// then read with the relations to them. Set it before the first read.
	ShowsPeople bool

	s *Service

	hidden, hiddenByAudience atomic.Int64 // entries of lists: see collect
	held                     atomic.Int64 // see hold

	mu        sync.Mutex
	relations map[social.UserID]social.Relation
	people    map[social.UserID]*social.User // users visible to the viewer
	primed    map[social.UserID]bool         // users whose relation was set by Prime
}

// Viewer creates a Viewer that has read nothing yet.
func (s *Service) Viewer(viewer social.UserID) *Viewer {
	return &Viewer{ID: viewer, s: s, relations: map[social.UserID]social.Relation{}, people: map[social.UserID]*social.User{}, primed: map[social.UserID]bool{}}
}

// Relations reads the viewer's relation to each of the others.
func (v *Viewer) Relations(ctx context.Context, others []social.UserID) (map[social.UserID]social.Relation, error) {
	known, unknown := v.remembered(others)
	if len(unknown) == 0 {
		return known, nil
	}
	read, err := v.s.people.Relations(ctx, unknown)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, pair := range unknown {
		if pair.Other != social.MissingUser {
			v.relations[pair.Other] = read[pair]
		}
		known[pair.Other] = read[pair]
	}
	return known, nil
}

// remembered splits others, without duplicates, into those that are cached and the rest.
func (v *Viewer) remembered(others []social.UserID) (known map[social.UserID]social.Relation, unknown []social.Pair) {
	known = make(map[social.UserID]social.Relation, len(others))
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, other := range others {
		if _, done := known[other]; done {
			continue
		}
		relation, ok := v.relations[other]
		known[other] = relation
		if !ok && !other.IsZero() && other != v.ID {
			unknown = append(unknown, social.Pair{Viewer: v.ID, Other: other})
		}
	}
	return known, unknown
}

// Prime sets the viewer's relation to a user who was found by another read.
func (v *Viewer) Prime(other social.UserID, r social.Relation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.relations[other] = r
	v.primed[other] = true
}

// Users reads the users who are visible to the viewer; the others are missing in the map.
func (v *Viewer) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	users, unmet := v.met(ids)
	if len(unmet) == 0 {
		return users, nil
	}
	if v.visibilityKnown(unmet) {
		read, err := v.s.people.Users(ctx, unmet)
		for other, user := range read {
			if other == v.ID || !social.IsAway(user.Standing) {
				users[other] = user
			}
		}
		return users, err
	}
	people, err := v.readPeople(ctx, unmet)
	for other, person := range people {
		if person.IsSeen() {
			users[other] = person.User
		}
	}
	return users, err
}

// named reads the relations to people named by posts or comments, and the people too if they will
// be shown.
func (v *Viewer) named(ctx context.Context, others []social.UserID) (map[social.UserID]social.Relation, error) {
	if v.ShowsPeople {
		return v.listed(ctx, others)
	}
	return v.Relations(ctx, others)
}

// listed reads people in a list, the relations to them, and the viewer. If all of these relations
// are cached, it reads nothing.
func (v *Viewer) listed(ctx context.Context, others []social.UserID) (map[social.UserID]social.Relation, error) {
	relations, unknown := v.remembered(others)
	if len(unknown) == 0 {
		return relations, nil
	}
	delete(relations, social.UserID{}) // a tombstone has no author
	people := slices.Collect(maps.Keys(relations))
	if _, own := relations[v.ID]; !own && !v.ID.IsZero() {
		people = append(people, v.ID) // often requested next, and then needs no query
	}
	_, unmet := v.met(people)
	read, err := v.readPeople(ctx, unmet)
	if err != nil {
		return nil, err
	}
	relations, _ = v.remembered(people) // also those that another read has cached since
	for _, other := range unmet {
		relations[other] = read[other].Relation
	}
	return relations, nil
}

// visibilityKnown reports whether the users are known to be visible to the viewer. All others are
// always read with the relation to them, even if cached, so that a hidden user takes as long as one
// who does not exist.
func (v *Viewer) visibilityKnown(users []social.UserID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ID.IsZero() || !slices.ContainsFunc(users, func(other social.UserID) bool {
		isPrimed := v.primed[other] && social.CanSeeUser(v.relations[other])
		return other != v.ID && !isPrimed
	})
}

// met splits ids into the users who are cached, and the rest.
func (v *Viewer) met(ids []social.UserID) (users map[social.UserID]*social.User, unmet []social.UserID) {
	users = make(map[social.UserID]*social.User, len(ids))
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, other := range ids {
		if user := v.people[other]; user != nil {
			users[other] = user
		} else {
			unmet = append(unmet, other)
		}
	}
	return users, unmet
}

// readPeople reads users and the relations to them, and caches both.
func (v *Viewer) readPeople(ctx context.Context, ids []social.UserID) (map[social.UserID]social.Person, error) {
	people, err := v.s.people.People(ctx, v.ID, ids)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, other := range ids {
		person := people[other]
		if other != social.MissingUser {
			v.relations[other] = person.Relation
		}
		if person.IsSeen() {
			v.people[other] = person.User
		}
	}
	return people, nil
}

// UsersByHandle reads users by handle (lower case); those the viewer may not see, or who do not
// exist, are missing from the map.
func (v *Viewer) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	found, err := v.s.store.UsersByHandle(ctx, handles)
	if err != nil {
		return nil, err
	}
	ids := []social.UserID{social.MissingUser}
	for _, user := range found {
		ids = append(ids, user.ID)
	}
	seen, err := v.Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ string, user *social.User) bool { return seen[user.ID] == nil })
	return found, nil
}

// UserByHandle reads a user. Error: NOT_FOUND.
func (v *Viewer) UserByHandle(ctx context.Context, handle string) (*social.User, error) {
	normal, ok := social.NormalHandle(handle)
	if !ok {
		return nil, fault.NotFound("handle", "user")
	}
	users, err := v.s.store.UsersByHandle(ctx, []string{normal})
	if err != nil {
		return nil, err
	}
	user := users[normal]
	if user == nil {
		user = &social.User{ID: social.MissingUser}
	}
	relations, err := v.recallOrRead(ctx, []social.UserID{user.ID}, func(relations map[social.UserID]social.Relation) bool { return social.CanSeeUser(relations[user.ID]) })
	if err != nil {
		return nil, err
	}
	if user.ID == social.MissingUser || !social.CanSeeUser(relations[user.ID]) {
		return nil, fault.NotFound("handle", "user")
	}
	return user, nil
}

// user reads one user who is visible to the viewer. Error: NOT_FOUND, naming the field.
func (v *Viewer) user(ctx context.Context, field string, id social.UserID) (*social.User, error) {
	users, err := v.Users(ctx, []social.UserID{id})
	if err != nil {
		return nil, err
	}
	if users[id] == nil {
		return nil, fault.NotFound(field, "user")
	}
	return users[id], nil
}

// Posts reads the posts that are visible to the viewer; the others are missing in the map.
func (v *Viewer) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	return inParts(ids, paging.ReadTogether, func(ids []social.PostID) (map[social.PostID]*social.Post, error) { return v.posts(ctx, ids) })
}

func (v *Viewer) posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	posts, err := v.s.store.Posts(ctx, ids)
	if err != nil {
		return nil, err
	}
	authors := make([]social.UserID, 0, len(posts))
	for _, p := range posts {
		authors = append(authors, p.Author)
	}
	areSeen := func(relations map[social.UserID]social.Relation) bool {
		return !slices.ContainsFunc(ids, func(id social.PostID) bool {
			return posts[id] == nil || !social.CanSeePost(v.ID, posts[id], relations[posts[id].Author])
		})
	}
	relations, err := v.recallOrRead(ctx, authors, areSeen)
	if err != nil {
		return nil, err
	}
	for id, p := range posts {
		if !social.CanSeePost(v.ID, p, relations[p.Author]) {
			delete(posts, id)
		}
	}
	return posts, hold(v, maps.Values(posts))
}

// recallOrRead returns the relations to the people that objects name: from memory if all of them
// are known, and are enough to show what is requested. Otherwise it makes the same reads, whether
// the objects are hidden or absent.
func (v *Viewer) recallOrRead(ctx context.Context, people []social.UserID, areEnough func(map[social.UserID]social.Relation) bool) (map[social.UserID]social.Relation, error) {
	relations, unknown := v.remembered(people)
	if len(unknown) == 0 && areEnough(relations) {
		return relations, nil
	}
	areKnown, err := v.recall(ctx, relations, unknown)
	if err != nil || areKnown && areEnough(relations) {
		return relations, err
	}
	return v.named(ctx, append(people, social.MissingUser))
}

// recall adds the relations that are in memory, and reports whether these are all. Like listed, it
// also looks for the viewer, who is often requested next.
func (v *Viewer) recall(ctx context.Context, relations map[social.UserID]social.Relation, unknown []social.Pair) (bool, error) {
	others := make([]social.UserID, len(unknown), len(unknown)+1)
	for i, pair := range unknown {
		others[i] = pair.Other
	}
	if len(others) > 0 && !v.ID.IsZero() {
		others = append(others, v.ID)
	}
	known, err := v.s.people.Known(ctx, v.ID, others)
	if err != nil {
		return false, err
	}
	v.cachePeople(known) // also if some are missing: the same reads follow, whether these are hidden or absent
	for _, pair := range unknown {
		person, ok := known[pair.Other]
		if !ok {
			return false, nil
		}
		relations[pair.Other] = person.Relation
	}
	return true, nil
}

// recallOr returns the relations to people from memory if all of them are known, and otherwise
// those that it reads.
func (v *Viewer) recallOr(ctx context.Context, people []social.UserID, read func(context.Context, []social.UserID) (map[social.UserID]social.Relation, error)) (map[social.UserID]social.Relation, error) {
	relations, unknown := v.remembered(people)
	if len(unknown) == 0 {
		return relations, nil
	}
	if areKnown, err := v.recall(ctx, relations, unknown); err != nil || areKnown {
		return relations, err
	}
	return read(ctx, people)
}

// cachePeople caches people who are in memory.
func (v *Viewer) cachePeople(people map[social.UserID]social.Person) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for other, person := range people {
		v.relations[other] = person.Relation
		if person.IsSeen() {
			v.people[other] = person.User
		}
	}
}

// Histories reads the earlier versions of posts that are visible to the viewer, oldest first; posts
// without any are missing in the map. Posts that were never edited need no read.
func (v *Viewer) Histories(ctx context.Context, posts []*social.Post) (map[social.PostID][]social.Version, error) {
	var edited []social.PostID
	var authors []social.UserID
	for _, p := range posts {
		if p.Edits > 0 {
			edited, authors = append(edited, p.ID), append(authors, p.Author)
		}
	}
	if len(edited) == 0 {
		return nil, nil
	}
	relations, err := v.Relations(ctx, authors)
	if err != nil {
		return nil, err
	}
	const together = 20 // posts with up to MaxEdits versions each
	histories, err := inParts(edited, together, func(some []social.PostID) (map[social.PostID][]social.Version, error) {
		found, err := v.s.store.Histories(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, versions := range found {
			if err := hold(v, slices.Values(versions)); err != nil {
				return nil, err
			}
		}
		return found, nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range posts {
		seen := slices.DeleteFunc(histories[p.ID], func(version social.Version) bool {
			return !social.CanSeeVersion(v.ID, p, &version, relations[p.Author])
		})
		if len(seen) == 0 {
			delete(histories, p.ID)
		} else {
			histories[p.ID] = seen
		}
	}
	return histories, nil
}

// post reads one post that is visible to the viewer. Error: NOT_FOUND.
func (v *Viewer) post(ctx context.Context, id social.PostID) (*social.Post, error) {
	posts, err := v.Posts(ctx, []social.PostID{id})
	if err != nil {
		return nil, err
	}
	if posts[id] == nil {
		return nil, fault.NotFound("postId", "post")
	}
	return posts[id], nil
}

// Circles reads the viewer's own circles; the others are missing in the map.
func (v *Viewer) Circles(ctx context.Context, ids []social.CircleID) (map[social.CircleID]*social.Circle, error) {
	if v.ID.IsZero() {
		return nil, nil
	}
	circles, err := v.s.store.Circles(ctx, ids)
	if err != nil {
		return nil, err
	}
	for id, c := range circles {
		if c.Owner != v.ID {
			delete(circles, id)
		}
	}
	return circles, nil
}

// circle reads one of the viewer's own circles. Error: NOT_FOUND.
func (v *Viewer) circle(ctx context.Context, id social.CircleID) (*social.Circle, error) {
	circles, err := v.Circles(ctx, []social.CircleID{id})
	if err != nil {
		return nil, err
	}
	if circles[id] == nil {
		return nil, fault.NotFound("circleId", "circle")
	}
	return circles[id], nil
}

// builtInCircle finds the viewer's built-in circle, among all circles if an earlier version has
// made it. Error: ErrAccountGone.
func (v *Viewer) builtInCircle(ctx context.Context) (social.CircleID, error) {
	own := social.BuiltInCircleID(v.ID)
	found, err := v.Circles(ctx, []social.CircleID{own})
	if err != nil || found[own] != nil {
		return own, err
	}
	circles, err := v.s.store.CirclesOf(ctx, v.ID, social.Page{Limit: social.MaxCircles})
	for _, c := range circles {
		if c.IsDefault {
			return c.ID, nil
		}
	}
	if err == nil {
		err = social.ErrAccountGone
	}
	return social.CircleID{}, err
}

// CirclesHolding reads which of the viewer's own circles contain each user, oldest first.
func (v *Viewer) CirclesHolding(ctx context.Context, users []social.UserID) (map[social.UserID][]social.CircleID, error) {
	toViewer, err := v.toViewer(ctx, users)
	holding := make(map[social.UserID][]social.CircleID, len(users))
	for user, relation := range toViewer {
		holding[user] = byAge(relation.Circles)
	}
	return holding, err
}

// byAge returns circles in the order in which they were created. It does not change the slice,
// which may be part of a relation in memory.
func byAge(circles []social.CircleID) []social.CircleID {
	return slices.SortedFunc(slices.Values(circles), func(a, b social.CircleID) int { return a.Compare(b.ID) })
}

// toViewer reads the relations in the opposite direction: those of others to the viewer.
func (v *Viewer) toViewer(ctx context.Context, others []social.UserID) (map[social.UserID]social.Relation, error) {
	if v.ID.IsZero() || len(others) == 0 {
		return nil, nil
	}
	pairs := make([]social.Pair, len(others))
	for i, other := range others {
		pairs[i] = social.Pair{Viewer: other, Other: v.ID}
	}
	read, err := v.s.people.Relations(ctx, pairs)
	toViewer := make(map[social.UserID]social.Relation, len(others))
	for pair, relation := range read {
		toViewer[pair.Viewer] = relation
	}
	return toViewer, err
}

// Reactions reads the viewer's own reactions to posts; posts without one are missing in the map.
func (v *Viewer) Reactions(ctx context.Context, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	if v.ID.IsZero() {
		return nil, nil
	}
	return v.s.store.Reactions(ctx, v.ID, posts)
}

// Votes reads the options that the viewer voted for; polls without a vote are missing in the map.
func (v *Viewer) Votes(ctx context.Context, polls []social.PostID) (map[social.PostID]int, error) {
	if v.ID.IsZero() {
		return nil, nil
	}
	return v.s.store.Votes(ctx, v.ID, polls)
}

// CanPostOnWalls reports for each of the users whether the viewer may post on their wall.
func (v *Viewer) CanPostOnWalls(ctx context.Context, owners []*social.User) (map[*social.User]bool, error) {
	others := make([]social.UserID, 0, len(owners))
	for _, owner := range owners {
		if owner.ID != v.ID {
			others = append(others, owner.ID)
		}
	}
	toViewer, err := v.toViewer(ctx, others)
	if err != nil {
		return nil, err
	}
	can := make(map[*social.User]bool, len(owners))
	for _, owner := range owners {
		can[owner] = social.CanPostOnWall(owner, v.ID, toViewer[owner.ID])
	}
	return can, nil
}

// CanReply reports whether the viewer, who has this relation to the post's author, may reply to a
// comment that they see on it.
func (v *Viewer) CanReply(c *social.Comment, p *social.Post, toAuthor social.Relation) bool {
	return social.CanReply(v.ID, c, p, toAuthor, v.s.maxDepth)
}

// MutedThreads reads which of the posts' threads the viewer mutes; the others are missing in the
// map. Posts whose thread no user mutes need no read.
func (v *Viewer) MutedThreads(ctx context.Context, posts []*social.Post) (map[social.PostID]bool, error) {
	var some []social.ThreadMute
	for _, p := range posts {
		if p.Muters > 0 {
			some = append(some, social.ThreadMute{Post: p.ID, User: v.ID})
		}
	}
	if v.ID.IsZero() || len(some) == 0 {
		return nil, nil
	}
	found, err := v.s.store.MutedThreads(ctx, some)
	muted := make(map[social.PostID]bool, len(found))
	for m, is := range found {
		muted[m.Post] = is
	}
	return muted, err
}

// CanVote reports whether the viewer may vote in a poll that they see.
func (v *Viewer) CanVote(p *social.Poll) bool { return social.CanVote(v.ID, p, v.s.now()) }

// IsClosed reports whether a poll is closed.
func (v *Viewer) IsClosed(p *social.Poll) bool { return p.IsClosed(v.s.now()) }
