package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

var deletionCases = []testCase{
	{"DeleteUserHidesImmediately", deleteUserHidesImmediately},
	{"DeleteUserEndsSessions", deleteUserEndsSessions},
	{"DeleteUserReportsPosts", deleteUserReportsPosts},
	{"DeleteUserReportsWhatPostsLose", deleteUserReportsWhatPostsLose},
	{"DeleteUserRemovesAll", func(w *world) { w.deleteLife() }},
	{"DeleteUserTakesTheDeletedAlong", deleteUserTakesTheDeletedAlong},
	{"ImportsSkipDeletedUsers", importsSkipDeletedUsers},
}

// until waits for a condition.
func (w *world) until(is func() bool, what string) {
	w.t.Helper()
	testtime.Eventually(w.t, what, is)
}

// delete calls DeleteUser.
func (w *world) delete(user person) {
	w.t.Helper()
	w.ok(w.DeleteUser(w.ctx, user.ID, event(social.EventUserDeleted)), "DeleteUser")
}

// settleDeletion waits until all data of a user is removed.
func (w *world) settleDeletion(user person) {
	w.t.Helper()
	w.until(func() bool {
		backlog, err := w.Backlog(w.ctx)
		w.ok(err, "Backlog")
		if backlog.Dead > 0 {
			w.t.Fatalf("background work was given up: %+v", backlog.Faults)
		}
		return backlog.Waiting == 0
	}, "the background work is done")
	left, err := w.IsDeleting(w.ctx, user.ID)
	w.ok(err, "IsDeleting")
	w.same(left, false, "whether something is left, though there is no work")
}

func deleteUserHidesImmediately(w *world) {
	ada, cem := w.user(), w.user()
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	ben := person{u.User.ID, u.Following.ID}
	s := social.Session{TokenHash: [32]byte{1, 2}, User: ben.ID, ExpiresAt: now().Add(time.Hour)}
	w.ok(w.InsertSession(w.ctx, s), "InsertSession")
	w.follow(ada, ben)
	w.did(true)(w.block(cem, ben))
	for _, pair := range []social.Pair{{Viewer: ada.ID, Other: ben.ID}, {Other: ben.ID}} {
		relations, err := w.Relations(w.ctx, []social.Pair{pair})
		w.ok(err, "Relations")
		w.same(relations[pair].Gone, false, "Gone before the deletion")
	}
	w.fails(w.DeleteUser(w.ctx, newUserID(), event(social.EventUserDeleted)), social.ErrNotFound, "deleting a missing user")
	w.delete(ben)
	w.fails(w.DeleteUser(w.ctx, ben.ID, event(social.EventUserDeleted)), social.ErrNotFound, "deleting a user again")

	absent(w, "user", w.Users, ben.ID)
	absent(w, "handle", w.UsersByHandle, u.User.Handle)
	named, err := w.UsersNamed(w.ctx, social.NameKey(u.User.Name), social.Page{Limit: 5})
	w.ok(err, "UsersNamed")
	w.same(len(named), 0, "the number of users of that name")
	_, _, err = w.PasswordHash(w.ctx, u.User.Handle)
	w.fails(err, social.ErrNotFound, "the password")
	_, err = w.Session(w.ctx, s.TokenHash, now())
	w.fails(err, social.ErrNotFound, "the session")
	pairs := []social.Pair{
		{Viewer: ada.ID, Other: ben.ID},
		{Viewer: ben.ID, Other: ada.ID},
		{Viewer: cem.ID, Other: ben.ID},
		{Viewer: ben.ID, Other: newUserID()},
		{Other: ben.ID},
	}
	relations, err := w.Relations(w.ctx, append(pairs, social.Pair{Viewer: ada.ID, Other: cem.ID}, social.Pair{Other: ada.ID}))
	w.ok(err, "Relations")
	for i, pair := range pairs {
		w.same(relations[pair].Gone, true, "Gone of pair %d", i)
		delete(relations, pair)
	}
	for pair, r := range relations {
		w.same(r.Gone, false, "Gone of %v and %v, who are there", pair.Viewer, pair.Other)
	}
	again := newUser()
	again.User.Handle = u.User.Handle
	w.ok(w.InsertUser(w.ctx, again, event(social.EventUserSignedUp)), "signing up with the handle of a deleted user")
	w.settleDeletion(ben)
	w.same(only(w, w.UsersByHandle, u.User.Handle).ID, again.User.ID, "whose handle it is")
}

