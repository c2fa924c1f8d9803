package storagetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"plaza/id"
	"plaza/social"
)

var postCases = []testCase{
	{"AllTypesOfContentAreStored", allTypesOfContentAreStored},
	{"AllAudiencesAreStored", allAudiencesAreStored},
	{"TextsAreReturnedByteForByte", postTextsAreReturnedByteForByte},
	{"UpdatePostStoresOnlyTheAuthorsFields", updatePostStoresOnlyTheAuthorsFields},
	{"UpdatePostRejectsAStaleRevision", updatePostRejectsAStaleRevision},
	{"UpdatePostKeepsHistory", updatePostKeepsHistory},
	{"HistoriesReadManyPosts", historiesReadManyPosts},
	{"DeletePostRemovesEverything", deletePostRemovesEverything},
	{"DeletePostKeepsOtherPosts", deletePostKeepsOtherPosts},
	{"PostsReadsByID", postsReadsByID},
	{"PublicAuthorsAreTheLatestFirst", publicAuthorsAreTheLatestFirst},
	{"PutVoteCountsOneVotePerUser", putVoteCountsOneVotePerUser},
	{"PutReactionCountsOneReactionPerUser", putReactionCountsOneReactionPerUser},
	{"PollsCloseOnce", pollsCloseOnce},
	{"PollsAreClosedOnceByManyServers", pollsAreClosedOnceByManyServers},
	{"DeletedPollsDoNotClose", deletedPollsDoNotClose},
	{"VotersAreRead", votersAreRead},
	{"VotesAndReactionsReadManyPosts", votesAndReactionsReadManyPosts},
	{"ThreadSettingsAreStored", threadSettingsAreStored},
	{"MarksAreListed", marksAreListed},
	{"ThreadMutesAreCountedOncePerUser", threadMutesAreCountedOncePerUser},
}

// contents returns one or more of each type, with all fields and with as few as possible.
func contents() map[string]social.Content {
	return map[string]social.Content{
		"status":       {Status: &social.Status{Text: "Hello."}},
		"empty status": {Status: &social.Status{}},
		"photo":        {Photo: &social.Photo{URL: "https://example.org/p.jpg", Caption: "Us", Width: 4032, Height: 3024}},
		"bare photo":   {Photo: &social.Photo{URL: "https://example.org/p.jpg"}},
		"link":         {Link: &social.Link{URL: "https://example.org/?q=a&b=%20#c", Title: "A page", Text: "Read this"}},
		"bare link":    {Link: &social.Link{URL: "https://example.org"}},
		"checkin":      {Checkin: &social.Checkin{Place: "Plaza", Latitude: 52.520008, Longitude: -13.404954, Text: "Here"}},
		"checkin with a photo": {Checkin: &social.Checkin{
			Place: "Plaza", Text: "Seen", Photo: &social.Picture{URL: "https://example.org/plaza.jpg", Alt: "a plaza", Width: 640, Height: 427},
		}},
		"null island":   {Checkin: &social.Checkin{Place: "Null Island"}},
		"pole":          {Checkin: &social.Checkin{Place: "Pole", Latitude: -90, Longitude: 180}},
		"exact numbers": {Checkin: &social.Checkin{Place: "0.1+0.2", Latitude: 0.30000000000000004, Longitude: 1e-300}},
		"poll": {Poll: &social.Poll{
			Question: "Tea?", Options: []string{"Yes", "No", "Yes", "$inc", ""}, ClosesAt: now().Add(48 * time.Hour),
		}},
		"endless poll": {Poll: &social.Poll{Question: "Tea?", Options: []string{"Yes", "No"}}},
	}
}

func allTypesOfContentAreStored(w *world) {
	ada, ben := w.user(), w.user()
	for name, content := range contents() {
		p := statusBy(ada)
		p.Content = content
		w.insert(p)
		w.same(w.getPost(p.ID), stored(p), "the %s", name)

		full := statusBy(ada)
		full.WallOwner, full.EditedAt, full.Revision = ben.ID, now(), 3
		full.Content = content
		w.insert(full)
		w.same(w.getPost(full.ID), stored(full), "the %s on another wall", name)
		replaced := w.edit(full, content)
		w.same(w.getPost(full.ID), stored(full), "the edited %s", name)
		w.same(w.history(full), []social.Version{replaced}, "the earlier version of the %s", name)
		w.zeroTimes(p)
	}
}

