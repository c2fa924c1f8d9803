package storagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"plaza/social"
	"plaza/social/network"
)

// compare compares everything that a viewer can read with the model; pages are of random sizes.
func (h *history) compare(viewer int, random *rand.Rand) {
	h.t.Helper()
	v := h.service.Viewer(h.viewerID(viewer))
	a := &answers{history: h, who: viewer, v: v, random: random}
	posts := a.comparePosts()
	a.compareOwn(posts)
	a.compareHistories(posts)
	a.comparePreviews(posts)
	a.compareMutedThreads(posts)
	a.compareComments()
	a.compareThreads()
	a.compareAuthors()
	a.compareWalls()
	a.comparePostsBy()
	a.comparePeople()
	a.compareFollows()
	if viewer != signedOut {
		a.compareFeeds()
		a.compareCircles()
		a.compareBlocksAndMutes()
		a.compareRelations()
	}
	a.compareLive()
}

func (h *history) viewerID(viewer int) social.UserID {
	if viewer == signedOut {
		return social.UserID{}
	}
	return h.user(viewer)
}

// answers are what one viewer reads at one moment.
type answers struct {
	*history
	who    int
	v      *network.Viewer
	random *rand.Rand
}

// same compares an answer with the model's.
func (a *answers) same(got, want any, what string, args ...any) {
	a.t.Helper()
	if diff := difference(want, got); diff != "" {
		a.t.Fatalf("what %d reads: %s differs (-model +service):\n%s", a.who, fmt.Sprintf(what, args...), diff)
	}
}

// ok ends the test with an error that no read may have.
func (a *answers) ok(err error, what string) {
	a.t.Helper()
	if err != nil {
		a.t.Fatalf("what %d reads: %s: %v", a.who, what, err)
	}
}

// textOf describes a post that the service returned.
func (a *answers) textOf(p *social.Post) string {
	if p.EditedAt.IsZero() != (p.Edits == 0) {
		a.t.Fatalf("a post with %d earlier versions was edited at %v", p.Edits, p.EditedAt)
	}
	return postText(a.m.post(p.ID), a.m.person(p.Author), a.m.person(p.WallOwner), p.Audience.Kind, p.Content,
		p.Edits, p.CommentCount, p.Reactions, p.Votes) + settingsText(p.Replies.Kind, a.circlesOf(p.Replies.Circles), p.Order, p.Muters)
}

func (a *answers) circlesOf(ids []social.CircleID) []int {
	var circles []int
	for _, id := range ids {
		circles = append(circles, a.m.circle(id))
	}
	return circles
}

// textOfComment describes a comment that the service returned.
func (a *answers) textOfComment(c *social.Comment) string {
	author := signedOut
	if !c.Author.IsZero() {
		author = a.m.person(c.Author)
	}
	edited := !c.EditedAt.IsZero() && !c.Deleted
	return commentText(a.m.comment(c.ID), a.m.post(c.Post), a.m.comment(c.Parent), author, c.Text, edited, c.Deleted,
		c.Replies, c.Path)
}

// comparePosts reads all posts that have ever existed by their ids, and returns those that the
// viewer sees.
func (a *answers) comparePosts() []*social.Post {
	a.t.Helper()
	var ids []social.PostID
	want := map[social.PostID]string{}
	for i, p := range a.m.posts {
		ids = append(ids, p.id)
		if a.m.sees(a.who, p) {
			want[p.id] = a.m.postText(i)
		}
	}
	posts, err := a.v.Posts(a.ctx, ids)
	a.ok(err, "posts")
	got := map[social.PostID]string{}
	var seen []*social.Post
	for id, p := range posts {
		got[id] = a.textOf(p)
		seen = append(seen, p)
	}
	a.same(got, want, "posts by id")
	return seen
}

// compareOwn compares the viewer's own reactions and votes.
func (a *answers) compareOwn(posts []*social.Post) {
	a.t.Helper()
	var ids []social.PostID
	reactions, votes := map[social.PostID]social.ReactionKind{}, map[social.PostID]int{}
	for _, p := range posts {
		ids = append(ids, p.ID)
		if kind, reacted := a.m.posts[a.m.post(p.ID)].reactions[a.who]; reacted {
			reactions[p.ID] = kind
		}
		if option, voted := a.m.posts[a.m.post(p.ID)].votes[a.who]; voted {
			votes[p.ID] = option
		}
	}
	gotReactions, err := a.v.Reactions(a.ctx, ids)
	a.ok(err, "reactions")
	a.same(gotReactions, reactions, "the own reactions")
	gotVotes, err := a.v.Votes(a.ctx, ids)
	a.ok(err, "votes")
	a.same(gotVotes, votes, "the own votes")
}