func deleteUserEndsSessions(w *world) {
	ada, ben := w.user(), w.user()
	want := map[[32]byte]bool{{1}: true, {2}: true, {3}: true}
	for token := range want {
		w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: token, User: ben.ID, ExpiresAt: now().Add(time.Hour)}), "InsertSession")
	}
	w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: [32]byte{4}, User: ada.ID, ExpiresAt: now().Add(time.Hour)}), "InsertSession")
	tail := w.tail()
	deleted := event(social.EventUserDeleted)
	w.ok(w.DeleteUser(w.ctx, ben.ID, deleted), "DeleteUser")
	w.settleDeletion(ben)
	ended, announced := map[[32]byte]bool{}, false
	for _, e := range tail.rest() {
		if announced = announced || e.ID == deleted.ID; e.Kind == social.EventSessionEnded {
			ended[e.Session] = true
		}
	}
	w.same(ended, want, "the sessions that events report")
	w.same(announced, true, "whether there is the deletion's own event")
	_, err := w.Session(w.ctx, [32]byte{4}, now())
	w.ok(err, "another user's session")
}

// deleteUserReportsPosts: the events of a deleted user's posts name no user, not even the owners of
// the walls that they were on.
func deleteUserReportsPosts(w *world) {
	ada, ben := w.user(), w.user()
	onWall := statusBy(ben)
	onWall.WallOwner = ada.ID
	want := map[social.PostID]int{w.status(ben).ID: 1, w.poll(ben, 2).ID: 1, w.insert(onWall).ID: 1}
	tail := w.tail()
	w.delete(ben)
	w.settleDeletion(ben)
	w.same(tail.posts(social.EventPostDeleted), want, "the posts that events report")
}

// deleteUserReportsWhatPostsLose: each reaction and vote of a deleted user, and each post that
// leaves their wall, has an event that names no user. Muted threads have none.
func deleteUserReportsWhatPostsLose(w *world) {
	ada, ben := w.user(), w.user()
	onWall := statusBy(ada)
	onWall.WallOwner = ben.ID
	liked, poll, moved, muted := w.status(ada), w.poll(ada, 2), w.insert(onWall), w.status(ada)
	w.ok(w.PutReaction(w.ctx, liked.ID, ben.ID, social.ReactionLike, event(social.EventReactionAdded)), "PutReaction")
	w.ok(w.PutVote(w.ctx, poll.ID, ben.ID, 1, event(social.EventPollVoted)), "PutVote")
	w.did(true)(w.MuteThread(w.ctx, muted.ID, ben.ID, event(social.EventThreadMuted)))
	tail := w.tail()
	w.delete(ben)
	w.settleDeletion(ben)
	w.same(tail.posts(social.EventPostReduced), map[social.PostID]int{liked.ID: 1, poll.ID: 1, moved.ID: 1}, "the posts that events report")
}

// life is a user who does everything, among others who do the same to them.
type life struct {
	ada, ben, cem, dan, eve, fay person // ben is the user to delete

	adas, adasPoll, cems *social.Post // cems is on ben's wall
	bens                 []*social.Post
	friends              social.CircleID // ada's other circle
	thread               []*social.Comment
	property             social.PropertyID
	needles              []string
}

// live creates a life.
func (w *world) live() *life {
	w.t.Helper()
	u := newUser()
	u.User.Name = "Benjamin Unmistakable"
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	others := w.users(5)
	l := &life{ada: others[0], ben: person{u.User.ID, u.Following.ID}, cem: others[1], dan: others[2], eve: others[3], fay: others[4]}
	l.needles = []string{string(l.ben.ID.Bytes()), l.ben.ID.ID.String(), u.User.Handle, u.User.Name, social.NameKey(u.User.Name), "said by ben"}
	w.connect(l)
	w.talk(l)
	w.notifyAbout(l)
	l.needles = append(l.needles, string(w.clickAds(l.ben.ID).Bytes()))
	for _, reader := range []person{l.ada, l.ben, l.cem} { // where lists are kept, they are built
		_, err := w.News(w.ctx, reader.ID, social.Page{Limit: 50})
		w.ok(err, "News")
	}
	return l
}

