package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"plaza/social"
)

var threadConcurrencyCases = []testCase{
	{"OneSlugIsTakenOnce", oneSlugIsTakenOnce},
	{"ManyWritersOnOneThread", manyWritersOnOneThread},
	{"ManyRepliesToOneComment", manyRepliesToOneComment},
	{"ManyDeletersOfOneThread", manyDeletersOfOneThread},
	{"OneCommentIsDeletedOnce", oneCommentIsDeletedOnce},
	{"RepliesDuringTheParentsDeletion", repliesDuringTheParentsDeletion},
	{"CommentsDuringThePostsDeletion", commentsDuringThePostsDeletion},
	{"ErasingDuringWrites", erasingDuringWrites},
	{"ManyMutersOfOneThread", manyMutersOfOneThread},
	{"ManyReadersOfOneThread", manyReadersOfOneThread},
}

var concurrencyCases = []testCase{
	{"OneHandleSignsUpOnce", oneHandleSignsUpOnce},
	{"OneCircleNameIsTakenOnce", oneCircleNameIsTakenOnce},
	{"AUserHasNoMoreCirclesThanAllowed", aUserHasNoMoreCirclesThanAllowed},
	{"AUserHasNoMoreAccessTokensThanAllowed", aUserHasNoMoreAccessTokensThanAllowed},
	{"AUserMakesNoMoreReportsThanAllowed", aUserMakesNoMoreReportsThanAllowed},
	{"ManyVotersChangeTheirVotes", manyVotersChangeTheirVotes},
	{"ManyReactions", manyReactions},
	{"OneRevisionIsStoredOnce", oneRevisionIsStoredOnce},
	{"OneFollowBeginsOnce", oneFollowBeginsOnce},
	{"ManyFollowersOfOneUser", manyFollowersOfOneUser},
	{"TheGraphStaysConsistentUnderChurn", theGraphStaysConsistentUnderChurn},
	{"AddToCircleDuringDeleteCircle", addToCircleDuringDeleteCircle},
	{"AddToCircleDuringBlock", addToCircleDuringBlock},
	{"TwoCirclesOfOneFollow", twoCirclesOfOneFollow},
	{"ImportsDuringFollows", importsDuringFollows},
	{"ManyReadersOfNews", manyReadersOfNews},
}

// crowd is the number of concurrent goroutines.
const crowd = 32

func oneHandleSignsUpOnce(w *world) {
	people := make([]social.NewUser, crowd)
	for i := range people {
		people[i] = newUser()
		people[i].User.Handle = "wanted"
	}
	tail := w.tail()
	errs := together(crowd, func(i int) error {
		return w.InsertUser(w.ctx, people[i], event(social.EventUserSignedUp))
	})
	w.same(w.tally(errs, social.ErrTaken), 1, "the number of successful sign-ups")
	w.same(len(tail.rest()), 1, "the number of events")
	winner := people[slices.Index(errs, nil)]
	w.same(only(w, w.UsersByHandle, "wanted"), &winner.User, "the owner of the handle")
	there := 0
	for _, p := range people {
		there += number(w)(size(w.Users(w.ctx, []social.UserID{p.User.ID})))
		there += number(w)(size(w.Circles(w.ctx, []social.CircleID{p.Following.ID})))
	}
	w.same(there, 2, "the number of users and circles")
}

func oneCircleNameIsTakenOnce(w *world) {
	ada := w.user()
	other := w.circle(ada, "Other")
	errs := together(crowd, func(i int) error {
		if i == 0 {
			return w.RenameCircle(w.ctx, other, "WANTED", event(social.EventCircleRenamed))
		}
		c := &social.Circle{ID: newCircleID(), Owner: ada.ID, Name: "Wanted"}
		return w.InsertCircle(w.ctx, c, social.MaxCircles, event(social.EventCircleCreated))
	})
	w.same(w.tally(errs, social.ErrTaken), 1, "the number of successes")
	named := 0
	for _, c := range whole(w, single(w.CirclesOf), ada.ID) {
		if strings.EqualFold(c.Name, "wanted") {
			named++
		}
	}
	w.same(named, 1, "the number of circles of that name")
}