// compareHistories compares the earlier versions of posts, which are filtered by their audience.
func (a *answers) compareHistories(posts []*social.Post) {
	a.t.Helper()
	histories, err := a.v.Histories(a.ctx, posts)
	a.ok(err, "histories")
	for _, p := range posts {
		var got []string
		for _, v := range histories[p.ID] {
			got = append(got, versionText(v.Content, v.Audience.Kind, a.circlesOf(v.Audience.Circles), v.EditedAt))
		}
		post := a.m.post(p.ID)
		a.same(got, a.m.history(a.who, a.m.posts[post]), "the history of post %d", post)
	}
}

func (a *answers) comparePreviews(posts []*social.Post) {
	a.t.Helper()
	previews, err := a.v.Previews(a.ctx, posts)
	a.ok(err, "previews")
	for _, p := range posts {
		var got []string
		for _, c := range previews[p.ID] {
			got = append(got, a.textOfComment(c))
		}
		post := a.m.post(p.ID)
		a.same(got, a.m.commentTexts(a.m.preview(a.who, post)), "the preview of post %d", post)
	}
}

// compareComments reads all comments that have ever existed, by their ids and by their slugs.
func (a *answers) compareComments() {
	a.t.Helper()
	var ids []social.CommentID
	var links []social.Permalink
	want, wantBySlug := map[social.CommentID]string{}, map[social.Permalink]string{}
	for i, c := range a.m.comments {
		link := social.Permalink{Post: a.m.posts[c.post].id, Slug: c.slug}
		ids, links = append(ids, c.id), append(links, link)
		if a.m.seesComment(a.who, c) {
			want[c.id], wantBySlug[link] = a.m.commentText(i), a.m.commentText(i)
		}
	}
	comments, err := a.v.Comments(a.ctx, ids)
	a.ok(err, "comments by id")
	a.same(texts(comments, a.textOfComment), want, "comments by id")
	bySlug, err := a.v.CommentsBySlug(a.ctx, links)
	a.ok(err, "comments by slug")
	a.same(texts(bySlug, a.textOfComment), wantBySlug, "comments by slug")
}

func texts[K comparable, T any](things map[K]T, text func(T) string) map[K]string {
	described := map[K]string{}
	for key, thing := range things {
		described[key] = text(thing)
	}
	return described
}

// compareThreads reads the threads of all posts that the viewer sees, in all orders, and some
// replies and discussions.
func (a *answers) compareThreads() {
	a.t.Helper()
	want := map[social.Thread][]entry{}
	for i, p := range a.m.posts {
		if !a.m.sees(a.who, p) {
			continue
		}
		thread := a.m.thread(i)
		want[social.Thread{Post: p.id, Order: social.OrderOldest}] = a.commentEntries(thread, false)
		want[social.Thread{Post: p.id, Order: social.OrderNewest}] = reversed(a.commentEntries(thread, false))
		want[social.Thread{Post: p.id, Order: social.OrderThreaded}] = a.commentEntries(a.m.inTreeOrder(i, -1), true)
		if len(thread) > 0 {
			top := a.random.IntN(len(a.m.comments))
			for a.m.comments[top].post != i {
				top = (top + 1) % len(a.m.comments)
			}
			a.addRepliesAndDiscussion(want, top)
		}
	}
	compareLists(a, "thread", want, a.v.Threads, a.textOfComment, social.CommentKey)
}

// compareAuthors reads everyone's comments.
func (a *answers) compareAuthors() {
	a.t.Helper()
	want := map[social.UserID][]entry{}
	for i, person := range a.m.people {
		want[person.id] = a.commentEntries(a.m.commentsBy(i), false)
	}
	key := func(_ social.UserID, c *social.Comment) social.Key { return keyOf(c.ID.ID) }
	read := func(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[*social.Comment], error) {
		found, posts, err := a.v.CommentsBy(ctx, lists)
		for _, p := range posts {
			if !a.m.sees(a.who, a.m.posts[a.m.post(p.ID)]) {
				a.t.Fatalf("what %d reads: a post has comments that they may not see", a.who)
			}
		}
		return found, err
	}
	compareLists(a, "comments by author", want, read, a.textOfComment, key)
}