func (w *world) connect(l *life) {
	l.friends = w.circle(l.ada, "Friends")
	w.follow(l.ada, l.ben, l.cem)
	w.join(l.friends, l.ada, l.ben)
	w.follow(l.cem, l.ben)
	w.follow(l.ben, l.ada, l.cem)
	w.join(w.circle(l.ben, "Friends of Benjamin Unmistakable"), l.ben, l.ada)
	w.did(true)(w.block(l.dan, l.ben))
	w.did(true)(w.block(l.ben, l.eve))
	w.did(true)(w.mute(l.ben, l.cem))
	w.did(true)(w.mute(l.cem, l.ben))
	w.did(true)(w.mute(l.eve, l.ben))
	w.follow(l.fay, l.ben)
	w.follow(l.ben, l.fay)
	w.did(true)(w.Unfollow(w.ctx, l.fay.ID, l.ben.ID, event(social.EventUnfollowed)))
	w.did(true)(w.Unfollow(w.ctx, l.ben.ID, l.fay.ID, event(social.EventUnfollowed)))
	s := social.Session{TokenHash: [32]byte{9}, User: l.ben.ID, ExpiresAt: now().Add(time.Hour)}
	w.ok(w.InsertSession(w.ctx, s), "InsertSession")
	p := w.property("city", social.PropertyText)
	l.property = p.ID
	for _, user := range []person{l.ada, l.ben} {
		value := social.ProfileValue{Property: p.ID, Visibility: social.VisibleToAll, Value: social.TextValue("said by ben"), Sought: social.TextValue("said by ben")}
		if user == l.ada {
			value.Value, value.Sought = social.TextValue("Ulm"), social.TextValue("ulm")
		}
		w.ok(w.SetProfileValue(w.ctx, user.ID, value, event(social.EventProfileFilledIn)), "SetProfileValue")
	}
}

func (w *world) talk(l *life) {
	say := func(author, wall person, kind social.AudienceKind) *social.Post {
		p := statusBy(author)
		p.WallOwner, p.Audience.Kind = wall.ID, kind
		if author == l.ben {
			p.Content.Status.Text = "said by ben"
		}
		return w.insert(p)
	}
	comment := func(on *social.Post, parent *social.Comment, author person) *social.Comment {
		c := newComment(on, parent, author)
		if author == l.ben {
			c.Text = "said by ben"
		}
		w.ok(w.insertComment(c), "InsertComment")
		l.thread = append(l.thread, c)
		return c
	}
	l.adas, l.adasPoll = w.status(l.ada), w.poll(l.ada, 2)
	l.cems = say(l.cem, l.ben, social.AudiencePublic)
	l.bens = []*social.Post{
		say(l.ben, l.ben, social.AudiencePublic), say(l.ben, l.ben, social.AudienceCircles),
		say(l.ben, l.ada, social.AudiencePublic), w.poll(l.ben, 2),
	}
	for _, p := range []*social.Post{l.adas, l.cems, l.bens[0], l.bens[2]} {
		for i, user := range []person{l.ada, l.ben, l.cem} {
			kind := []social.ReactionKind{social.ReactionLike, social.ReactionLike, social.ReactionWow}[i]
			w.ok(w.PutReaction(w.ctx, p.ID, user.ID, kind, event(social.EventReactionAdded)), "PutReaction")
			w.did(true)(w.MuteThread(w.ctx, p.ID, user.ID, event(social.EventThreadMuted)))
		}
		root := comment(p, nil, l.ben)
		reply := comment(p, root, l.ada)
		comment(p, reply, l.ben)
		comment(p, nil, l.ben)
		comment(p, nil, l.cem)
	}
	for _, poll := range []*social.Post{l.adasPoll, l.bens[3]} {
		for i, user := range []person{l.ada, l.ben, l.cem} {
			w.ok(w.PutVote(w.ctx, poll.ID, user.ID, i%2, event(social.EventPollVoted)), "PutVote")
		}
	}
	edited := *l.bens[0]
	edited.Revision++
	replaced := &social.Version{Content: edited.Content, Audience: edited.Audience, EditedAt: now()}
	w.ok(w.UpdatePost(w.ctx, &edited, replaced, event(social.EventPostEdited)), "UpdatePost")
}