// edit changes the content of a post, and returns the version that was replaced.
func (w *world) edit(p *social.Post, content social.Content) social.Version {
	w.t.Helper()
	p.EditedAt = now()
	replaced := social.Version{Content: p.Content, Audience: p.Audience, EditedAt: p.EditedAt}
	p.Content = content
	p.Edits++
	p.Revision++
	w.ok(w.UpdatePost(w.ctx, p, &replaced, event(social.EventPostEdited)), "UpdatePost")
	return replaced
}

// history reads one post's earlier versions.
func (w *world) history(p *social.Post) []social.Version {
	w.t.Helper()
	return lookup(w, w.Histories, []social.PostID{p.ID})[p.ID]
}

// stored returns the post that a read right after its insertion must return.
func stored(p *social.Post) *social.Post {
	read := *p
	if p.Content.Poll != nil {
		read.Votes = make([]int, len(p.Content.Poll.Options))
	}
	return &read
}

// zeroTimes checks that zero times are still zero when they are read.
func (w *world) zeroTimes(p *social.Post) {
	w.t.Helper()
	read := w.getPost(p.ID)
	if !read.EditedAt.IsZero() {
		w.t.Errorf("EditedAt of a post that was never edited is %v", read.EditedAt)
	}
	if poll := p.Content.Poll; poll != nil && poll.ClosesAt.IsZero() && !read.Content.Poll.ClosesAt.IsZero() {
		w.t.Errorf("ClosesAt of an endless poll is %v", read.Content.Poll.ClosesAt)
	}
}

func allAudiencesAreStored(w *world) {
	ada := w.user()
	var circles []social.CircleID
	for i := range 20 {
		circles = append(circles, w.circle(ada, fmt.Sprint("Circle ", i)))
	}
	slices.Reverse(circles)
	for _, audience := range []social.Audience{
		{Kind: social.AudiencePublic},
		{Kind: social.AudienceCircles},
		{Kind: social.AudienceListed, Circles: circles[:1]},
		{Kind: social.AudienceListed, Circles: circles},
		{Kind: social.AudienceListed},
		{Kind: social.AudienceOnlyMe},
	} {
		p := statusBy(ada)
		p.Audience = audience
		w.insert(p)
		w.same(w.getPost(p.ID).Audience, audience, "the audience")
		replaced := w.edit(p, p.Content)
		w.same(w.history(p), []social.Version{replaced}, "the version with its audience")

		// Every audience can be changed to every other.
		other := *w.status(ada)
		other.Audience, other.Revision = audience, 1
		w.ok(w.UpdatePost(w.ctx, &other, nil, event(social.EventAudienceChanged)), "UpdatePost to %s", audience.Kind)
		w.same(w.getPost(other.ID).Audience, audience, "the changed audience")
		other.Audience, other.Revision = social.Audience{Kind: social.AudiencePublic}, 2
		w.ok(w.UpdatePost(w.ctx, &other, nil, event(social.EventAudienceChanged)), "UpdatePost back from %s", audience.Kind)
		w.same(w.getPost(other.ID).Audience, other.Audience, "the audience that was changed back")
		absent(w, "version of what was never edited", w.Histories, other.ID)
	}
}

func postTextsAreReturnedByteForByte(w *world) {
	ada := w.user()
	for name, text := range hardTexts {
		p := w.insert(statusBy(ada))
		var history []social.Version
		for _, content := range []social.Content{
			{Status: &social.Status{Text: text}},
			{Photo: &social.Photo{URL: text, Caption: text}},
			{Link: &social.Link{URL: text, Title: text, Text: text}},
			{Checkin: &social.Checkin{Place: text, Text: text}},
			{Poll: &social.Poll{Question: text, Options: []string{text, "b"}}},
		} {
			history = append(history, w.edit(p, content))
			w.same(w.getPost(p.ID).Content, content, "the content of %s texts", name)
		}
		history = append(history, w.edit(p, p.Content))
		w.same(w.history(p), history, "the versions of %s texts", name)
		c := newComment(p, nil, ada)
		c.Text = text
		w.ok(w.insertComment(c), "InsertComment of a %s text", name)
		w.same(w.getComment(c.ID).Text, text, "the %s text of a comment", name)
		w.same(w.getPost(p.ID).Latest[0].Text, text, "the %s text of a comment in a preview", name)
	}
}