// compareMutedThreads compares which threads the viewer mutes.
func (a *answers) compareMutedThreads(posts []*social.Post) {
	a.t.Helper()
	want := map[social.PostID]bool{}
	for _, p := range posts {
		if a.m.posts[a.m.post(p.ID)].muters[a.who] {
			want[p.ID] = true
		}
	}
	got, err := a.v.MutedThreads(a.ctx, posts)
	a.ok(err, "muted threads")
	a.same(got, want, "the muted threads")
}

// addRepliesAndDiscussion adds the replies to a comment (which may be deleted), and all its
// descendants.
func (a *answers) addRepliesAndDiscussion(want map[social.Thread][]entry, top int) {
	c := a.m.comments[top]
	post := a.m.posts[c.post].id
	replies := slices.DeleteFunc(a.m.thread(c.post), func(reply *modelComment) bool { return reply.parent != top })
	want[social.Thread{Post: post, Order: social.OrderOldest, Parent: c.id}] = a.commentEntries(replies, false)
	discussion := a.m.inTreeOrder(c.post, top)
	if !c.gone {
		discussion = slices.Insert(discussion, 0, c)
	}
	want[social.Thread{Post: post, Order: social.OrderThreaded, Under: c.tree}] = a.commentEntries(discussion, true)
}

func (a *answers) commentEntries(comments []*modelComment, tree bool) []entry {
	var entries []entry
	for _, c := range comments {
		e := entry{key: keyOf(c.id.ID), text: a.m.commentText(slices.Index(a.m.comments, c)), seen: a.m.seesComment(a.who, c)}
		if tree {
			e.key = c.tree
		}
		entries = append(entries, e)
	}
	return entries
}

// postEntries lists all posts that have ever existed, newest first. Those that belong to the list
// are marked as seen.
func (a *answers) postEntries(in func(p *modelPost) bool) []entry {
	var entries []entry
	for i, p := range slices.Backward(a.m.posts) {
		entries = append(entries, entry{key: keyOf(p.id.ID), text: a.m.postText(i), seen: in(p)})
	}
	return entries
}

func (a *answers) compareWalls() {
	a.t.Helper()
	want := map[social.UserID][]entry{}
	for owner, person := range a.m.people {
		there := a.m.exists(a.who, owner)
		want[person.id] = a.postEntries(func(p *modelPost) bool { return there && a.m.onWall(a.who, owner, p) })
	}
	compareLists(a, "wall", want, a.v.Walls, a.textOf, postKeyOf[social.UserID])
}

// comparePostsBy reads everyone's posts, on any wall.
func (a *answers) comparePostsBy() {
	a.t.Helper()
	want := map[social.UserID][]entry{}
	for i, person := range a.m.people {
		want[person.id] = a.postEntries(func(p *modelPost) bool { return p.author == i && a.m.sees(a.who, p) })
	}
	compareLists(a, "posts by author", want, a.v.PostsBy, a.textOf, postKeyOf[social.UserID])
}

func postKeyOf[K any](_ K, p *social.Post) social.Key { return postKey(p) }

// compareFeeds compares the lists that only the viewer can read.
func (a *answers) compareFeeds() {
	a.t.Helper()
	a.ok(settle(a.ctx, a.store), "background work")
	me := a.user(a.who)
	one := func(in func(p *modelPost) bool) map[social.UserID][]entry {
		return map[social.UserID][]entry{me: a.postEntries(in)}
	}
	news := one(func(p *modelPost) bool { return a.m.inNews(a.who, p) })
	compareLists(a, "news", news, onePage[social.UserID](a.v.News), a.textOf, postKeyOf[social.UserID])
	incoming := one(func(p *modelPost) bool { return a.m.inIncoming(a.who, p) })
	compareLists(a, "incoming", incoming, onePage[social.UserID](a.v.Incoming), a.textOf, postKeyOf[social.UserID])
	for view, in := range map[social.WallView]func(p *modelPost) bool{
		social.ViewAll:      func(p *modelPost) bool { return a.m.onWall(a.who, a.who, p) },
		social.ViewFollowed: func(p *modelPost) bool { return a.m.onFollowedWall(a.who, p) },
	} {
		read := onePage[social.UserID](func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
			return a.v.OwnWall(ctx, view, p)
		})
		compareLists(a, "own wall "+string(view), one(in), read, a.textOf, postKeyOf[social.UserID])
	}
}