// notifyAbout notifies ben of the others, and the others of ben.
func (w *world) notifyAbout(l *life) {
	w.t.Helper()
	n := w.notifier()
	for _, p := range []*social.Post{l.adas, l.cems} {
		group := social.NotificationGroup{To: p.Author, Kind: social.NotifyReaction, Post: p.ID}
		n.notify(notice(group, l.ben, l.dan)...)
	}
	n.notify(notice(social.NotificationGroup{To: l.ben.ID, Kind: social.NotifyFollow}, l.ada, l.cem)...)
	n.notify(notice(social.NotificationGroup{To: l.cem.ID, Kind: social.NotifyFollow}, l.ben)...)
	n.notify(lost(notice(followed(l.ben), l.cem)[0], false))
	n.notify(commented(l.ada, l.adas.ID, l.ben, newCommentID()), commented(l.ada, l.adas.ID, l.ben, newCommentID())) // all acts of a notification
	w.setKinds(l.ben, false, social.NotifyFollow)
	w.setKinds(l.cem, false, social.NotifyFollow)
}

// deleteLife creates a life, deletes its user, and checks what is left.
func (w *world) deleteLife() *life {
	w.t.Helper()
	l := w.live()
	w.delete(l.ben)
	w.settleDeletion(l.ben)
	w.checkRemains(l)
	return l
}

// checkRemains checks that all data of ben is removed, and all counts of the others.
func (w *world) checkRemains(l *life) {
	w.t.Helper()
	for _, p := range l.bens {
		absent(w, "post", w.Posts, p.ID)
	}
	absent(w, "profile", w.Profiles, l.ben.ID)
	circles, err := w.CirclesOf(w.ctx, l.ben.ID, everything)
	w.ok(err, "CirclesOf")
	w.same(len(circles), 0, "the number of circles")
	w.same(len(whole(w, w.CommentsBy, l.ben.ID)), 0, "the number of comments")
	w.same(len(whole(w, w.Followers, l.ben.ID))+len(whole(w, w.Following, l.ben.ID))+len(whole(w, w.Wall, l.ben.ID)), 0, "the length of all lists")
	for name, c := range map[string]struct {
		of                   person
		followers, following int
	}{"ada": {l.ada, 0, 1}, "cem": {l.cem, 1, 0}, "fay": {l.fay, 0, 0}, "dan": {l.dan, 0, 0}} {
		u := w.getUser(c.of.ID)
		w.same([]int{u.FollowersCount, u.FollowingCount}, []int{c.followers, c.following}, "what %s counts", name)
	}
	w.same([]int{w.getCircle(l.ada.Following).MembersCount, w.getCircle(l.friends).MembersCount, w.getCircle(l.cem.Following).MembersCount},
		[]int{1, 0, 0}, "the numbers of members")
	blocked, err := w.Blocked(w.ctx, l.dan.ID, everything)
	w.ok(err, "Blocked")
	muted, err := w.Muted(w.ctx, l.eve.ID, everything)
	w.ok(err, "Muted")
	w.same(len(blocked)+len(muted), 0, "the number of blocks and mutes")
	w.same([]string{w.notified(l.ben), w.notified(l.ada), w.notified(l.cem)}, []string{"", "REACTION by 1", "REACTION by 1"}, "the notifications")
	w.same(w.changes(l.ben), []int(nil), "the losses")
	w.same(w.silent(l.ben, l.cem), map[social.UserID][]social.NotificationKind{l.cem.ID: {social.NotifyFollow}}, "the kinds that are off")
	w.checkPostsAround(l)
}