func updatePostStoresOnlyTheAuthorsFields(w *world) {
	ada, ben := w.user(), w.user()
	circle := w.circle(ada, "Friends")
	p := w.poll(ada, 3)
	c := w.comment(p, nil, ben)
	w.ok(w.PutVote(w.ctx, p.ID, ben.ID, 1, event(social.EventPollVoted)), "PutVote")
	w.ok(w.PutReaction(w.ctx, p.ID, ben.ID, social.ReactionWow, event(social.EventReactionAdded)), "PutReaction")

	edited := *p
	edited.Audience = social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{circle}}
	edited.Content.Poll = &social.Poll{Question: "Which one?", Options: p.Content.Poll.Options, ClosesAt: now()}
	replaced := social.Version{Content: p.Content, Audience: p.Audience, EditedAt: now()}
	edited.EditedAt, edited.Revision, edited.Edits = now(), 1, 1
	given := edited
	given.Author, given.WallOwner = ben.ID, ben.ID // an update must store neither these nor the counts
	given.CommentCount, given.Votes, given.Reactions, given.Latest = 9, []int{9, 9, 9}, nil, []*social.Comment{}
	given.Edits = 9
	w.ok(w.UpdatePost(w.ctx, &given, &replaced, event(social.EventPostEdited)), "UpdatePost")

	want := edited
	want.CommentCount, want.Latest, want.Votes = 1, []*social.Comment{c}, []int{0, 1, 0}
	want.Reactions = map[social.ReactionKind]int{social.ReactionWow: 1}
	w.same(w.getPost(p.ID), &want, "the updated post")
	w.same(w.postIDs(whole(w, w.Wall, ada.ID)), []social.PostID{p.ID}, "the author's wall")
	w.same(w.postIDs(whole(w, w.Wall, ben.ID)), []social.PostID(nil), "the other's wall")
}

// postIDs returns the ids of the posts in a feed.
func (w *world) postIDs(posts []*social.Post) []social.PostID {
	var ids []social.PostID
	for _, p := range posts {
		ids = append(ids, p.ID)
	}
	return ids
}

func updatePostRejectsAStaleRevision(w *world) {
	p := *w.status(w.user())
	for _, revision := range []int{0, 2, -1, 100} {
		given := p
		given.Content, given.Revision = social.Content{Status: &social.Status{Text: "too late"}}, revision
		err := w.UpdatePost(w.ctx, &given, &social.Version{Content: p.Content}, event(social.EventPostEdited))
		w.fails(err, social.ErrConflict, "UpdatePost with revision %d over 0", revision)
	}
	w.same(w.getPost(p.ID), &p, "the post after refused updates")
	absent(w, "version of a refused update", w.Histories, p.ID)
	p.Revision = 1
	w.ok(w.UpdatePost(w.ctx, &p, nil, event(social.EventPostEdited)), "UpdatePost with revision 1 over 0")
	w.fails(w.UpdatePost(w.ctx, &p, nil, event(social.EventPostEdited)), social.ErrConflict, "the same again")
	nowhere := statusBy(person{ID: p.Author})
	nowhere.Revision = 1
	err := w.UpdatePost(w.ctx, nowhere, &social.Version{Content: nowhere.Content}, event(social.EventPostEdited))
	w.fails(err, social.ErrNotFound, "UpdatePost of what is absent")
	absent(w, "post that was only updated", w.Posts, nowhere.ID)
	absent(w, "version of a post that was only updated", w.Histories, nowhere.ID)
}

func updatePostKeepsHistory(w *world) {
	p := w.status(w.user())
	var history []social.Version
	for i := range 12 {
		history = append(history, w.edit(p, social.Content{Status: &social.Status{Text: fmt.Sprint("version ", i)}}))
		if i%3 == 0 { // a change that replaces no version
			p.Audience.Kind = []social.AudienceKind{social.AudienceOnlyMe, social.AudienceCircles}[i%2]
			p.Revision++
			w.ok(w.UpdatePost(w.ctx, p, nil, event(social.EventAudienceChanged)), "UpdatePost of the audience")
		}
		w.same(w.getPost(p.ID), p, "the post after edit %d", i)
		w.same(w.history(p), history, "its history after edit %d", i)
	}
}