func (a *answers) comparePeople() {
	a.t.Helper()
	var ids []social.UserID
	var owners []*social.User
	want, can := map[social.UserID]string{}, map[string]bool{}
	for i, person := range a.m.people {
		ids = append(ids, person.id)
		there := a.m.exists(a.who, i)
		if there {
			followers, following := a.m.followersCount(i)
			want[person.id] = userText(i, followers, following, person.policy)
			can[want[person.id]] = a.m.mayPostOn(a.who, i)
		}
		user, err := a.v.UserByHandle(a.ctx, person.handle)
		a.same(err == nil, there, "whether %d is found by handle (%v)", i, err)
		if there {
			a.same(user.ID, person.id, "the user with the handle of %d", i)
		}
	}
	users, err := a.v.Users(a.ctx, ids)
	a.ok(err, "users")
	text := func(u *social.User) string {
		return userText(a.m.person(u.ID), u.FollowersCount, u.FollowingCount, u.WallPolicy)
	}
	a.same(texts(users, text), want, "users by id")
	for _, u := range users {
		owners = append(owners, u)
	}
	answer, err := a.v.CanPostOnWalls(a.ctx, owners)
	a.ok(err, "CanPostOnWalls")
	got := map[string]bool{}
	for owner, may := range answer {
		got[text(owner)] = may
	}
	a.same(got, can, "on whose walls one may post")
}

func userText(i, followers, following int, policy social.WallPolicy) string {
	return fmt.Sprintf("person %d, %d followers, %d following, wall for %s", i, followers, following, policy)
}

// personEntries lists people by an end of arcs, newest first.
func (a *answers) personEntries(arcs []arc, end func(arc) int, of func(arc) bool) []entry {
	var entries []entry
	for _, one := range slices.Backward(arcs) {
		if of(one) {
			i := end(one)
			entries = append(entries, entry{text: fmt.Sprint("person ", i), seen: a.m.exists(a.who, i)})
		}
	}
	return entries
}

func from(a arc) int { return a.from }

func target(a arc) int { return a.to }

func (a *answers) compareFollows() {
	a.t.Helper()
	followers, following := map[social.UserID][]entry{}, map[social.UserID][]entry{}
	for i, person := range a.m.people {
		followers[person.id], following[person.id] = nil, nil
		if a.m.exists(a.who, i) {
			followers[person.id] = a.personEntries(a.m.follows, from, func(one arc) bool { return one.to == i })
			following[person.id] = a.personEntries(a.m.follows, target, func(one arc) bool { return one.from == i })
		}
	}
	key := func(_ social.UserID, e social.Edge) social.Key { return edgeKey(e) }
	fromText := func(e social.Edge) string { return fmt.Sprint("person ", a.m.person(e.From)) }
	toText := func(e social.Edge) string { return fmt.Sprint("person ", a.m.person(e.To)) }
	compareLists(a, "followers", followers, a.v.Followers, fromText, key)
	compareLists(a, "following", following, a.v.Following, toText, key)
}

// compareCircles compares the viewer's circles and their members, and requests those of others,
// which must seem empty.
func (a *answers) compareCircles() {
	a.t.Helper()
	me := a.user(a.who)
	var own []entry
	for _, i := range a.m.ownCircles(a.who) {
		own = append(own, entry{key: keyOf(a.m.circles[i].id.ID), text: a.m.circleText(i), seen: true})
	}
	text := func(c *social.Circle) string {
		return circleText(a.m.circle(c.ID), a.m.person(c.Owner), c.Name, c.IsDefault, c.MembersCount)
	}
	key := func(_ social.UserID, c *social.Circle) social.Key { return circleKey(c) }
	compareLists(a, "circles", map[social.UserID][]entry{me: own}, onePage[social.UserID](a.v.OwnCircles), text, key)

	var ids []social.CircleID
	want := map[social.CircleID]string{}
	members := map[social.CircleID][]entry{}
	for i, c := range a.m.circles {
		ids = append(ids, c.id)
		members[c.id] = nil
		if c.gone || c.owner != a.who {
			continue
		}
		want[c.id] = a.m.circleText(i)
		for _, member := range c.members {
			members[c.id] = append(members[c.id], entry{text: fmt.Sprint("person ", member), seen: true})
		}
	}
	circles, err := a.v.Circles(a.ctx, ids)
	a.ok(err, "circles by id")
	a.same(texts(circles, text), want, "circles by id")
	memberText := func(e social.Edge) string { return fmt.Sprint("person ", a.m.person(e.To)) }
	memberKey := func(_ social.CircleID, e social.Edge) social.Key { return edgeKey(e) }
	compareLists(a, "members", members, a.v.Members, memberText, memberKey)
}