func (w *world) checkPostsAround(l *life) {
	w.t.Helper()
	for _, p := range []*social.Post{l.adas, l.cems} {
		got := w.getPost(p.ID)
		w.same(got.Reactions, map[social.ReactionKind]int{social.ReactionLike: 1, social.ReactionWow: 1}, "the reactions")
		w.same([]int{got.Muters, got.CommentCount}, []int{2, 2}, "the muters and comments")
		var want []string
		for _, c := range l.thread {
			switch {
			case c.Post != p.ID || c.Author == l.ben.ID && c != l.threadOf(p)[0]:
			case c.Author == l.ben.ID:
				want = append(want, fmt.Sprintf("depth 1, 1 replies, deleted true, author %v", social.UserID{}.ID))
			default:
				want = append(want, fmt.Sprintf("depth %d, 0 replies, deleted false, author %v", c.Depth(), c.Author.ID))
			}
		}
		thread := w.checkThread(p.ID, len(want))
		w.same(shape(thread), want, "the thread")
	}
	w.same(w.getPost(l.adasPoll.ID).Votes, []int{2, 0}, "the votes")
	moved := w.getPost(l.cems.ID)
	w.same(moved.WallOwner, l.cem.ID, "the owner of the wall of a post that was on the deleted user's wall")
	wall := whole(w, w.Wall, l.cem.ID)
	w.same(len(wall) == 1 && wall[0].ID == l.cems.ID, true, "whether it is on its author's wall")
	w.same(len(whole(w, w.Wall, l.ada.ID)), 2, "the number of posts on ada's wall")
	news, err := w.News(w.ctx, l.ada.ID, everything)
	w.ok(err, "News")
	var ids []social.PostID
	for _, p := range news {
		ids = append(ids, p.ID)
	}
	w.same(ids, []social.PostID{l.cems.ID, l.adasPoll.ID, l.adas.ID}, "ada's news")
	incoming, err := w.Incoming(w.ctx, l.ben.ID, everything)
	w.ok(err, "Incoming")
	w.same(len(incoming), 0, "the number of posts in Incoming")
}

func (l *life) threadOf(p *social.Post) []*social.Comment {
	return slices.DeleteFunc(slices.Clone(l.thread), func(c *social.Comment) bool { return c.Post != p.ID })
}

// deleteUserTakesTheDeletedAlong: people who follow each other, and write to each other, delete
// their accounts at the same time.
func deleteUserTakesTheDeletedAlong(w *world) {
	people := w.users(6)
	for i, one := range people {
		for _, other := range people[i+1:] {
			w.follow(one, other)
			w.follow(other, one)
			p := statusBy(one)
			p.WallOwner = other.ID
			w.comment(w.insert(p), nil, other)
		}
	}
	left := people[5]
	errs := together(5, func(i int) error { return w.DeleteUser(w.ctx, people[i].ID, event(social.EventUserDeleted)) })
	w.same(w.tally(errs), 5, "the number of deletions")
	for _, p := range people[:5] {
		w.settleDeletion(p)
	}
	u := w.getUser(left.ID)
	w.same([]int{u.FollowersCount, u.FollowingCount, w.getCircle(left.Following).MembersCount}, []int{0, 0, 0}, "the counts of a remaining user")
	for _, p := range people {
		w.same(len(whole(w, w.Wall, p.ID))+len(whole(w, w.PostsBy, p.ID))+len(whole(w, w.Followers, p.ID))+len(whole(w, w.CommentsBy, p.ID)), 0, "the length of lists")
	}
}

