package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
)

var feedCases = []testCase{
	{"WallListsWhatIsOnIt", wallListsWhatIsOnIt},
	{"PostsByListsWhatAnAuthorWrote", postsByListsWhatAnAuthorWrote},
	{"NewsListsTheViewersAndFollowedPosts", newsListsTheViewersAndFollowedPosts},
	{"NewsFollowsTheCurrentGraph", newsFollowsTheCurrentGraph},
	{"NewsOfManyAuthors", newsOfManyAuthors},
	{"NewsHasAllThatTheViewerMaySee", newsHasAllThatTheViewerMaySee},
	{"IncomingListsPostsAddressedToTheViewer", incomingListsPostsAddressedToTheViewer},
	{"IncomingFollowsCurrentCircles", incomingFollowsCurrentCircles},
	{"IncomingHasNoOtherPosts", incomingHasNoOtherPosts},
	{"FeedsCarryWholePosts", feedsCarryWholePosts},
	{"FeedsAreOrderedByID", feedsAreOrderedByID},
	{"FeedsHaveRangesOfTime", feedsHaveRangesOfTime},
	{"ManyListsAreReadInOneCall", manyListsAreReadInOneCall},
}

// feed returns the listing of a feed.
func (w *world) feed(name string, call batchRead[social.UserID, *social.Post], want map[social.UserID][]*social.Post) *listing[social.UserID, *social.Post] {
	return &listing[social.UserID, *social.Post]{
		w: w, name: name, call: call, key: postKey, descending: true, want: want, gaps: []social.Key{keyOf(id.New())},
	}
}

// on directs a post at a wall.
func on(owner person, p *social.Post) *social.Post {
	p.WallOwner = owner.ID
	return p
}

// to gives a post an audience.
func to(kind social.AudienceKind, p *social.Post, circles ...social.CircleID) *social.Post {
	p.Audience = social.Audience{Kind: kind, Circles: circles}
	return p
}

// newest sorts posts as a feed does.
func newest(posts ...*social.Post) []*social.Post {
	return slices.SortedFunc(slices.Values(posts), func(a, b *social.Post) int { return b.ID.Compare(a.ID.ID) })
}

func wallListsWhatIsOnIt(w *world) {
	people := w.users(4)
	ada, ben, cem, dia := people[0], people[1], people[2], people[3]
	w.follow(ada, cem)
	want := map[social.UserID][]*social.Post{ada.ID: nil, ben.ID: nil, cem.ID: nil, dia.ID: nil, newUserID(): nil}
	var lists *listing[social.UserID, *social.Post]
	for i := range 18 {
		if i == 9 {
			lists = w.feed("Wall", w.Wall, want) // with a gap in the middle
		}
		author, owner := people[i%3], ada
		if i%6 >= 4 {
			owner = author
		}
		p := w.insert(on(owner, statusBy(author)))
		want[owner.ID] = append([]*social.Post{p}, want[owner.ID]...)
	}
	lists.check()
}

func postsByListsWhatAnAuthorWrote(w *world) {
	people := w.users(3)
	want := map[social.UserID][]*social.Post{people[0].ID: nil, people[1].ID: nil, people[2].ID: nil, newUserID(): nil}
	var lists *listing[social.UserID, *social.Post]
	for i := range 17 {
		if i == 8 {
			lists = w.feed("PostsBy", w.PostsBy, want) // with a gap in the middle
		}
		author, owner := people[i%2], people[i%3] // the last of them writes nothing
		p := w.insert(on(owner, statusBy(author)))
		want[author.ID] = append([]*social.Post{p}, want[author.ID]...)
	}
	lists.check()
}

func newsListsTheViewersAndFollowedPosts(w *world) {
	people := w.users(5)
	ada, ben, cem, dia, eve := people[0], people[1], people[2], people[3], people[4]
	friends := w.circle(ada, "Friends")
	w.follow(ada, ben)
	w.join(friends, ada, ben, cem) // ben is in two circles, but his posts appear once
	w.follow(ben, ada)
	w.follow(dia, ben)
	reads := map[person][]person{ada: {ada, ben, cem}, ben: {ben, ada}, cem: {cem}, dia: {dia, ben}, eve: {}}
	want := map[social.UserID][]*social.Post{eve.ID: nil}
	var lists *listing[social.UserID, *social.Post]
	for i := range 24 {
		if i == 11 {
			lists = w.feed("News", w.settledNews, want)
		}
		author, owner := people[i%4], people[i%4]
		if i%5 == 0 {
			owner = eve // on a third person's wall
		}
		p := w.insert(on(owner, statusBy(author)))
		for viewer, authors := range reads {
			if slices.Contains(authors, author) {
				want[viewer.ID] = append([]*social.Post{p}, want[viewer.ID]...)
			}
		}
	}
	lists.check()
}