// aUserHasNoMoreCirclesThanAllowed, as the next two, proves more on two servers, which share no lock.
func aUserHasNoMoreCirclesThanAllowed(w *world) {
	const most = 4 // with the built-in one
	ada, ben := w.user(), w.user()
	add := func(i int) error {
		c := &social.Circle{Owner: ada.ID, Name: fmt.Sprint("Circle ", i)}
		return w.InsertCircle(w.ctx, c, most, event(social.EventCircleCreated))
	}
	w.same(w.tally(together(3*most, add), social.ErrLimitReached), most-1, "the number of new circles")
	circles := whole(w, single(w.CirclesOf), ada.ID)
	w.same(len(circles), most, "the number of circles")
	w.circle(ben, "Circle 1")
	w.ok(w.DeleteCircle(w.ctx, circles[1].ID, event(social.EventCircleDeleted)), "DeleteCircle")
	w.ok(add(3*most), "a circle in place of a deleted one")
}

func aUserHasNoMoreAccessTokensThanAllowed(w *world) {
	const most = 3
	ada, ben := w.user(), w.user()
	at := now()
	add := func(who person, token int, at time.Time) error {
		t := sessionFor(who, byte(token), at.Add(time.Hour))
		t.CreatedAt, t.Grant = at, &social.Grant{Name: "robot", Scopes: []social.Scope{social.ScopeReadFeed}}
		return w.InsertAccessToken(w.ctx, t, most)
	}
	w.insertSessions(ada.ID, 101, 102, 103, 104) // sign-ins do not count
	errs := together(4*most, func(i int) error { return add(ada, i, at) })
	w.same(w.tally(errs, social.ErrLimitReached), most, "the number of access tokens")
	w.ok(add(ben, 4*most, at), "the token of another user")
	w.fails(add(ada, 4*most+1, at.Add(59*time.Minute)), social.ErrLimitReached, "a token while the others are valid")
	w.ok(add(ada, 4*most+2, at.Add(time.Hour)), "a token when the others have expired")
}

// aUserMakesNoMoreReportsThanAllowed: a report that is repeated does not count.
func aUserMakesNoMoreReportsThanAllowed(w *world) {
	const most = 3
	ada, ben, cem := w.user(), w.user(), w.user()
	at := now()
	var posts []*social.Post
	for range 3 * most {
		posts = append(posts, w.status(ada))
	}
	report := func(post int, by person, after time.Duration) (bool, error) {
		return w.Report(w.ctx, complaint(posts[post], by, social.ReasonSpam, at.Add(after)), most)
	}
	errs := together(len(posts), func(i int) error {
		_, err := report(i, ben, 0)
		return err
	})
	w.same(w.tally(errs, social.ErrLimitReached), most, "the number of reports")
	reported, refused := slices.Index(errs, nil), slices.IndexFunc(errs, func(err error) bool { return err != nil })
	w.did(false)(report(reported, ben, time.Hour))
	w.did(true)(report(reported, cem, time.Hour))
	_, err := report(refused, ben, 23*time.Hour)
	w.fails(err, social.ErrLimitReached, "a report within a day")
	absent(w, "case of refused reports", w.Cases, social.Subject{Post: posts[refused].ID}.Case())
	w.did(true)(report(refused, ben, 25*time.Hour))
}

func oneSlugIsTakenOnce(w *world) {
	ada := w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ada)
	errs := together(crowd, func(i int) error {
		parent := root
		if i%2 == 0 {
			parent = nil
		}
		return w.insertComment(commentWithSlug("wanted", newCommentID(), p, parent, ada))
	})
	w.same(w.tally(errs, social.ErrTaken), 1, "the number of successes")
	w.checkThread(p.ID, 2)
}

func manyWritersOnOneThread(w *world) {
	people := w.users(crowd)
	p := w.status(people[0])
	tail := w.tail()
	const each = 3
	errs := together(crowd, func(i int) error {
		var parent *social.Comment // each writes a chain of replies; they conflict only at the post
		for range each {
			c := newComment(p, parent, people[i])
			if err := w.insertComment(c); err != nil {
				return err
			}
			parent = c
		}
		return nil
	})
	w.same(w.tally(errs), crowd, "the number of successes")
	w.checkThread(p.ID, crowd*each)
	w.same(len(tail.rest()), crowd*each, "the number of events")
}