func historiesReadManyPosts(w *world) {
	ada := w.user()
	ids := []social.PostID{newPostID(), {}}
	want := map[social.PostID][]social.Version{}
	for i := range 20 {
		p := w.status(ada)
		ids = append(ids, p.ID)
		for n := range i % 4 {
			want[p.ID] = append(want[p.ID], w.edit(p, social.Content{Status: &social.Status{Text: fmt.Sprint(i, " and ", n)}}))
		}
	}
	edited := ids[2+3] // an engine may read in batches: it is in two of them
	for range 2000 {
		ids = append(ids, newPostID())
	}
	ids = append(ids, edited, edited)
	w.same(lookup(w, w.Histories, ids), want, "the histories of 20 posts")
}

func deletePostRemovesEverything(w *world) {
	ada, ben := w.user(), w.user()
	w.follow(ben, ada)
	p := w.poll(ada, 2)
	first := w.comment(p, nil, ben)
	reply := w.comment(p, first, ada)
	w.deleteComment(first) // a tombstone
	w.edit(p, p.Content)
	w.ok(w.PutVote(w.ctx, p.ID, ben.ID, 1, event(social.EventPollVoted)), "PutVote")
	w.ok(w.PutReaction(w.ctx, p.ID, ben.ID, social.ReactionSad, event(social.EventReactionAdded)), "PutReaction")
	w.did(true)(w.MuteThread(w.ctx, p.ID, ben.ID, event(social.EventThreadMuted)))

	listed := social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{w.circle(ada, "one"), w.circle(ada, "two")}}
	p.Audience = listed.Normal()
	w.edit(p, p.Content)
	tail, deleted := w.tail(), event(social.EventPostDeleted)
	w.ok(w.DeletePost(w.ctx, p.ID, deleted), "DeletePost")
	deleted.Author, deleted.Audience = ada.ID, p.Audience
	w.sameEvents(tail.rest(), []social.Event{deleted}, "the event, which says who saw the post")
	w.isGone(p.ID, ben, []*social.Comment{first, reply})
	w.same(w.postIDs(whole(w, w.Wall, ada.ID)), []social.PostID(nil), "the wall")
	w.same(w.postIDs(whole(w, w.settledNews, ben.ID)), []social.PostID(nil), "a follower's news")

	w.fails(w.DeletePost(w.ctx, p.ID, event(social.EventPostDeleted)), social.ErrNotFound, "deleting again")
	w.fails(w.insertComment(newComment(p, nil, ben)), social.ErrNotFound, "commenting on a deleted post")
	w.fails(w.insertComment(newComment(p, reply, ben)), social.ErrNotFound, "replying under a deleted post")
	err := w.EditComment(w.ctx, reply.ID, "x", now(), event(social.EventCommentEdited))
	w.fails(err, social.ErrNotFound, "editing a comment of a deleted post")
	err = w.DeleteComment(w.ctx, reply.ID, event(social.EventCommentDeleted))
	w.fails(err, social.ErrNotFound, "deleting a comment of a deleted post")
	w.isGone(p.ID, ben, []*social.Comment{first, reply})
}

// isGone looks for what may be left of a post.
func (w *world) isGone(post social.PostID, user person, comments []*social.Comment) {
	w.t.Helper()
	posts := []social.PostID{post}
	absent(w, "deleted post", w.Posts, posts...)
	absent(w, "version", w.Histories, posts...)
	absent(w, "vote", w.votesOf(user.ID), posts...)
	absent(w, "reaction", w.reactionsOf(user.ID), posts...)
	absent(w, "thread mute", w.threadMutesOf(user), posts...)
	w.same(len(whole(w, w.CommentsBy, user.ID)), 0, "the number of comments by a user who wrote none elsewhere")
	for _, c := range comments {
		absent(w, "comment", w.Comments, c.ID)
		link := social.Permalink{Post: post, Slug: c.Slug}
		absent(w, "comment by its slug", w.CommentsBySlug, link)
	}
	for _, order := range []social.CommentOrder{social.OrderOldest, social.OrderNewest, social.OrderThreaded} {
		thread := whole(w, w.Thread, social.Thread{Post: post, Order: order})
		w.same(len(thread), 0, "the number of comments in the thread %s", order)
	}
	n, err := entries(w.LatestComments(w.ctx, posts, nil, 3))
	w.ok(err, "LatestComments")
	w.same(n, 0, "the number of latest comments")
}