func newsFollowsTheCurrentGraph(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	friends := w.circle(ada, "Friends")
	bens, cems := w.status(ben), w.status(cem)
	news := func(what string, want ...*social.Post) {
		w.t.Helper()
		got := whole(w, w.settledNews, ada.ID)
		w.same(w.postIDs(got), w.postIDs(newest(want...)), "the news %s", what)
	}
	news("of a user without follows")
	w.join(friends, ada, ben, cem)
	news("after following: older posts come in", bens, cems)
	w.did(true)(w.remove(friends, ada, ben))
	news("after removing ben", cems)
	w.follow(ada, ben)
	news("after following ben again", bens, cems)
	w.did(true)(w.Unfollow(w.ctx, ada.ID, ben.ID, event(social.EventUnfollowed)))
	news("after unfollowing ben", cems)
	w.did(true)(w.block(cem, ada))
	news("after cem's block")
	w.did(true)(w.Unblock(w.ctx, cem.ID, ada.ID, event(social.EventUnblocked)))
	news("after cem's block has ended")
	w.join(friends, ada, cem)
	newer := w.status(cem)
	news("after following cem again", cems, newer)
	w.ok(w.DeletePost(w.ctx, cems.ID, event(social.EventPostDeleted)), "DeletePost")
	news("after a deletion", newer)
	w.ok(w.DeleteCircle(w.ctx, friends, event(social.EventCircleDeleted)), "DeleteCircle")
	news("after the circle has gone")
	own := w.status(ada)
	news("after a post of one's own", own)
}

// newsOfManyAuthors reads the news of those who follow as many people as one condition of a query
// may have (190 on MongoDB, whose limit is 199), one more, and twice as many.
func newsOfManyAuthors(w *world) {
	const most = 450
	edges := []int{190, 200, most}
	authors := w.users(most)
	// The authors around those limits have a post, and a third of the others, in an order that is
	// unrelated to that of the authors. There are more posts than one look at the newest covers.
	writes := func(i int) bool {
		return i%3 == 0 || slices.ContainsFunc([]int{190, 200, 380, most}, func(limit int) bool { return i >= limit-3 && i < limit+3 })
	}
	some := slices.DeleteFunc(w.dice.Perm(most), func(i int) bool { return !writes(i) })
	byAuthor := map[social.UserID][]*social.Post{}
	var written []*social.Post
	begin := now().Add(-time.Hour)
	for n, i := range slices.Concat(some, some[50:100]) {
		p := statusBy(authors[i])
		p.ID = social.PostID{ID: id.At(begin.Add(time.Duration(n) * time.Millisecond))}
		written = append(written, p)
		byAuthor[p.Author] = append(byAuthor[p.Author], p)
	}
	w.tally(together(len(written), func(i int) error { return w.InsertPost(w.ctx, written[i], event(social.EventPostCreated)) }))
	want, bounded := map[social.UserID][]*social.Post{}, map[social.UserID][]*social.Post{}
	for _, n := range []int{0, 1, 190, 191, 199, 200, 380, 381, most} {
		viewer := w.user()
		w.followAll(viewer, authors[:n])
		posts := []*social.Post{w.status(viewer)}
		for _, author := range authors[:n] {
			posts = append(posts, byAuthor[author.ID]...)
		}
		want[viewer.ID] = newest(posts...)
		if slices.Contains(edges, n) {
			bounded[viewer.ID] = want[viewer.ID]
		}
	}
	lists := w.feed("News", w.settledNews, want)
	lists.gaps = []social.Key{keyOf(id.At(begin.Add(time.Duration(len(written)/2) * time.Millisecond)))}
	lists.checkWhole()
	lists.checkWalk(83, false)
	lists.checkWalk(83, true)
	lists.want = bounded
	lists.checkBounds()
}