func manyRepliesToOneComment(w *world) {
	ada := w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ada)
	errs := together(crowd, func(int) error { return w.insertComment(newComment(p, root, ada)) })
	w.same(w.tally(errs), crowd, "the number of successes")
	w.same(w.getComment(root.ID).Replies, crowd, "Replies")
	w.checkThread(p.ID, crowd+1)
}

func manyDeletersOfOneThread(w *world) {
	// Callers delete the same trees concurrently, while others still write.
	ada := w.user()
	p := w.status(ada)
	var all []*social.Comment
	for range crowd / 4 {
		root := w.comment(p, nil, ada)
		reply := w.comment(p, root, ada)
		all = append(all, root, reply, w.comment(p, reply, ada), w.comment(p, root, ada))
	}
	errs := together(2*crowd, func(i int) error {
		if i < crowd {
			return w.DeleteComment(w.ctx, all[i].ID, event(social.EventCommentDeleted))
		}
		return w.insertComment(newComment(p, nil, ada))
	})
	w.same(w.tally(errs), 2*crowd, "the number of successes")
	w.checkThread(p.ID, crowd) // no tombstone is left
}

func oneCommentIsDeletedOnce(w *world) {
	ada := w.user()
	p := w.status(ada)
	for _, replies := range []int{0, 1} {
		c := w.comment(p, nil, ada)
		for range replies {
			w.comment(p, c, ada)
		}
		errs := together(crowd, func(int) error {
			return w.DeleteComment(w.ctx, c.ID, event(social.EventCommentDeleted))
		})
		w.same(w.tally(errs, social.ErrNotFound), 1, "the number of successes with %d replies", replies)
		w.checkThread(p.ID, 2*replies)
	}
}

func repliesDuringTheParentsDeletion(w *world) {
	ada := w.user()
	for range 4 {
		p := w.status(ada)
		parents, replies := make([]*social.Comment, crowd/2), make([]*social.Comment, crowd/2)
		for i := range parents {
			parents[i] = w.comment(p, nil, ada)
			replies[i] = newComment(p, parents[i], ada)
		}
		errs := together(crowd, func(i int) error {
			if i%2 == 0 {
				return w.DeleteComment(w.ctx, parents[i/2].ID, event(social.EventCommentDeleted))
			}
			return w.insertComment(replies[i/2])
		})
		size := 0
		for i, parent := range parents {
			w.ok(errs[2*i], "the deletion")
			switch err := errs[2*i+1]; err {
			case nil: // the reply came first: its parent is a tombstone
				size += 2
				w.same(w.getComment(parent.ID), tombstone(parent, 1), "the parent of a reply that came first")
				w.same(w.getComment(replies[i].ID), replies[i], "the reply")
			default:
				w.fails(err, social.ErrNotFound, "a reply that came too late")
				absent(w, "comment after its deletion", w.Comments, parent.ID, replies[i].ID)
			}
		}
		w.checkThread(p.ID, size)
	}
}

func commentsDuringThePostsDeletion(w *world) {
	people := w.users(crowd)
	for range 2 {
		p := w.poll(people[0], 2)
		root := w.comment(p, nil, people[0])
		comments := []*social.Comment{root}
		for _, author := range people {
			comments = append(comments, newComment(p, root, author))
		}
		errs := together(crowd, func(i int) error {
			switch i % 4 {
			case 0:
				return w.insertComment(comments[i+1])
			case 1:
				return w.PutVote(w.ctx, p.ID, people[i].ID, 0, event(social.EventPollVoted))
			case 2:
				return w.PutReaction(w.ctx, p.ID, people[i].ID, social.ReactionLike, event(social.EventReactionAdded))
			}
			return w.DeletePost(w.ctx, p.ID, event(social.EventPostDeleted))
		})
		w.tally(errs, social.ErrNotFound)
		deletions := 0
		for i := 3; i < crowd; i += 4 {
			if errs[i] == nil {
				deletions++
			}
		}
		w.same(deletions, 1, "the number of deletions")
		for i := range people {
			w.isGone(p.ID, people[i], comments[i:i+1])
		}
	}
}