func deletePostKeepsOtherPosts(w *world) {
	ada := w.user()
	before, p, after := w.poll(ada, 2), w.poll(ada, 2), w.poll(ada, 2)
	history := map[social.PostID][]social.Version{}
	for _, post := range []*social.Post{before, p, after} {
		history[post.ID] = []social.Version{w.edit(post, post.Content)}
		w.comment(post, w.comment(post, nil, ada), ada)
		w.ok(w.PutVote(w.ctx, post.ID, ada.ID, 1, event(social.EventPollVoted)), "PutVote")
		w.ok(w.PutReaction(w.ctx, post.ID, ada.ID, social.ReactionLike, event(social.EventReactionAdded)), "PutReaction")
	}
	w.ok(w.DeletePost(w.ctx, p.ID, event(social.EventPostDeleted)), "DeletePost")
	for _, post := range []*social.Post{before, after} {
		read := w.getPost(post.ID)
		w.same(w.history(post), history[post.ID], "the history of another post")
		w.same(read.Votes, []int{0, 1}, "the votes of another post")
		w.same(read.Reactions, map[social.ReactionKind]int{social.ReactionLike: 1}, "the reactions to another post")
		w.checkThread(post.ID, 2)
	}
	w.same(w.postIDs(whole(w, w.Wall, ada.ID)), []social.PostID{after.ID, before.ID}, "the wall")
}

func postsReadsByID(w *world) {
	ada := w.user()
	ids := []social.PostID{newPostID(), {}}
	want := map[social.PostID]*social.Post{}
	for i := range 100 {
		p := statusBy(ada)
		w.insert(p)
		if i%3 == 0 {
			p.Latest, p.CommentCount = []*social.Comment{w.comment(p, nil, ada)}, 1
		}
		ids = append(ids, p.ID, newPostID())
		want[p.ID] = p
	}
	ids = append(ids, ids[2], ids[4])
	w.same(lookup(w, w.Posts, ids), want, "100 posts")
}

func publicAuthorsAreTheLatestFirst(w *world) {
	people := w.users(6)
	ada, ben, cem, dia, eva, fay := people[0], people[1], people[2], people[3], people[4], people[5]
	w.insert(
		statusBy(fay), // beyond the newest
		statusBy(ada), statusBy(ben), statusBy(ada), on(ada, statusBy(cem)),
		to(social.AudienceCircles, statusBy(dia)), to(social.AudienceOnlyMe, statusBy(ben)),
	)
	past := statusBy(eva)
	past.ID = social.PostID{ID: id.At(now().Add(-time.Hour))}
	w.insert(past)
	authors, err := w.PublicAuthors(w.ctx, 6)
	w.ok(err, "PublicAuthors")
	w.same(authors, []social.UserID{cem.ID, ada.ID, ben.ID}, "the authors of 6 posts")
	authors, err = w.PublicAuthors(w.ctx, 100)
	w.ok(err, "PublicAuthors")
	w.same(authors, []social.UserID{cem.ID, ada.ID, ben.ID, fay.ID, eva.ID}, "the authors of all posts")
}

func putVoteCountsOneVotePerUser(w *world) {
	people := w.users(3)
	p, other := w.poll(people[0], 3), w.poll(people[0], 2)
	vote := func(post social.PostID, user person, option int) error {
		return w.PutVote(w.ctx, post, user.ID, option, event(social.EventPollVoted))
	}
	for i, step := range []struct {
		user   person
		option int
		want   []int
	}{
		{people[0], 1, []int{0, 1, 0}},
		{people[1], 1, []int{0, 2, 0}},
		{people[1], 1, []int{0, 2, 0}},
		{people[1], 0, []int{1, 1, 0}},
		{people[2], 2, []int{1, 1, 1}},
		{people[0], 0, []int{2, 0, 1}},
		{people[1], 1, []int{1, 1, 1}},
	} {
		w.ok(vote(p.ID, step.user, step.option), "PutVote")
		w.same(w.getPost(p.ID).Votes, step.want, "the counts after step %d", i)
		votes := lookup(w, w.votesOf(step.user.ID), []social.PostID{p.ID, other.ID})
		w.same(votes, map[social.PostID]int{p.ID: step.option}, "the user's votes after step %d", i)
	}
	w.same(w.getPost(other.ID).Votes, []int{0, 0}, "the counts of another poll")
	nowhere := newPostID()
	w.fails(vote(nowhere, people[0], 0), social.ErrNotFound, "a vote in an absent poll")
	absent(w, "vote in an absent poll", w.votesOf(people[0].ID), nowhere)
}