// candidates checks an answer that may, but need not, leave out what the viewer may not see.
func (w *world) candidates(got []*social.Post, visible, hidden []*social.Post, what string) {
	w.t.Helper()
	all := w.postIDs(slices.Concat(visible, hidden))
	for i, p := range got {
		if !slices.Contains(all, p.ID) {
			w.t.Errorf("%s: %v is not a candidate", what, p.ID)
		}
		if i > 0 && got[i-1].ID.Compare(p.ID.ID) <= 0 {
			w.t.Errorf("%s: entry %d is not older than the one before", what, i)
		}
	}
	for i, p := range visible {
		if !slices.Contains(w.postIDs(got), p.ID) {
			w.t.Errorf("%s: the visible post %d (%s) is missing", what, i, p.Audience.Kind)
		}
	}
}

func newsHasAllThatTheViewerMaySee(w *world) {
	people := w.users(3)
	viewer, ben, cem := people[0], people[1], people[2]
	w.follow(viewer, ben, cem)
	w.follow(ben, viewer) // cem has the viewer in no circle
	in, out := w.circle(ben, "In"), w.circle(ben, "Out")
	w.join(in, ben, viewer)
	var visible, hidden []*social.Post
	for range 3 {
		visible = append(visible,
			w.insert(to(social.AudienceOnlyMe, statusBy(viewer))),
			w.insert(to(social.AudiencePublic, statusBy(ben))),
			w.insert(to(social.AudienceCircles, statusBy(ben))),
			w.insert(to(social.AudienceListed, statusBy(ben), out, in)),
			w.insert(to(social.AudienceOnlyMe, on(viewer, statusBy(cem)))),
			w.insert(to(social.AudiencePublic, on(ben, statusBy(cem)))),
		)
		hidden = append(hidden,
			w.insert(to(social.AudienceOnlyMe, statusBy(ben))),
			w.insert(to(social.AudienceListed, statusBy(ben), out)),
			w.insert(to(social.AudienceListed, statusBy(ben))),
			w.insert(to(social.AudienceCircles, statusBy(cem))),
		)
	}
	whole := whole(w, w.settledNews, viewer.ID)
	w.candidates(whole, visible, hidden, "News")
	w.feed("News", w.settledNews, map[social.UserID][]*social.Post{viewer.ID: whole}).check()
}

func incomingListsPostsAddressedToTheViewer(w *world) {
	people := w.users(5)
	viewer, ben, cem, dia, eve := people[0], people[1], people[2], people[3], people[4]
	friends, in, out := w.circle(ben, "Friends"), w.circle(ben, "In"), w.circle(ben, "Out")
	w.join(friends, ben, viewer) // ben's posts for CIRCLES appear once, although the viewer is in two of his circles
	w.join(in, ben, viewer)
	w.join(out, ben, dia)
	w.join(cem.Following, cem, dia) // cem's circles do not hold the viewer
	w.follow(viewer, cem)           // which does not matter here
	var due []*social.Post
	for range 3 {
		due = append(due,
			w.insert(on(viewer, statusBy(ben))),
			w.insert(on(viewer, statusBy(eve))), // a stranger
			w.insert(to(social.AudienceOnlyMe, on(viewer, statusBy(cem)))),
			w.insert(to(social.AudienceListed, on(viewer, statusBy(ben)), out)),
			w.insert(to(social.AudienceCircles, on(viewer, statusBy(ben)))), // visible for two reasons, but appears once
			w.insert(to(social.AudienceCircles, statusBy(ben))),
			w.insert(to(social.AudienceCircles, on(dia, statusBy(ben)))), // on a third person's wall
			w.insert(to(social.AudienceListed, statusBy(ben), in)),
			w.insert(to(social.AudienceListed, statusBy(ben), out, in, friends)), // listed twice, but appears once
		)
		w.insert(statusBy(ben)) // public, on his own wall
		w.insert(on(dia, statusBy(ben)))
		w.insert(statusBy(viewer))
		w.insert(to(social.AudienceCircles, statusBy(viewer)))
		w.insert(to(social.AudienceCircles, statusBy(cem)))
		w.insert(to(social.AudienceListed, statusBy(ben), out))
		w.insert(to(social.AudienceListed, statusBy(ben)))
		w.insert(to(social.AudienceOnlyMe, statusBy(ben)))
	}
	want := map[social.UserID][]*social.Post{viewer.ID: newest(due...), eve.ID: nil, newUserID(): nil}
	w.feed("Incoming", single(w.Incoming), want).check()
}