// importsSkipDeletedUsers: a repeated import does not restore a deleted user.
func importsSkipDeletedUsers(w *world) {
	users := []social.NewUser{newUser(), newUser()}
	gone, there := users[0], users[1]
	circle := &social.Circle{ID: newCircleID(), Owner: gone.User.ID, Name: "Friends"}
	memberships := []social.Membership{
		{Circle: there.Following.ID, Owner: there.User.ID, Member: gone.User.ID},
		{Circle: circle.ID, Owner: gone.User.ID, Member: there.User.ID},
	}
	load := func() (n []int) {
		added, err := w.ImportUsers(w.ctx, users)
		w.ok(err, "ImportUsers")
		circles, err := w.ImportCircles(w.ctx, []*social.Circle{circle})
		w.ok(err, "ImportCircles")
		members, err := w.ImportMemberships(w.ctx, memberships, []social.EdgeID{newEdgeID(), newEdgeID()})
		w.ok(err, "ImportMemberships")
		return []int{added, circles, members}
	}
	w.same(load(), []int{2, 1, 2}, "what was added")
	w.delete(person{gone.User.ID, gone.Following.ID})
	w.settleDeletion(person{gone.User.ID, gone.Following.ID})
	w.same(load(), []int{0, 0, 0}, "what was added again")
	absent(w, "user", w.Users, gone.User.ID)
	absent(w, "circle", w.Circles, circle.ID)
	w.same(w.getUser(there.User.ID).FollowersCount, 0, "the number of followers")
}

// DeleteLife creates a user who does everything in a store, and deletes them, with all checks of
// the contract. It returns the texts and bytes that identify them, or that they wrote: no document
// and no row may contain any of them, except those that the decision record allows.
func DeleteLife(t *testing.T, open Open) (store storage.Store, needles []string) {
	t.Helper()
	w := newWorld(t, open)
	l := w.deleteLife()
	return w.Store, l.needles
}

// DeletionRace deletes a user while they and 16 others write to and about them through the service.
// sweep does immediately what the engine does some minutes after a deletion. It returns what
// identifies the deleted user, as DeleteLife does.
func DeletionRace(t *testing.T, open Open, sweep func(storage.Store)) (store storage.Store, needles []string) {
	t.Helper()
	w := newWorld(t, open)
	ben, others := w.user(), w.users(crowd/2)
	r := &deletionRace{world: w, service: network.New(w.Store, network.Options{}), ben: ben, others: others}
	r.fill()
	deleted := make(chan struct{})
	var writers sync.WaitGroup
	for i := range crowd {
		writers.Go(func() { r.writeUntil(i, deleted) })
	}
	w.until(func() bool { return r.rounds() >= 2 }, "every writer writes")
	w.delete(ben)
	close(deleted)
	writers.Wait()
	w.settleDeletion(ben)
	sweep(w.Store)
	w.settleDeletion(ben)
	r.check()
	return w.Store, []string{string(ben.ID.Bytes()), ben.ID.ID.String()}
}

type deletionRace struct {
	*world
	service *network.Service
	ben     person
	others  []person
	posts   []*social.Post // of the others, one each
	bens    []*social.Post
	mu      sync.Mutex
	done    map[int]int
}

func (r *deletionRace) fill() {
	r.done = map[int]int{}
	for _, other := range r.others {
		r.posts = append(r.posts, r.poll(other, 2))
		r.bens = append(r.bens, r.status(r.ben))
	}
}

// rounds returns how often the slowest writer has written.
func (r *deletionRace) rounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.done) < crowd {
		return 0
	}
	least := 1 << 30
	for _, n := range r.done {
		least = min(least, n)
	}
	return least
}

// writeUntil writes until ben is gone, and a few times more.
func (r *deletionRace) writeUntil(i int, deleted <-chan struct{}) {
	for n, after := i, 0; after < 2; n++ {
		select {
		case <-deleted:
			after++
		default:
		}
		err := r.write(i, n)
		var refusal *fault.Error
		if err != nil && !errors.As(err, &refusal) && !errors.Is(err, social.ErrUnavailable) {
			r.t.Errorf("writer %d: %v", i, err)
			return
		}
		r.mu.Lock()
		r.done[i]++
		r.mu.Unlock()
	}
}