func (a *answers) compareBlocksAndMutes() {
	a.t.Helper()
	me := a.user(a.who)
	mine := func(one arc) bool { return one.from == a.who }
	muted := map[social.UserID][]entry{me: a.personEntries(a.m.mutes, target, mine)}
	text := func(e social.Edge) string { return fmt.Sprint("person ", a.m.person(e.To)) }
	key := func(_ social.UserID, e social.Edge) social.Key { return edgeKey(e) }
	compareLists(a, "muted", muted, onePage[social.UserID](a.v.Muted), text, key)

	blocked := map[social.UserID][]entry{me: a.personEntries(a.m.blocks, target, mine)}
	for i := range blocked[me] {
		blocked[me][i].seen = true // the only list that still has them
	}
	blockedText := func(b network.BlockedUser) string { return fmt.Sprint("person ", a.m.person(b.User.ID)) }
	blockedKey := func(_ social.UserID, b network.BlockedUser) social.Key { return edgeKey(b.Edge) }
	compareLists(a, "blocked", blocked, onePage[social.UserID](a.v.Blocked), blockedText, blockedKey)
}

// compareRelations compares what buttons on a profile show.
func (a *answers) compareRelations() {
	a.t.Helper()
	want, holding := map[social.UserID]string{}, map[social.UserID][]social.CircleID{}
	var others []social.UserID
	for i, person := range a.m.people {
		if i == a.who {
			continue
		}
		others = append(others, person.id)
		want[person.id] = relationText(a.m.followsNow(a.who, i), a.m.followsNow(i, a.who), a.m.mutesNow(a.who, i), !a.m.exists(a.who, i))
		for _, circle := range a.m.ownCircles(a.who) {
			if a.m.circles[circle].has(i) {
				holding[person.id] = append(holding[person.id], a.m.circles[circle].id)
			}
		}
	}
	relations, err := a.v.Relations(a.ctx, others)
	a.ok(err, "relations")
	a.same(texts(relations, func(r social.Relation) string {
		return relationText(r.Follows, len(r.Circles) > 0, r.Mutes, r.Blocks || r.BlockedBy || r.Gone || r.Away)
	}), want, "relations")
	got, err := a.v.CirclesHolding(a.ctx, others)
	a.ok(err, "CirclesHolding")
	for user, circles := range got {
		if len(circles) == 0 {
			delete(got, user)
		}
	}
	a.same(got, holding, "the circles that contain each user")
}

func relationText(follows, followed, mutes, blocked bool) string {
	return fmt.Sprintf("follows %t, is followed %t, mutes %t, block %t", follows, followed, mutes, blocked)
}

// compareLive determines the recipients of a post and a comment, for all people and a signed-out
// viewer in one call.
func (a *answers) compareLive() {
	a.t.Helper()
	viewers := []social.UserID{{}}
	for _, person := range a.m.people {
		viewers = append(viewers, person.id)
	}
	if post, ok := pickOf(a.m.posts, a.random.IntN(1000)); ok {
		sighting, err := a.service.NewsViewers(a.ctx, a.m.posts[post].id, viewers)
		a.ok(err, "NewsViewers")
		a.sameViewers(sighting, func(viewer int) bool { return a.m.inNews(viewer, a.m.posts[post]) }, "in whose news post %d is", post)
	}
	if comment, ok := pickOf(a.m.comments, a.random.IntN(1000)); ok {
		sighting, err := a.service.CommentViewers(a.ctx, a.m.comments[comment].id, viewers)
		a.ok(err, "CommentViewers")
		a.sameViewers(sighting, func(viewer int) bool { return a.m.seesComment(viewer, a.m.comments[comment]) }, "who receives comment %d", comment)
	}
}

func (a *answers) sameViewers(got network.Sighting, sees func(viewer int) bool, what string, args ...any) {
	a.t.Helper()
	var gotViewers, want []int
	for viewer := range got.Viewers {
		gotViewers = append(gotViewers, a.m.person(viewer)) // -1 for the signed-out viewer
	}
	slices.Sort(gotViewers)
	for viewer := signedOut; viewer < len(a.m.people); viewer++ {
		if sees(viewer) {
			want = append(want, viewer)
		}
	}
	a.same(gotViewers, want, what, args...)
}

// entry is one entry of a list that the model knows, seen by the viewer or not.
type entry struct {
	key  social.Key // empty if the model does not know it
	text string
	seen bool
}

func seen(entries []entry) []string {
	var texts []string
	for _, e := range entries {
		if e.seen {
			texts = append(texts, e.text)
		}
	}
	return texts
}