func manyVotersChangeTheirVotes(w *world) {
	people := w.users(crowd)
	const options = 4
	p := w.poll(people[0], options)
	errs := together(crowd, func(i int) error {
		for round := range 4 {
			if err := w.PutVote(w.ctx, p.ID, people[i].ID, (i+round)%options, event(social.EventPollVoted)); err != nil {
				return err
			}
		}
		return nil
	})
	w.same(w.tally(errs), crowd, "the number of successful voters")
	due := make([]int, options)
	for i, voter := range people {
		option := only(w, w.votesOf(voter.ID), p.ID)
		w.same(option, (i+3)%options, "the last vote of voter %d", i)
		due[option]++
	}
	w.same(w.getPost(p.ID).Votes, due, "the counts")

	// One person, many devices.
	errs = together(crowd, func(i int) error {
		return w.PutVote(w.ctx, p.ID, people[0].ID, i%options, event(social.EventPollVoted))
	})
	w.same(w.tally(errs), crowd, "the number of successful votes")
	due[3]--
	due[only(w, w.votesOf(people[0].ID), p.ID)]++
	w.same(w.getPost(p.ID).Votes, due, "the counts after one person's many votes")
}

// erasingDuringWrites erases one person's comments while others reply to them and delete their own:
// all earlier comments are gone, and all counts are exact.
func erasingDuringWrites(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	p := w.status(ada)
	var roots, own []*social.Comment
	for range 30 {
		roots = append(roots, w.comment(p, nil, ben))
		own = append(own, w.comment(p, nil, ada))
	}
	upTo := newCommentID()
	errs := together(crowd, func(i int) error {
		switch {
		case i < 2:
			_, err := w.EraseComments(w.ctx, ben.ID, upTo, event(social.EventErasureBegun))
			return err
		case i%2 == 0:
			return w.insertComment(newComment(p, roots[i%len(roots)], ada))
		case i%4 == 1:
			return w.DeleteComment(w.ctx, own[i%len(own)].ID, event(social.EventCommentDeleted))
		}
		return w.insertComment(newComment(p, nil, ben)) // later than what is erased
	})
	w.tally(errs, social.ErrNotFound)
	w.ok(settle(w.ctx, w.Store), "background work")
	thread := whole(w, w.Thread, social.Thread{Post: p.ID, Order: social.OrderOldest})
	w.checkThread(p.ID, len(thread))
	by := whole(w, w.CommentsBy, ben.ID)
	w.same(len(by), crowd/4, "the number of comments that were written meanwhile")
	for _, c := range by {
		if c.ID.Compare(upTo.ID) <= 0 {
			w.t.Errorf("%v was not erased", c.ID)
		}
	}
}

func manyMutersOfOneThread(w *world) {
	people := w.users(crowd / 2)
	p := w.status(people[0])
	errs := together(crowd, func(i int) (err error) {
		user := people[i%len(people)] // each person twice, concurrently
		_, err = w.MuteThread(w.ctx, p.ID, user.ID, event(social.EventThreadMuted))
		if err == nil && i%4 == 0 {
			_, err = w.UnmuteThread(w.ctx, p.ID, user.ID, event(social.EventThreadUnmuted))
		}
		return err
	})
	w.same(w.tally(errs), crowd, "the number of successes")
	muters := 0
	for _, user := range people {
		muters += len(lookup(w, w.threadMutesOf(user), []social.PostID{p.ID}))
	}
	w.same(w.getPost(p.ID).Muters, muters, "Muters")
}

func manyReactions(w *world) {
	people := w.users(crowd)
	p := w.status(people[0])
	kinds := []social.ReactionKind{"LIKE", "LOVE", "LAUGH", "WOW", "SAD", "ANGRY"}
	errs := together(crowd, func(i int) error {
		user := people[i%(crowd/2)] // each person twice, concurrently
		for round := range 4 {
			if err := w.PutReaction(w.ctx, p.ID, user.ID, kinds[(i+round)%6], event(social.EventReactionAdded)); err != nil {
				return err
			}
		}
		if i%3 == 0 {
			return w.DeleteReaction(w.ctx, p.ID, user.ID, event(social.EventReactionRemoved))
		}
		return nil
	})
	w.same(w.tally(errs), crowd, "the number of successes")
	due := map[social.ReactionKind]int{}
	for _, user := range people {
		got, err := w.Reactions(w.ctx, user.ID, []social.PostID{p.ID})
		w.ok(err, "Reactions")
		if kind, reacted := got[p.ID]; reacted {
			due[kind]++
		}
	}
	w.same(w.getPost(p.ID).Reactions, due, "the counts")
}