func incomingFollowsCurrentCircles(w *world) {
	people := w.users(2)
	viewer, ben := people[0], people[1]
	friends := w.circle(ben, "Friends")
	wide, narrow := w.insert(to(social.AudienceCircles, statusBy(ben))), w.insert(to(social.AudienceListed, statusBy(ben), friends))
	incoming := func(what string, want ...*social.Post) {
		w.t.Helper()
		got := whole(w, single(w.Incoming), viewer.ID)
		w.same(w.postIDs(got), w.postIDs(newest(want...)), "incoming %s", what)
	}
	incoming("before")
	w.follow(ben, viewer)
	incoming("after entering the built-in circle", wide)
	w.join(friends, ben, viewer)
	incoming("after entering the listed circle", wide, narrow)
	w.did(true)(w.remove(ben.Following, ben, viewer))
	incoming("after leaving the built-in circle", wide, narrow)

	public := *narrow
	public.Audience, public.Revision = social.Audience{Kind: social.AudiencePublic}, 1
	w.ok(w.UpdatePost(w.ctx, &public, nil, event(social.EventAudienceChanged)), "UpdatePost")
	incoming("after the listed post became public", wide)
	public.Audience, public.Revision = narrow.Audience, 2
	w.ok(w.UpdatePost(w.ctx, &public, nil, event(social.EventAudienceChanged)), "UpdatePost")
	incoming("after it was listed again", wide, narrow)

	w.ok(w.DeleteCircle(w.ctx, friends, event(social.EventCircleDeleted)), "DeleteCircle")
	incoming("after the circle has gone")
	direct := w.insert(on(viewer, statusBy(ben)))
	incoming("after a post on the wall", direct)
	w.ok(w.DeletePost(w.ctx, direct.ID, event(social.EventPostDeleted)), "DeletePost")
	incoming("after its deletion")
}

func incomingHasNoOtherPosts(w *world) {
	// A viewer in many circles of many authors, who write for all audiences.
	people := w.users(12)
	viewer, authors := people[0], people[1:]
	var due []*social.Post
	var lists *listing[social.UserID, *social.Post]
	for i, author := range authors {
		if i == 5 {
			lists = w.feed("Incoming", single(w.Incoming), nil)
		}
		var inside, outside []social.CircleID
		for j := range 4 {
			circle := w.circle(author, fmt.Sprint("Circle ", j))
			if (i+j)%3 == 0 {
				w.join(circle, author, viewer)
				inside = append(inside, circle)
			} else {
				outside = append(outside, circle)
			}
		}
		w.insert(to(social.AudiencePublic, statusBy(author)))
		w.insert(to(social.AudienceListed, statusBy(author), outside...))
		due = append(due, w.insert(to(social.AudienceCircles, statusBy(author))))
		for _, circle := range inside {
			due = append(due, w.insert(to(social.AudienceListed, statusBy(author), circle)))
		}
	}
	lists.want = map[social.UserID][]*social.Post{viewer.ID: newest(due...)}
	lists.check()
}

func feedsCarryWholePosts(w *world) {
	ada, ben := w.user(), w.user()
	w.follow(ben, ada)
	p := w.poll(ada, 2)
	p.WallOwner = ada.ID
	for range 10 {
		p.Latest = append(p.Latest, w.comment(p, nil, ben))
	}
	w.ok(w.PutVote(w.ctx, p.ID, ben.ID, 1, event(social.EventPollVoted)), "PutVote")
	w.ok(w.PutReaction(w.ctx, p.ID, ada.ID, social.ReactionLaugh, event(social.EventReactionAdded)), "PutReaction")
	q := to(social.AudienceCircles, on(ben, statusBy(ada)))
	w.follow(ada, ben)
	w.insert(q)

	p.CommentCount, p.Latest, p.Votes = 10, last(p.Latest, social.PreviewSize), []int{0, 1}
	p.Reactions = map[social.ReactionKind]int{social.ReactionLaugh: 1}
	w.same(w.getPost(p.ID), p, "the post by its id")
	w.same(whole(w, w.Wall, ada.ID), []*social.Post{p}, "the wall")
	w.same(whole(w, w.settledNews, ben.ID), []*social.Post{q, p}, "the news")
	w.same(whole(w, single(w.Incoming), ben.ID), []*social.Post{q}, "incoming")
	w.deleteComment(p.Latest[7])
	w.same(whole(w, w.Wall, ada.ID)[0].CommentCount, 9, "the comment count on the wall")
	w.same(len(whole(w, w.Wall, ada.ID)[0].Latest), 8, "the preview on the wall, refilled")
}