func putReactionCountsOneReactionPerUser(w *world) {
	people := w.users(3)
	p, other := w.status(people[0]), w.status(people[0])
	type counts = map[social.ReactionKind]int
	for i, step := range []struct {
		user person
		kind social.ReactionKind // empty: remove it
		want counts
	}{
		{people[0], "", nil},
		{people[0], social.ReactionLike, counts{"LIKE": 1}},
		{people[1], social.ReactionLike, counts{"LIKE": 2}},
		{people[1], social.ReactionLike, counts{"LIKE": 2}},
		{people[2], social.ReactionAngry, counts{"LIKE": 2, "ANGRY": 1}},
		{people[2], social.ReactionLove, counts{"LIKE": 2, "LOVE": 1}},
		{people[0], "", counts{"LIKE": 1, "LOVE": 1}},
		{people[0], "", counts{"LIKE": 1, "LOVE": 1}},
		{people[1], "", counts{"LOVE": 1}},
		{people[2], "", nil},
		{people[2], social.ReactionSad, counts{"SAD": 1}},
	} {
		var mine map[social.PostID]social.ReactionKind
		if step.kind == "" {
			w.ok(w.DeleteReaction(w.ctx, p.ID, step.user.ID, event(social.EventReactionRemoved)), "DeleteReaction")
		} else {
			w.ok(w.PutReaction(w.ctx, p.ID, step.user.ID, step.kind, event(social.EventReactionAdded)), "PutReaction")
			mine = map[social.PostID]social.ReactionKind{p.ID: step.kind}
		}
		w.same(w.getPost(p.ID).Reactions, step.want, "the counts after step %d", i)
		got, err := w.Reactions(w.ctx, step.user.ID, []social.PostID{p.ID, other.ID})
		w.ok(err, "Reactions")
		w.same(got, mine, "the user's reactions after step %d", i)
	}
	w.same(w.getPost(other.ID).Reactions, counts(nil), "the counts of another post")
	nowhere := newPostID()
	err := w.PutReaction(w.ctx, nowhere, people[0].ID, social.ReactionLike, event(social.EventReactionAdded))
	w.fails(err, social.ErrNotFound, "PutReaction to an absent post")
	err = w.DeleteReaction(w.ctx, nowhere, people[0].ID, event(social.EventReactionRemoved))
	w.fails(err, social.ErrNotFound, "DeleteReaction from an absent post")
}

// threadMutesOf reads which threads a user mutes.
func (w *world) threadMutesOf(user person) batchLookup[social.PostID, bool] {
	return func(ctx context.Context, posts []social.PostID) (map[social.PostID]bool, error) {
		mutes := make([]social.ThreadMute, len(posts))
		for i, post := range posts {
			mutes[i] = social.ThreadMute{Post: post, User: user.ID}
		}
		found, err := w.MutedThreads(ctx, mutes)
		muted := map[social.PostID]bool{}
		for m, is := range found {
			w.same(m.User, user.ID, "whose mute is read")
			muted[m.Post] = is
		}
		return muted, err
	}
}

func threadSettingsAreStored(w *world) {
	ada := w.user()
	circles := []social.CircleID{w.circle(ada, "One"), w.circle(ada, "Two")}
	p := w.status(ada)
	plain := statusBy(ada)
	plain.Replies, plain.Order = social.ReplyPolicy{}, ""
	w.same(w.getPost(w.insert(plain).ID).Replies.Kind, social.RepliesEveryone, "the reply policy of a post without one")
	w.same(w.getPost(plain.ID).Order, social.OrderOldest, "the order of a post without one")
	for _, replies := range []social.ReplyPolicy{
		{Kind: social.RepliesCircles},
		{Kind: social.RepliesListed, Circles: circles},
		{Kind: social.RepliesNobody},
		{Kind: social.RepliesListed, Circles: circles[:1]},
		{Kind: social.RepliesEveryone},
	} {
		for _, order := range []social.CommentOrder{social.OrderThreaded, social.OrderNewest, social.OrderOldest} {
			fresh := statusBy(ada)
			fresh.Replies, fresh.Order = replies, order
			w.same(w.getPost(w.insert(fresh).ID), fresh, "a post with replies for %s", replies.Kind)
			p.Replies, p.Order = replies, order
			p.Revision++
			w.ok(w.UpdatePost(w.ctx, p, nil, event(social.EventRepliesChanged)), "UpdatePost")
			w.same(w.getPost(p.ID), p, "the changed post, with replies for %s", replies.Kind)
		}
	}
}