func oneRevisionIsStoredOnce(w *world) {
	p := w.status(w.user())
	tail := w.tail()
	for revision := 1; revision <= 3; revision++ {
		errs := together(crowd, func(i int) error {
			edited := *p
			edited.Revision = revision
			edited.Content = social.Content{Status: &social.Status{Text: fmt.Sprint(revision, " by ", i)}}
			replaced := social.Version{Content: edited.Content} // not the replaced content, but it identifies the writer
			return w.UpdatePost(w.ctx, &edited, &replaced, event(social.EventPostEdited))
		})
		w.same(w.tally(errs, social.ErrConflict), 1, "the number of successes for revision %d", revision)
		read := w.getPost(p.ID)
		w.same(read.Content.Status.Text, fmt.Sprint(revision, " by ", slices.Index(errs, nil)), "the text")
		w.same(read.Revision, revision, "the revision")
		history := w.history(p)
		w.same([]int{read.Edits, len(history)}, []int{revision, revision}, "the number of edits, and of versions")
		w.same(history[revision-1].Content, read.Content, "the newest version")
	}
	w.same(len(tail.rest()), 3, "the number of events")
}

func oneFollowBeginsOnce(w *world) {
	people := w.users(2)
	ada, ben := people[0], people[1]
	tail := w.tail()
	added := make([]bool, crowd)
	errs := together(crowd, func(i int) (err error) {
		added[i], err = w.add(ada.Following, ada, ben)
		return err
	})
	w.tally(errs)
	removed := make([]bool, crowd)
	w.same(count(added), 1, "the number of calls that began the follow")
	w.graphIs(people, follows{ada: {ben}})
	errs = together(crowd, func(i int) (err error) {
		removed[i], err = w.Unfollow(w.ctx, ada.ID, ben.ID, event(social.EventUnfollowed))
		return err
	})
	w.tally(errs)
	w.same(count(removed), 1, "the number of calls that ended the follow")
	w.graphIs(people, follows{})
	blocked := make([]bool, crowd)
	errs = together(crowd, func(i int) (err error) {
		blocked[i], err = w.block(ada, ben)
		return err
	})
	w.tally(errs)
	w.same(count(blocked), 1, "the number of calls that blocked")
	w.same(len(tail.rest()), 4, "the number of events: two are of the follow")
}

func count(answers []bool) (yes int) {
	for _, answer := range answers {
		if answer {
			yes++
		}
	}
	return yes
}