// write makes one of many writes: the first half of the writers as the others to ben, the second as
// ben to the others.
func (r *deletionRace) write(i, n int) error {
	other := i % len(r.others)
	as, to, post := r.others[other].ID, r.ben.ID, r.bens[other].ID
	if i >= len(r.others) {
		as, to, post = to, as, r.posts[other].ID
	}
	ctx, s := r.ctx, r.service
	switch n % 9 {
	case 0:
		return s.Follow(ctx, as, to)
	case 1:
		_, err := s.AddComment(ctx, as, network.NewComment{Post: post, Text: "hello"})
		return err
	case 2:
		return s.React(ctx, as, post, social.ReactionLike)
	case 3:
		return s.MuteThread(ctx, as, post)
	case 4:
		content := social.Content{Status: &social.Status{Text: "hello"}}
		_, err := s.CreatePost(ctx, as, network.NewPost{Content: content, Audience: social.Audience{Kind: social.AudienceCircles}, WallOwner: to})
		return err
	case 5:
		return s.Mute(ctx, as, to)
	case 6:
		return s.Unfollow(ctx, as, to)
	case 7:
		if i < len(r.others) {
			return nil // ben's posts are not polls
		}
		return s.Vote(ctx, as, post, n%2)
	default:
		if _, err := s.CreateCircle(ctx, as, fmt.Sprint("circle ", i, " ", n)); err != nil {
			return err
		}
		return s.Unmute(ctx, as, to)
	}
}

// check compares all counts with the lists.
func (r *deletionRace) check() {
	r.t.Helper()
	for i, other := range r.others {
		u := r.getUser(other.ID)
		r.same([]int{u.FollowersCount, u.FollowingCount, r.getCircle(other.Following).MembersCount}, []int{0, 0, 0}, "what %d counts", i)
		p := r.getPost(r.posts[i].ID)
		r.same([]int{p.CommentCount, len(p.Reactions), p.Muters, p.Votes[0], p.Votes[1]}, []int{0, 0, 0, 0, 0}, "what the post of %d counts", i)
		for _, p := range whole(r.world, r.Wall, other.ID) {
			r.same([]social.UserID{p.Author, p.WallOwner}, []social.UserID{other.ID, other.ID}, "whose the posts on the wall of %d are", i)
		}
		muted, err := r.Muted(r.ctx, other.ID, everything)
		r.ok(err, "Muted")
		r.same(len(muted), 0, "the number of mutes")
	}
}

// DeleteStar deletes a user with n followers, and checks the followers' counts. It returns how long
// that took, including the background work. It calls begin right before.
func DeleteStar(t *testing.T, open Open, followers int, begin func()) time.Duration {
	t.Helper()
	w := newWorld(t, open)
	star := w.users(1)[0]
	p := w.status(star)
	var some []person
	for left := followers; left > 0; left -= 1000 {
		some = w.users(min(left, 1000))
		var all []social.Membership
		var edges []social.EdgeID
		for _, fan := range some {
			all = append(all, social.Membership{Circle: fan.Following, Owner: fan.ID, Member: star.ID})
			edges = append(edges, newEdgeID())
		}
		_, err := w.ImportMemberships(w.ctx, all, edges)
		w.ok(err, "ImportMemberships")
	}
	w.ok(settle(w.ctx, w.Store), "background work")
	w.same(w.getUser(star.ID).FollowersCount, followers, "the number of followers")
	begin()
	began := time.Now()
	w.delete(star)
	w.until(func() bool {
		left, err := w.IsDeleting(w.ctx, star.ID)
		w.ok(err, "IsDeleting")
		return !left
	}, "nothing is left of the star")
	took := time.Since(began)
	absent(w, "post", w.Posts, p.ID)
	for _, fan := range some {
		w.same([]int{w.getUser(fan.ID).FollowingCount, w.getCircle(fan.Following).MembersCount}, []int{0, 0}, "what a follower counts")
	}
	w.same(len(whole(w, w.Followers, star.ID)), 0, "the number of followers that are left")
	return took
}

// Contains finds which of the needles are in what an engine has stored.
func Contains(stored []byte, needles []string) (found []string) {
	for _, needle := range needles {
		if strings.Contains(string(stored), needle) {
			found = append(found, fmt.Sprintf("%q", needle))
		}
	}
	return found
}