func threadMutesAreCountedOncePerUser(w *world) {
	people := w.users(3)
	p, other := w.status(people[0]), w.status(people[0])
	mute := func(call func(context.Context, social.PostID, social.UserID, social.Event) (bool, error), user person) (bool, error) {
		return call(w.ctx, p.ID, user.ID, event(social.EventThreadMuted))
	}
	for i, step := range []struct {
		user        person
		call        func(context.Context, social.PostID, social.UserID, social.Event) (bool, error)
		did, muting bool
		muters      int
	}{
		{people[1], w.UnmuteThread, false, false, 0},
		{people[1], w.MuteThread, true, true, 1},
		{people[1], w.MuteThread, false, true, 1},
		{people[0], w.MuteThread, true, true, 2},
		{people[1], w.UnmuteThread, true, false, 1},
		{people[1], w.UnmuteThread, false, false, 1},
		{people[0], w.UnmuteThread, true, false, 0},
		{people[2], w.MuteThread, true, true, 1},
	} {
		w.did(step.did)(mute(step.call, step.user))
		want := map[social.PostID]bool{}
		if step.muting {
			want[p.ID] = true
		}
		w.same(lookup(w, w.threadMutesOf(step.user), []social.PostID{p.ID, other.ID, newPostID()}), want, "what one mutes after step %d", i)
		w.same(w.getPost(p.ID).Muters, step.muters, "Muters after step %d", i)
	}
	w.did(true)(w.MuteThread(w.ctx, other.ID, people[0].ID, event(social.EventThreadMuted)))
	mutes := []social.ThreadMute{{Post: p.ID, User: people[2].ID}, {Post: other.ID, User: people[0].ID}}
	crossed := []social.ThreadMute{{Post: p.ID, User: people[0].ID}, {Post: other.ID, User: people[2].ID}}
	w.same(lookup(w, w.MutedThreads, append(crossed, mutes...)), map[social.ThreadMute]bool{mutes[0]: true, mutes[1]: true}, "the mutes of several users")
	w.did(true)(w.UnmuteThread(w.ctx, other.ID, people[0].ID, event(social.EventThreadUnmuted)))
	w.edit(p, p.Content)
	w.same(w.getPost(p.ID).Muters, 1, "Muters after an edit")
	w.same(w.getPost(other.ID).Muters, 0, "Muters of another post")
	nowhere := newPostID()
	for _, call := range []func(context.Context, social.PostID, social.UserID, social.Event) (bool, error){w.MuteThread, w.UnmuteThread} {
		_, err := call(w.ctx, nowhere, people[0].ID, event(social.EventThreadMuted))
		w.fails(err, social.ErrNotFound, "muting an absent post")
	}
	absent(w, "mute of an absent post", w.threadMutesOf(people[0]), nowhere)
}

func votesAndReactionsReadManyPosts(w *world) {
	ada, ben := w.user(), w.user()
	votes, reactions := map[social.PostID]int{}, map[social.PostID]social.ReactionKind{}
	kinds := []social.ReactionKind{"LIKE", "LOVE", "LAUGH", "WOW", "SAD", "ANGRY"}
	ids := []social.PostID{newPostID(), {}}
	for i := range 100 {
		p := w.poll(ada, 2)
		ids = append(ids, p.ID)
		if i%2 == 0 {
			votes[p.ID] = i / 2 % 2
			w.ok(w.PutVote(w.ctx, p.ID, ben.ID, votes[p.ID], event(social.EventPollVoted)), "PutVote")
		}
		if i%3 == 0 {
			reactions[p.ID] = kinds[i/3%len(kinds)]
			w.ok(w.PutReaction(w.ctx, p.ID, ben.ID, reactions[p.ID], event(social.EventReactionAdded)), "PutReaction")
		}
	}
	ids = append(ids, slices.Collect(maps.Keys(votes))...) // once more
	w.same(lookup(w, w.votesOf(ben.ID), ids), votes, "the votes")
	got, err := w.Reactions(w.ctx, ben.ID, ids)
	w.ok(err, "Reactions")
	w.same(got, reactions, "the reactions")
	absent(w, "another user's vote", w.votesOf(ada.ID), ids...)
}