func feedsAreOrderedByID(w *world) {
	// An import adds posts with past times, in any order.
	ada, ben := w.user(), w.user()
	w.follow(ben, ada)
	w.follow(ada, ben)
	var posts []*social.Post
	for range 12 {
		p := to(social.AudienceCircles, statusBy(ada))
		p.ID = social.PostID{ID: id.At(now().Add(-time.Duration(w.dice.IntN(1_000_000)) * time.Second))}
		posts = append(posts, w.insert(p))
	}
	want := newest(posts...)
	w.feed("Wall", w.Wall, map[social.UserID][]*social.Post{ada.ID: want}).check()
	w.feed("News", w.settledNews, map[social.UserID][]*social.Post{ada.ID: want, ben.ID: want}).check()
	w.feed("Incoming", single(w.Incoming), map[social.UserID][]*social.Post{ben.ID: want}).check()
}

func manyListsAreReadInOneCall(w *world) {
	const n = 100
	people := w.users(n)
	star := people[0]
	walls, followers, threads := map[social.UserID][]*social.Post{}, map[social.UserID][]social.UserID{}, map[social.PostID][]*social.Comment{}
	w.followAll(star, people[1:])
	written := make([]*social.Post, n)
	w.tally(together(n, func(i int) error {
		written[i] = statusBy(people[i])
		return w.InsertPost(w.ctx, written[i], event(social.EventPostCreated))
	}))
	comments := make([][]*social.Comment, n)
	w.tally(together(n, func(i int) error {
		var failed error
		for range i % 4 {
			c := newComment(written[i], nil, star)
			failed = errors.Join(failed, w.insertComment(c))
			comments[i] = append(comments[i], c)
		}
		return failed
	}))
	for i, p := range people {
		post := written[i]
		post.CommentCount, post.Latest = i%4, comments[i]
		walls[p.ID], threads[post.ID] = []*social.Post{post}, comments[i]
		if p != star {
			followers[p.ID] = []social.UserID{star.ID}
		}
	}
	var users []social.List[social.UserID]
	var posts []social.PostID
	var selections []social.List[social.Thread]
	for i, p := range people {
		users = append(users, social.List[social.UserID]{Of: p.ID, Page: social.Page{Limit: 1 + i%3}})
		post := walls[p.ID][0]
		posts = append(posts, post.ID)
		selections = append(selections, social.List[social.Thread]{Of: selection(post, orders[i%2]), Page: social.Page{Limit: 2, Last: i%2 == 1}})
	}
	gotWalls, err := w.Wall(w.ctx, users)
	w.ok(err, "Wall")
	gotFollowers, err := w.Followers(w.ctx, users)
	w.ok(err, "Followers")
	for _, list := range users {
		w.same(gotWalls[list], walls[list.Of], "the wall of %v", list.Of)
		w.same(froms(gotFollowers[list]), followers[list.Of], "the followers of %v", list.Of)
	}
	latest, err := w.LatestComments(w.ctx, posts, nil, 2)
	w.ok(err, "LatestComments")
	gotThreads, err := w.Thread(w.ctx, selections)
	w.ok(err, "Thread")
	for i, list := range selections {
		thread := threads[posts[i]]
		w.same(latest[posts[i]], last(thread, 2), "the latest comments of post %d", i)
		if i%2 == 0 { // the first two of the oldest
			w.same(gotThreads[list], thread[:min(2, len(thread))], "the thread of post %d", i)
		} else { // the last two of the newest
			w.same(gotThreads[list], reversed(thread[:min(2, len(thread))]), "the thread of post %d", i)
		}
	}
}

func froms(edges []social.Edge) []social.UserID {
	var users []social.UserID
	for _, e := range edges {
		users = append(users, e.From)
	}
	return users
}