func manyFollowersOfOneUser(w *world) {
	people := w.users(crowd + 1)
	star := people[crowd]
	errs := together(crowd, func(i int) error {
		for range 2 {
			if _, err := w.add(people[i].Following, people[i], star); err != nil {
				return err
			}
			if i%2 == 0 {
				if _, err := w.Unfollow(w.ctx, people[i].ID, star.ID, event(social.EventUnfollowed)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	w.same(w.tally(errs), crowd, "the number of successes")
	want := follows{}
	for i, p := range people[:crowd] {
		if i%2 == 1 {
			want[p] = []person{star}
		}
	}
	w.same(w.getUser(star.ID).FollowersCount, crowd/2, "FollowersCount")
	w.same(len(whole(w, w.Followers, star.ID)), crowd/2, "the number of followers")
	w.graphIs(people, want)
}

func theGraphStaysConsistentUnderChurn(w *world) {
	people := w.users(6)
	circles := map[person]social.CircleID{}
	for _, p := range people {
		circles[p] = w.circle(p, "Friends")
	}
	for range 3 {
		errs := together(crowd, func(i int) error {
			from, to := people[i%6], people[(i+1+i/6%5)%6]
			return w.churn(i/3, circles[from], from, to)
		})
		w.tally(errs, social.ErrBlocked)
		w.checkGraph(people)
	}
}

// churn does one of the things that change the graph.
func (w *world) churn(what int, circle social.CircleID, from, to person) error {
	switch what % 7 {
	case 0, 1:
		_, err := w.add(from.Following, from, to)
		return err
	case 2:
		_, err := w.add(circle, from, to)
		return err
	case 3:
		_, err := w.remove(circle, from, to)
		return err
	case 4:
		_, err := w.Unfollow(w.ctx, from.ID, to.ID, event(social.EventUnfollowed))
		return err
	case 5:
		_, err := w.block(from, to)
		return err
	default:
		_, err := w.Unblock(w.ctx, from.ID, to.ID, event(social.EventUnblocked))
		return err
	}
}

func addToCircleDuringDeleteCircle(w *world) {
	people := w.users(crowd)
	ada, others := people[0], people[1:]
	for round := range 3 {
		friends := w.circle(ada, fmt.Sprint("Friends ", round))
		added := make([]bool, len(others))
		errs := together(crowd, func(i int) (err error) {
			if i == len(others) {
				return w.DeleteCircle(w.ctx, friends, event(social.EventCircleDeleted))
			}
			added[i], err = w.add(friends, ada, others[i])
			return err
		})
		w.ok(errs[len(others)], "DeleteCircle")
		w.tally(errs, social.ErrNotFound)
		w.same(whole(w, w.Members, friends), []social.Edge(nil), "the members of the deleted circle")
		w.graphIs(people[:1], follows{})
		for _, p := range others {
			w.same(w.getUser(p.ID).FollowersCount, 0, "FollowersCount after the only circle has gone")
		}
	}
}

func addToCircleDuringBlock(w *world) {
	people := w.users(crowd)
	for round := range 2 {
		// Pairs: one follows, the other blocks, in both directions.
		errs := together(crowd, func(i int) error {
			me, you := people[i], people[i^1]
			if (i+round)%2 == 0 {
				_, err := w.add(me.Following, me, you)
				return err
			}
			_, err := w.block(me, you)
			return err
		})
		w.tally(errs, social.ErrBlocked)
		for i := 0; i < crowd; i += 2 {
			w.graphIs(people[i:i+2], follows{})
			_, err := w.Unblock(w.ctx, people[i].ID, people[i+1].ID, event(social.EventUnblocked))
			w.ok(err, "Unblock")
			_, err = w.Unblock(w.ctx, people[i+1].ID, people[i].ID, event(social.EventUnblocked))
			w.ok(err, "Unblock")
		}
	}
}

func twoCirclesOfOneFollow(w *world) {
	// The follow ends with the last of many circles, whichever that is, and begins with the first.
	people := w.users(2)
	ada, ben := people[0], people[1]
	var circles []social.CircleID
	for i := range 16 {
		circles = append(circles, w.circle(ada, fmt.Sprint("Circle ", i)))
	}
	for range 3 {
		w.tally(together(len(circles), func(i int) error {
			_, err := w.add(circles[i], ada, ben)
			return err
		}))
		w.graphIs(people, follows{ada: {ben}})
		w.same(w.getUser(ben.ID).FollowersCount, 1, "FollowersCount of a member of 16 circles")
		w.tally(together(len(circles), func(i int) error {
			_, err := w.remove(circles[i], ada, ben)
			return err
		}))
		w.graphIs(people, follows{})
	}
}

func importsDuringFollows(w *world) {
	people := w.users(8)
	var b batch
	want := follows{}
	for _, from := range people {
		for _, to := range people {
			if from != to {
				b.add(from.Following, from, to)
				want[from] = append(want[from], to)
			}
		}
	}
	added, followed := make([]int, 4), make([]bool, crowd)
	errs := together(crowd, func(i int) (err error) {
		if i < len(added) {
			added[i], err = w.ImportMemberships(w.ctx, b.memberships, b.edges)
			return err
		}
		m := b.memberships[i%len(b.memberships)]
		followed[i], err = w.AddToCircle(w.ctx, m, newEdgeID(), event(social.EventMemberAdded))
		return err
	})
	w.same(w.tally(errs), crowd, "the number of successes")
	w.same(added[0]+added[1]+added[2]+added[3]+count(followed), len(b.memberships), "the number of memberships added by all")
	w.graphIs(people, want)
}

// manyReadersOfOneThread reads a thread many times at the same time, while others write. Each page
// must have what was stored before the read began, and readers may change the page that they get.
func manyReadersOfOneThread(w *world) {
	ada := w.user()
	p := w.status(ada)
	list := social.List[social.Thread]{Of: social.Thread{Post: p.ID, Order: social.OrderOldest}, Page: social.Page{Limit: 100}}
	var mu sync.Mutex
	var stored []social.CommentID
	write := func() error {
		c := newComment(p, nil, ada)
		err := w.insertComment(c)
		mu.Lock()
		defer mu.Unlock()
		stored = append(stored, c.ID)
		return err
	}
	read := func() error {
		mu.Lock()
		before := slices.Clone(stored)
		mu.Unlock()
		pages, err := w.Thread(w.ctx, []social.List[social.Thread]{list})
		if err != nil {
			return err
		}
		var got []social.CommentID
		for i, c := range pages[list] {
			got = append(got, c.ID)
			pages[list][i] = nil
		}
		for _, c := range before {
			if !slices.Contains(got, c) {
				return fmt.Errorf("a comment that was stored before is missing among %d", len(got))
			}
		}
		return nil
	}
	w.tally(together(crowd, func(i int) error {
		for range 3 {
			do := read
			if i%8 == 5 {
				do = write
			}
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}))
}

// manyReadersOfNews reads the newest pages of many users at the same time, while the people they
// follow write. Each page must have what was stored before the read began, and nothing by others.
func manyReadersOfNews(w *world) {
	const authors = 3
	people := w.users(authors + 8)
	writers, readers := people[:authors], people[authors:]
	follows := func(reader, writer int) bool { return reader>>writer&1 == 1 } // each reader other writers
	for i, reader := range readers {
		for j, writer := range writers {
			if follows(i, j) {
				w.follow(reader, writer)
			}
		}
	}
	var mu sync.Mutex
	var stored []*social.Post
	write := func(i int) error {
		p := statusBy(writers[i%authors])
		err := w.InsertPost(w.ctx, p, event(social.EventPostCreated))
		mu.Lock()
		defer mu.Unlock()
		stored = append(stored, p)
		return err
	}
	for i := range 11 {
		w.ok(write(i), "InsertPost")
	}
	read := func(i int) error {
		reader, limit := i%len(readers), 1+i%7
		for range 3 {
			mu.Lock()
			before := slices.Clone(stored)
			mu.Unlock()
			got, err := w.News(w.ctx, readers[reader].ID, social.Page{Limit: limit})
			if err != nil {
				return err
			}
			by := func(p *social.Post) bool {
				return slices.ContainsFunc(writers, func(writer person) bool {
					return writer.ID == p.Author && follows(reader, slices.Index(writers, writer))
				})
			}
			if err := newestOf(got, limit, before, by); err != nil {
				return fmt.Errorf("reader %d, limit %d: %w", reader, limit, err)
			}
		}
		return nil
	}
	w.tally(together(crowd, func(i int) error {
		if i%8 == 5 {
			return write(i)
		}
		return read(i)
	}))
}

// newestOf checks that a page has the newest of all posts that belong into a list, and no others.
func newestOf(page []*social.Post, limit int, all []*social.Post, belongs func(*social.Post) bool) error {
	if len(page) > limit {
		return fmt.Errorf("%d posts", len(page))
	}
	for i, p := range page {
		if !belongs(p) {
			return fmt.Errorf("post %d does not belong there", i)
		}
		if i > 0 && page[i-1].ID.Compare(p.ID.ID) <= 0 {
			return fmt.Errorf("post %d is not older than the one before", i)
		}
	}
	for i, p := range all {
		isWithin := len(page) < limit || p.ID.Compare(page[limit-1].ID.ID) > 0
		isThere := slices.ContainsFunc(page, func(other *social.Post) bool { return other.ID == p.ID })
		if belongs(p) && isWithin && !isThere {
			return fmt.Errorf("post %d of those that were stored before is missing", i)
		}
	}
	return nil
}