// closing stores a poll without an id, which closes that long from now.
func (w *world) closing(author person, in time.Duration) social.PostID {
	w.t.Helper()
	p := statusBy(author)
	p.ID = social.PostID{}
	p.Content = social.Content{Poll: &social.Poll{Question: "Which?", Options: []string{"a", "b"}, ClosesAt: now().Add(in)}}
	return w.insert(p).ID
}

func (w *world) closePolls(limit int) int {
	w.t.Helper()
	return number(w)(w.ClosePolls(w.ctx, limit))
}

// closed are the posts whose closing the log has, since the tail was opened.
func (w *world) closed(events []social.Event) (posts []social.PostID) {
	w.t.Helper()
	for _, e := range events {
		if e.Kind == social.EventPollClosed {
			w.sameEvents([]social.Event{e}, []social.Event{{ID: e.ID, Kind: e.Kind, Post: e.Post}}, "the event of a poll that has closed")
			posts = append(posts, e.Post)
		}
	}
	return posts
}

func pollsCloseOnce(w *world) {
	ada := w.user()
	tail := w.tail()
	w.same(w.closePolls(10), 0, "how many have closed without any poll")
	second, first, third := w.closing(ada, -time.Minute), w.closing(ada, -time.Hour), w.closing(ada, -time.Second)
	w.closing(ada, 30*time.Minute)
	w.closing(ada, 48*time.Hour)
	w.poll(ada, 2)
	past := statusBy(ada) // with an id, as in an import
	past.Content = social.Content{Poll: &social.Poll{Question: "Which?", Options: []string{"a", "b"}, ClosesAt: now().Add(-time.Hour)}}
	w.insert(past)
	w.same([]int{w.closePolls(2), w.closePolls(2), w.closePolls(2)}, []int{2, 1, 0}, "how many have closed")
	w.same(w.closed(tail.rest()), []social.PostID{first, second, third}, "what has closed, in order")
}

// pollsAreClosedOnceByManyServers: concurrent calls share the polls, and lose none.
func pollsAreClosedOnceByManyServers(w *world) {
	ada := w.user()
	tail := w.tail()
	var want []social.PostID
	for range 6 {
		want = append(want, w.closing(ada, -time.Hour))
	}
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() { w.closePolls(4) })
	}
	calls.Wait()
	w.closePolls(4)
	got := w.closed(tail.rest())
	slices.SortFunc(got, func(a, b social.PostID) int { return a.Compare(b.ID) })
	w.same(got, want, "what has closed")
}

func deletedPollsDoNotClose(w *world) {
	ada := w.user()
	tail := w.tail()
	gone, stays := w.closing(ada, -time.Hour), w.closing(ada, -time.Minute)
	w.ok(w.DeletePost(w.ctx, gone, event(social.EventPostDeleted)), "DeletePost")
	w.same(w.closePolls(10), 1, "how many have closed")
	w.same(w.closed(tail.rest()), []social.PostID{stays}, "what has closed")
}

func votersAreRead(w *world) {
	people := w.users(4)
	p, other := w.poll(people[0], 2), w.poll(people[0], 2)
	var ids []social.UserID
	for i, user := range people {
		w.ok(w.PutVote(w.ctx, p.ID, user.ID, i%2, event(social.EventPollVoted)), "PutVote")
		ids = append(ids, user.ID)
	}
	w.ok(w.PutVote(w.ctx, p.ID, people[0].ID, 1, event(social.EventPollVoted)), "PutVote")
	w.ok(w.PutVote(w.ctx, other.ID, people[0].ID, 1, event(social.EventPollVoted)), "PutVote")
	slices.SortFunc(ids, func(a, b social.UserID) int { return a.Compare(b.ID) })
	for post, want := range map[social.PostID][]social.UserID{p.ID: ids, other.ID: {people[0].ID}, newPostID(): nil} {
		voters, err := w.Voters(w.ctx, post, 10)
		w.ok(err, "Voters")
		w.same(voters, want, "the voters")
	}
	few, err := w.Voters(w.ctx, p.ID, 2)
	w.ok(err, "Voters")
	w.same(few, ids[:2], "the first voters")
}
