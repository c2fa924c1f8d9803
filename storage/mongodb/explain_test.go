package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestEveryQueryUsesAnIndex calls every method, collects the shapes of all commands, and asks
// MongoDB for their plans.
func TestEveryQueryUsesAnIndex(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	callEverything(w)
	walkIncoming(newTownAt(t, r, w.uri, mongodb.Walking(mongodb.Options{})))
	explainAll(t, r.take(), 40)
}

// walkIncoming reads the incoming of someone with a follower, on a server that walks for them.
func walkIncoming(w *town) {
	users := w.people(2)
	w.follow(users[0], users[1:])
	pages(func(p social.Page) {
		_, err := w.Incoming(w.ctx, users[1].User.ID, p)
		w.ok(err)
	})
}

// TestTwoCollectionsUseIndexes does the same for the other layout of the follower graph.
func TestTwoCollectionsUseIndexes(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Graph: mongodb.GraphTwo})
	users := w.people(250)
	for _, u := range users[1:] {
		w.follow(u, users[:1])
	}
	w.follow(users[0], users[1:])
	callCircles(w, users[0], users[1])
	callGraph(w, users[0], users[1], users[3])
	_, err := w.Incoming(w.ctx, users[0].User.ID, social.Page{Limit: 20})
	w.ok(err)
	explainAll(t, r.take(), 20)
}

// TestEveryLayoutUsesAnIndex does the same for the other layouts of comment threads.
func TestEveryLayoutUsesAnIndex(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive, mongodb.TinyAdaptive, mongodb.SmallPages} {
		t.Run(layout, func(t *testing.T) {
			r := new(recorder)
			w := newTownIn(t, r, layout)
			users := w.people(2)
			for n := range 40 { // other threads, so that a scan would not be the best plan
				p := w.post(status(users[0].User.ID, users[0].User.ID, public))
				w.ok(w.Fill(w.ctx, p.ID, forest(p, users[0].User.ID, 10*n)))
			}
			r.take()
			callComments(w, users[0], users[1])
			explainAll(t, r.take(), 15)
		})
	}
}

// TestOneDocumentNeedsNoPlan: MongoDB reads a single user, post or session by its _id without the
// query planner, which takes a fifth less time.
func TestOneDocumentNeedsNoPlan(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	ada := w.people(1)[0].User.ID
	post := w.post(status(ada, ada, public)).ID
	r.take()
	_, err := w.Users(w.ctx, []social.UserID{ada})
	w.ok(err)
	_, err = w.Posts(w.ctx, []social.PostID{post})
	w.ok(err)
	_, err = w.Session(w.ctx, [32]byte{1}, time.Now())
	if !errors.Is(err, social.ErrNotFound) {
		t.Errorf("a session that does not exist: %v", err)
	}
	commands := r.take()
	if len(commands) != 3 {
		t.Fatalf("%d commands, want 3: %s", len(commands), names(commands))
	}
	client := plainClient(t)
	direct := func(stage string) bool { return stage == "IDHACK" || strings.HasPrefix(stage, "EXPRESS") }
	for _, command := range commands {
		for _, c := range explainable(t, command) {
			if stages := stagesOf(explain(t, client, c, "queryPlanner")); !slices.ContainsFunc(stages, direct) {
				t.Errorf("%s is planned: %v", names([]bson.Raw{command}), stages)
			}
		}
	}
}

// explainAll asks MongoDB for the plans of commands, which must have at least this many shapes.
func explainAll(t *testing.T, commands []bson.Raw, least int) {
	t.Helper()
	shapes := map[string]bson.D{}
	for _, command := range commands {
		for _, c := range explainable(t, command) {
			// The longest command of a shape has the longest lists of values, which are the hardest
			// to plan.
			if shape := shapeOf(c); len(fmt.Sprint(c)) > len(fmt.Sprint(shapes[shape])) {
				shapes[shape] = c
			}
		}
	}
	if len(shapes) < least {
		t.Errorf("only %d shapes were seen", len(shapes))
	}
	client := plainClient(t)
	for shape, command := range shapes {
		plan := explain(t, client, command, "queryPlanner")
		stages := stagesOf(plan)
		for _, bad := range []string{"COLLSCAN", "SORT", "$sort"} {
			isAllowed := bad == "COLLSCAN" && asksForScan(command)
			if slices.Contains(stages, bad) && !isAllowed {
				t.Errorf("%s in the plan %v of\n%s", bad, stages, shape)
			}
		}
	}
	t.Logf("%d shapes explained", len(shapes))
}

// asksForScan reports whether a command asks for a scan of the log of changes, which is sixteen
// documents: an index would cost more.
func asksForScan(command bson.D) bool {
	return command[0] == bson.E{Key: "find", Value: "changes"} && slices.ContainsFunc(command, func(e bson.E) bool {
		return e.Key == "hint" && fmt.Sprint(e.Value) == fmt.Sprint(bson.D{{Key: "$natural", Value: 1}})
	})
}

// callEverything calls every method, and reads lists with every kind of bound, alone and in
// batches.
func callEverything(w *town) {
	_, position, err := w.Changes(w.ctx, nil)
	w.ok(err)
	users := w.people(250)
	ada, ben, cyd := users[0], users[1], users[2]
	w.follow(ada, users[1:])
	w.follow(ben, users[:1])
	for _, u := range users[:220] { // more followers than one merge takes
		if u.User.ID != cyd.User.ID {
			w.follow(u, []social.NewUser{cyd})
		}
	}
	callUsers(w, ada)
	callProfiles(w, users)
	callCircles(w, ada, ben)
	callGraph(w, ada, ben, users[3])
	callPosts(w, ada, ben)
	callComments(w, ada, ben)
	pages(func(p social.Page) {
		for _, viewer := range []social.NewUser{ada, ben, cyd} {
			_, err := w.News(w.ctx, viewer.User.ID, p)
			w.ok(err)
			_, err = w.Incoming(w.ctx, viewer.User.ID, p)
			w.ok(err)
		}
	})
	callNotifications(w, ada, ben, users[4])
	callPolls(w, ada, ben)
	callCases(w, ada, users[4], users[5])
	callIdempotencyKeys(w, ada)
	callDeletion(w, users[4], users[5])
	_, _, err = w.Changes(w.ctx, position)
	w.ok(err)
	tail, err := w.Tail(w.ctx, "")
	w.ok(err)
	w.ok(tail.Close())
}

// callIdempotencyKeys carries operations out, with an answer and without.
func callIdempotencyKeys(w *town, ada social.NewUser) {
	attempt := func(key string) social.Attempt {
		a := social.Attempt{User: ada.User.ID, Key: key, ID: id.Derive(time.UnixMilli(1), key)}
		_, err := w.BeginAttempt(w.ctx, a, time.Hour)
		w.ok(err)
		return a
	}
	first := attempt("first")
	c := &social.Circle{ID: social.CircleID{ID: id.New()}, Owner: ada.User.ID, Name: "Once"}
	w.ok(w.InsertCircle(social.WithAttempts(w.ctx, first), c, social.MaxCircles, happened(social.EventCircleCreated)))
	w.ok(w.EndAttempt(w.ctx, first, []byte("an answer")))
	w.ok(w.EndAttempt(w.ctx, attempt("second"), nil))
	w.ok(w.EndAttempt(w.ctx, social.Attempt{User: ada.User.ID, Key: "third"}, nil))
	attempt("second")
}

// callCases reports what others wrote.
func callCases(w *town, ada, dan, eve social.NewUser) {
	on := func(author, reporter social.NewUser) social.Report {
		return social.Report{
			Subject: social.Subject{Post: social.PostID{ID: id.New()}}, Author: author.User.ID, Reporter: reporter.User.ID,
			Reason: social.ReasonOther, Text: "some words", At: time.Now(),
		}
	}
	first := on(ada, dan)
	for _, r := range []social.Report{first, first, on(dan, ada), on(ada, eve)} {
		_, err := w.Report(w.ctx, r, social.MaxReportsPerDay)
		w.ok(err)
	}
	var all []*social.Case
	pages(func(p social.Page) {
		found, err := w.CasesIn(w.ctx, social.CaseOpen, p)
		w.ok(err)
		all = append(all, found...)
	})
	for _, cases := range [][]*social.Case{all[:1], all} {
		_, err := w.NewestReports(w.ctx, cases, 5)
		w.ok(err)
	}
	decide := func(c *social.Case, action social.Action, post *social.Post, comment *social.Comment, e social.Event) {
		r, err := c.Rule(social.Decision{Subject: c.Subject, Author: c.Author, Moderator: eve.User.ID, Action: action, Reason: "a reason", At: time.Now()}, post, comment)
		w.ok(err)
		w.ok(w.Decide(w.ctx, r, e))
	}
	post := w.post(status(ada.User.ID, ada.User.ID, public))
	onPost := on(ada, dan)
	onPost.Subject.Post = post.ID
	_, err := w.Report(w.ctx, onPost, social.MaxReportsPerDay)
	w.ok(err)
	comment := w.comment(post, nil, ada.User.ID)
	onComment := on(ada, dan)
	onComment.Subject = social.Subject{Comment: comment.ID}
	_, err = w.Report(w.ctx, onComment, social.MaxReportsPerDay)
	w.ok(err)
	open, err := w.Cases(w.ctx, []social.CaseID{onPost.Subject.Case(), onComment.Subject.Case()})
	w.ok(err)
	decide(open[onComment.Subject.Case()], social.ActionHide, nil, comment, happened(social.EventCommentDeleted))
	decide(open[onPost.Subject.Case()], social.ActionHide, post, nil, happened(social.EventAudienceChanged))
	decide(all[0], social.ActionDismiss, nil, nil, social.Event{})
	pages(func(p social.Page) {
		_, err := w.Decisions(w.ctx, p)
		w.ok(err)
		_, err = w.DecisionsForAuthor(w.ctx, ada.User.ID, p)
		w.ok(err)
	})
	_, err = w.Cases(w.ctx, []social.CaseID{all[0].ID, all[1].ID})
	w.ok(err)
	reports, err := w.ReportsBy(w.ctx, dan.User.ID, social.ReportPosition{}, 2)
	w.ok(err)
	_, err = w.ReportsBy(w.ctx, dan.User.ID, reports[0].Position(), 3)
	w.ok(err)
}

// callNotifications notifies ada of what ben and cem did, and cem too.
func callNotifications(w *town, ada, ben, cem social.NewUser) {
	const server, lease = "a server", time.Hour
	_, is, err := w.LeaseNotifier(w.ctx, server, lease)
	w.ok(err)
	if !is {
		w.t.Fatal("another server is the notifier")
	}
	act := func(to social.NewUser, kind social.NotificationKind, actor social.NewUser) social.Notice {
		notice := social.Notice{NotificationGroup: social.NotificationGroup{To: to.User.ID, Kind: kind}, Act: social.Act{Actor: actor.User.ID}}
		if kind != social.NotifyFollow {
			notice.Post = social.PostID{ID: id.Derive(time.UnixMilli(1), "a post")}
		}
		if kind == social.NotifyReply {
			notice.NotificationGroup.Comment, notice.Act.Comment = social.CommentID{ID: id.New()}, social.CommentID{ID: id.New()}
		}
		return notice
	}
	undone, reply := act(ada, social.NotifyReaction, ben), act(ada, social.NotifyReply, ben)
	undone.Undone = true
	deleted := reply
	deleted.Undone, deleted.Lost = true, true
	for position, notices := range [][]social.Notice{
		{act(ada, social.NotifyReaction, ben), act(cem, social.NotifyFollow, ben), act(ada, social.NotifyReply, ben), reply},
		{act(ada, social.NotifyReaction, cem)},
		{undone},
		{deleted},
		nil,
	} {
		w.ok(w.Notify(w.ctx, server, lease, strconv.Itoa(position), notices))
	}
	var all []*social.Notification
	pages(func(p social.Page) {
		found, err := w.Notifications(w.ctx, ada.User.ID, p)
		w.ok(err)
		all = append(all, found...)
		_, _, err = w.NotificationChanges(w.ctx, ada.User.ID, p)
		w.ok(err)
	})
	_, err = w.ActsOn(w.ctx, []social.CommentID{reply.Act.Comment, {ID: id.New()}})
	w.ok(err)
	on, err := w.NotificationsOn(w.ctx, all[0].Post, 20)
	w.ok(err)
	for _, n := range on {
		w.ok(w.Notify(w.ctx, server, lease, "removed", []social.Notice{{NotificationGroup: n.NotificationGroup, Removed: n.ID, Lost: true}}))
	}
	_, err = w.UnreadNotifications(w.ctx, ada.User.ID, 20)
	w.ok(err)
	_, err = w.NotificationsByID(w.ctx, ada.User.ID, []social.NotificationID{all[0].ID})
	w.ok(err)
	w.ok(w.MarkRead(w.ctx, ada.User.ID, []social.NotificationID{all[0].ID}, all[0].Order))
	w.ok(w.Notify(w.ctx, server, lease, "more", []social.Notice{act(ada, social.NotifyReaction, ben)}))
	w.ok(w.LeaveNotifier(w.ctx, server))
	for _, enabled := range []bool{false, true, false} {
		w.ok(w.SetNotificationKind(w.ctx, ben.User.ID, social.NotifyFollow, enabled))
	}
	_, err = w.SilentNotificationKinds(w.ctx, []social.UserID{ada.User.ID, ben.User.ID})
	w.ok(err)
}

// callPolls closes a poll that has voters. Another one is open, and one is deleted.
func callPolls(w *town, ada, ben social.NewUser) {
	poll := func(closesAt time.Time) social.PostID {
		p := status(ada.User.ID, ada.User.ID, public)
		p.ID = social.PostID{}
		p.Content = social.Content{Poll: &social.Poll{Question: "?", Options: []string{"a", "b"}, ClosesAt: closesAt}}
		w.ok(w.InsertPost(w.ctx, p, happened(social.EventPostCreated)))
		return p.ID
	}
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	closed, gone := poll(past), poll(future)
	poll(future)
	w.ok(w.DeletePost(w.ctx, gone, happened(social.EventPostDeleted)))
	w.ok(w.PutVote(w.ctx, closed, ben.User.ID, 1, happened(social.EventPollVoted)))
	_, err := w.ClosePolls(w.ctx, 10)
	w.ok(err)
	_, err = w.Voters(w.ctx, closed, 10)
	w.ok(err)
}

// callDeletion deletes a user who has some data of every kind, including a post with a very large
// number of comments and marks.
func callDeletion(w *town, gone, other social.NewUser) {
	w.follow(gone, []social.NewUser{other})
	w.follow(other, []social.NewUser{gone})
	_, err := w.Mute(w.ctx, edge(other.User.ID, gone.User.ID), happened(social.EventMuted))
	w.ok(err)
	full := w.post(status(gone.User.ID, gone.User.ID, public))
	w.ok(w.Fill(w.ctx, full.ID, forest(full, other.User.ID, 1200)))
	p := w.post(status(other.User.ID, gone.User.ID, public))
	poll := status(other.User.ID, other.User.ID, public)
	poll.Content = social.Content{Poll: &social.Poll{Question: "?", Options: []string{"a", "b"}}}
	w.post(poll)
	w.comment(p, w.comment(p, nil, gone.User.ID), other.User.ID)
	for _, on := range []*social.Post{full, p} {
		w.ok(w.PutReaction(w.ctx, on.ID, gone.User.ID, social.ReactionLike, happened(social.EventReactionAdded)))
		_, err := w.MuteThread(w.ctx, on.ID, gone.User.ID, happened(social.EventThreadMuted))
		w.ok(err)
	}
	w.ok(w.PutVote(w.ctx, poll.ID, gone.User.ID, 1, happened(social.EventPollVoted)))
	for token := range 2 {
		w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: [32]byte{2, byte(token)}, User: gone.User.ID, ExpiresAt: time.Now().Add(time.Hour)}))
	}
	w.ok(w.DeleteUser(w.ctx, gone.User.ID, happened(social.EventUserDeleted)))
	_, err = w.IsDeleting(w.ctx, gone.User.ID)
	w.ok(err)
	_, err = w.Backlog(w.ctx)
	w.ok(err)
	w.ok(w.Sweep(w.ctx, gone.User.ID))
	pair := social.Pair{Other: gone.User.ID}
	relations, err := w.Relations(w.ctx, []social.Pair{pair})
	w.ok(err)
	if !relations[pair].Gone {
		w.t.Error("who is gone is there")
	}
}

// pages calls for each kind of page.
func pages(call func(social.Page)) {
	first, last := social.Key(id.At(time.Unix(1, 0)).Bytes()), social.Key(id.At(time.Now().Add(time.Hour)).Bytes())
	for _, after := range []social.Key{"", first} {
		for _, before := range []social.Key{"", last} {
			call(social.Page{After: after, Before: before, Limit: 20})
			call(social.Page{After: after, Before: before, Limit: 20, Last: true})
		}
	}
}

func callUsers(w *town, ada social.NewUser) {
	eve := social.NewUser{User: social.User{ID: social.UserID{ID: id.New()}, Handle: "eve"}}
	eve.Identity, eve.At = [32]byte{1}, time.Now()
	eve.Following = social.Circle{ID: social.CircleID{ID: id.New()}, Owner: eve.User.ID, Name: "Following"}
	w.ok(w.InsertUser(w.ctx, eve, happened(social.EventUserSignedUp)))
	w.ok(w.UpdateProfile(w.ctx, eve.User.ID, social.ProfileChange{Bio: &eve.User.Handle}, happened(social.EventProfileUpdated)))
	_, err := w.Users(w.ctx, []social.UserID{ada.User.ID, eve.User.ID})
	w.ok(err)
	_, err = w.UsersByHandle(w.ctx, []string{"eve", "unknown"})
	w.ok(err)
	_, err = w.GrantRight(w.ctx, eve.User.ID, social.RightAdmin, happened(social.EventRightGranted))
	w.ok(err)
	_, err = w.HasUsers(w.ctx)
	w.ok(err)
	_, err = w.UsersWithRights(w.ctx)
	w.ok(err)
	_, err = w.RevokeRight(w.ctx, eve.User.ID, social.RightAdmin, happened(social.EventRightRevoked))
	w.ok(err)
	pages(func(p social.Page) {
		p.After, p.Before = "", ""
		_, err = w.UsersNamed(w.ctx, "e", p)
		w.ok(err)
		p.After, p.Before = "ea", "ez"
		_, err = w.UsersNamed(w.ctx, "e", p)
		w.ok(err)
	})
	_, _, err = w.PasswordHash(w.ctx, "eve")
	w.ok(err)
	s := social.Session{TokenHash: [32]byte{1}, User: ada.User.ID, ExpiresAt: time.Now().Add(time.Hour)}
	w.ok(w.InsertSession(w.ctx, s))
	token := social.Session{TokenHash: [32]byte{7, 7}, User: s.User, ExpiresAt: s.ExpiresAt, CreatedAt: time.Now(), Grant: &social.Grant{Name: "robot"}}
	w.ok(w.InsertAccessToken(w.ctx, token, 1))
	w.ok(w.UseSession(w.ctx, token.TokenHash, time.Now(), token.ExpiresAt))
	_, err = w.Session(w.ctx, s.TokenHash, time.Now())
	w.ok(err)
	_, err = w.LiveSessions(w.ctx, [][32]byte{s.TokenHash}, time.Now())
	w.ok(err)
	_, err = w.Identities(w.ctx, [][32]byte{{1}})
	w.ok(err)
	_, err = w.Identities(w.ctx, [][32]byte{{1}, {2}})
	w.ok(err)
	w.ok(w.EndIdentities(w.ctx, ada.User.ID, time.Now()))
	if err := w.ReadmitIdentity(w.ctx, [32]byte{9}); !errors.Is(err, social.ErrNotFound) {
		w.t.Fatal(err)
	}
	w.ok(w.DeleteSession(w.ctx, s.TokenHash, happened(social.EventSessionEnded)))
	_, err = w.IsHandleKept(w.ctx, "ada", time.Now())
	w.ok(err)
	callEmails(w, ada)
	callInvitations(w, ada.User.ID)
}

// callInvitations leaves an invitation by ada and one by an operator.
func callInvitations(w *town, ada social.UserID) {
	at := time.UnixMilli(1 << 42).UTC()
	for _, inviter := range []social.UserID{{}, ada, ada} {
		i := social.Invitation{ID: social.InvitationID{ID: id.New()}, Inviter: inviter, MaxUses: 3, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
		w.ok(w.InsertInvitation(w.ctx, i, 5))
		_, err := w.InvitationsBy(w.ctx, inviter, at)
		w.ok(err)
		_, err = w.Invitation(w.ctx, i.ID, at)
		w.ok(err)
	}
	found, err := w.InvitationsBy(w.ctx, ada, at)
	w.ok(err)
	fay := social.NewUser{User: social.User{ID: social.UserID{ID: id.New()}, Handle: "fay"}, Invitation: found[0].ID, At: at}
	fay.Following = social.NewBuiltInCircle(fay.User.ID)
	w.ok(w.InsertUser(w.ctx, fay, happened(social.EventUserSignedUp)))
	w.ok(w.DeleteInvitation(w.ctx, found[1].ID, social.UnusedInvitations))
}

// callEmails leaves an address, a token and a mail.
func callEmails(w *town, ada social.NewUser) {
	at := time.UnixMilli(1 << 42).UTC()
	mail := func() social.Mail {
		return social.Mail{ID: social.MailID{ID: id.New()}, Kind: social.MailConfirm, User: ada.User.ID, ExpiresAt: at}
	}
	issue := func(hash byte, kind social.MailKind, m social.MailID, address string) {
		_, err := w.IssueMailToken(w.ctx, social.MailToken{Hash: [32]byte{hash}, Kind: kind, User: ada.User.ID, Address: address, Mail: m, ExpiresAt: at}, 5, time.Now())
		w.ok(err)
	}
	w.ok(w.RemoveEmail(w.ctx, ada.User.ID))
	w.ok(w.SetEmail(w.ctx, ada.User.ID, "ada@site.example", mail()))
	taken, err := w.TakeMail(w.ctx, time.Now(), time.Now())
	w.ok(err)
	issue(1, social.MailConfirm, taken.ID, "ada@site.example")
	w.ok(w.EndMail(w.ctx, taken.ID))
	_, err = w.ConfirmEmail(w.ctx, [32]byte{1}, time.Now())
	w.ok(err)
	for hash := byte(2); hash < 4; hash++ {
		issue(hash, social.MailReset, taken.ID, "ada@site.example")
	}
	_, err = w.MailToken(w.ctx, [32]byte{3}, social.MailReset, time.Now())
	w.ok(err)
	_, hash, err := w.PasswordHash(w.ctx, ada.User.Handle)
	w.ok(err)
	w.ok(w.SetPassword(w.ctx, social.PasswordChange{User: ada.User.ID, Handle: ada.User.Handle, From: hash, To: hash, Reset: [32]byte{3}, At: time.Now()}))
	_, err = w.UsersWithEmail(w.ctx, "ada@site.example", 5)
	w.ok(err)
	_, err = w.Email(w.ctx, ada.User.ID)
	w.ok(err)
	w.ok(w.SetEmail(w.ctx, ada.User.ID, "other@site.example", mail()))
	asked := mail()
	asked.Kind, asked.User, asked.Account = social.MailReset, social.UserID{}, "ada"
	w.ok(w.QueueMail(w.ctx, asked))
}

func callProfiles(w *town, users []social.NewUser) {
	city, age := w.property("city", social.PropertyText), w.property("age", social.PropertyInt)
	for i, u := range users {
		w.fillIn(u, city, social.VisibleToAll, social.TextValue([]string{"ulm", "aalen"}[i%2]))
		w.fillIn(u, age, []social.Visibility{social.VisibleToAll, social.VisibleToCircles}[i/2%2], social.NumberValue(float64(i%50)))
	}
	ulm := social.PropertyCondition{Property: city.ID, Intervals: []social.Interval{point("ulm")}}
	either := social.PropertyCondition{Property: city.ID, Intervals: []social.Interval{point("aalen"), point("ulm")}}
	grown := social.PropertyCondition{Property: age.ID, Intervals: []social.Interval{{Min: social.NumberValue(18), Max: social.NumberValue(40)}}}
	for _, where := range [][]social.PropertyCondition{{ulm}, {either}, {grown}, {ulm, grown}, {grown, ulm}, {either, grown}} {
		found, err := w.FindProfiles(w.ctx, where, nil, 20)
		w.ok(err)
		value, _ := found[19].Value(where[0].Property)
		_, err = w.FindProfiles(w.ctx, where, &social.ProfilePoint{Value: value.Sought, User: found[19].User}, 20)
		w.ok(err)
		_, err = w.FindProfilesOf(w.ctx, []social.UserID{users[0].User.ID, users[1].User.ID}, where)
		w.ok(err)
	}
	_, err := w.Profiles(w.ctx, []social.UserID{users[0].User.ID, users[1].User.ID})
	w.ok(err)
	_, err = w.Properties(w.ctx)
	w.ok(err)
	w.ok(w.UpdateProperty(w.ctx, city, happened(social.EventPropertyUpdated)))
	_, err = w.ClearProfileValue(w.ctx, users[0].User.ID, city.ID, happened(social.EventProfileFilledIn))
	w.ok(err)
	w.ok(w.DeleteProperty(w.ctx, city.ID, happened(social.EventPropertyRemoved)))
	w.ok(w.Forget(w.ctx, city.ID))
}

func point(text string) social.Interval {
	return social.Interval{Min: social.TextValue(text), Max: social.TextValue(text)}
}

func (w *town) property(key string, kind social.PropertyType) *social.Property {
	p := &social.Property{ID: social.PropertyID{ID: id.New()}, Key: key, Type: kind, Searchable: true, Visibility: social.VisibleToAll}
	w.ok(w.InsertProperty(w.ctx, p, happened(social.EventPropertyDefined)))
	return p
}

func (w *town) fillIn(u social.NewUser, p *social.Property, visibility social.Visibility, value social.PropertyValue) {
	v := social.ProfileValue{Property: p.ID, Visibility: visibility, Value: value, Sought: value}
	w.ok(w.SetProfileValue(w.ctx, u.User.ID, v, happened(social.EventProfileFilledIn)))
}

func callCircles(w *town, ada, ben social.NewUser) {
	c := &social.Circle{Owner: ada.User.ID, Name: "Friends"}
	w.ok(w.InsertCircle(w.ctx, c, social.MaxCircles, happened(social.EventCircleCreated)))
	w.ok(w.RenameCircle(w.ctx, c.ID, "Best friends", happened(social.EventCircleRenamed)))
	m := social.Membership{Circle: c.ID, Owner: ada.User.ID, Member: ben.User.ID}
	for range 2 {
		_, err := w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
		w.ok(err)
		_, err = w.ImportMemberships(w.ctx, []social.Membership{m}, []social.EdgeID{{ID: id.New()}})
		w.ok(err)
	}
	_, err := w.ImportCircles(w.ctx, []*social.Circle{c})
	w.ok(err)
	_, err = w.Circles(w.ctx, []social.CircleID{c.ID, ada.Following.ID})
	w.ok(err)
	pages(func(p social.Page) {
		_, err := w.CirclesOf(w.ctx, ada.User.ID, p)
		w.ok(err)
		_, err = w.Members(w.ctx, lists(p, c.ID))
		w.ok(err)
		_, err = w.Members(w.ctx, lists(p, c.ID, ada.Following.ID))
		w.ok(err)
	})
	_, err = w.RemoveFromCircle(w.ctx, m, happened(social.EventMemberRemoved))
	w.ok(err)
	_, err = w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
	w.ok(err)
	w.ok(w.DeleteCircle(w.ctx, c.ID, happened(social.EventCircleDeleted)))
	_, err = w.Unfollow(w.ctx, ada.User.ID, ben.User.ID, happened(social.EventUnfollowed))
	w.ok(err)
}

func callGraph(w *town, ada, ben, dan social.NewUser) {
	pairs := []social.Pair{{Viewer: ada.User.ID, Other: ben.User.ID}, {Viewer: ada.User.ID, Other: dan.User.ID}}
	_, err := w.Relations(w.ctx, pairs)
	w.ok(err)
	_, err = w.People(w.ctx, ada.User.ID, []social.UserID{ben.User.ID, dan.User.ID})
	w.ok(err)
	_, err = w.Block(w.ctx, edge(ada.User.ID, dan.User.ID), happened(social.EventBlocked))
	w.ok(err)
	_, err = w.Mute(w.ctx, edge(ada.User.ID, dan.User.ID), happened(social.EventMuted))
	w.ok(err)
	pages(func(p social.Page) {
		for _, of := range [][]social.UserID{{ada.User.ID}, {ada.User.ID, ben.User.ID}} {
			_, err := w.Followers(w.ctx, lists(p, of...))
			w.ok(err)
			_, err = w.Following(w.ctx, lists(p, of...))
			w.ok(err)
			_, err = w.Wall(w.ctx, lists(p, of...))
			w.ok(err)
			_, err = w.PostsBy(w.ctx, lists(p, of...))
			w.ok(err)
		}
		_, err := w.Blocked(w.ctx, ada.User.ID, p)
		w.ok(err)
		_, err = w.Muted(w.ctx, ada.User.ID, p)
		w.ok(err)
	})
	_, err = w.Unblock(w.ctx, ada.User.ID, dan.User.ID, happened(social.EventUnblocked))
	w.ok(err)
	_, err = w.Unmute(w.ctx, ada.User.ID, dan.User.ID, happened(social.EventUnmuted))
	w.ok(err)
}

func callPosts(w *town, ada, ben social.NewUser) {
	p := status(ada.User.ID, ben.User.ID, social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{ada.Following.ID}})
	p.Content = social.Content{Poll: &social.Poll{Question: "?", Options: []string{"a", "b"}}}
	w.post(p)
	q := w.post(status(ben.User.ID, ben.User.ID, social.Audience{Kind: social.AudienceCircles}))
	edited := *q
	replaced := &social.Version{Content: q.Content, Audience: q.Audience, EditedAt: time.Now()}
	for _, version := range []*social.Version{replaced, nil} {
		edited.Revision++
		w.ok(w.UpdatePost(w.ctx, &edited, version, happened(social.EventPostEdited)))
	}
	if err := w.UpdatePost(w.ctx, &edited, nil, happened(social.EventPostEdited)); !errors.Is(err, social.ErrConflict) {
		w.t.Errorf("UpdatePost again: %v", err)
	}
	for option := range 2 {
		w.ok(w.PutVote(w.ctx, p.ID, ben.User.ID, option, happened(social.EventPollVoted)))
		kind := []social.ReactionKind{social.ReactionLike, social.ReactionWow}[option]
		w.ok(w.PutReaction(w.ctx, p.ID, ben.User.ID, kind, happened(social.EventReactionAdded)))
	}
	both := []social.PostID{p.ID, q.ID}
	_, err := w.PublicAuthors(w.ctx, 7)
	w.ok(err)
	_, err = w.Posts(w.ctx, both)
	w.ok(err)
	for _, posts := range [][]social.PostID{both, both[:1]} {
		_, err = w.Histories(w.ctx, posts)
		w.ok(err)
	}
	_, err = w.Votes(w.ctx, ben.User.ID, both)
	w.ok(err)
	_, err = w.Reactions(w.ctx, ben.User.ID, both)
	w.ok(err)
	for _, call := range []func(context.Context, social.PostID, social.UserID, social.Event) (bool, error){
		w.MuteThread, w.MuteThread, w.UnmuteThread, w.UnmuteThread,
	} {
		_, err = call(w.ctx, p.ID, ben.User.ID, happened(social.EventThreadMuted))
		w.ok(err)
		_, err = w.MutedThreads(w.ctx, []social.ThreadMute{{Post: both[0], User: ben.User.ID}, {Post: both[1], User: ben.User.ID}})
		w.ok(err)
		_, err = w.ThreadsMutedBy(w.ctx, ben.User.ID, social.PostID{}, 10)
		w.ok(err)
		_, err = w.ReactionsBy(w.ctx, ben.User.ID, social.PostID{}, 10)
		w.ok(err)
		_, err = w.VotesBy(w.ctx, ben.User.ID, social.PostID{}, 10)
		w.ok(err)
	}
	for range 2 {
		w.ok(w.DeleteReaction(w.ctx, p.ID, ben.User.ID, happened(social.EventReactionRemoved)))
	}
	w.ok(w.DeletePost(w.ctx, p.ID, happened(social.EventPostDeleted)))
}

func callComments(w *town, ada, ben social.NewUser) {
	p, q := w.post(status(ada.User.ID, ada.User.ID, public)), w.post(status(ben.User.ID, ben.User.ID, public))
	root := w.comment(p, nil, ben.User.ID)
	reply := w.comment(p, root, ada.User.ID)
	w.ok(w.EditComment(w.ctx, reply.ID, "no", time.Now(), happened(social.EventCommentEdited)))
	_, err := w.Comments(w.ctx, []social.CommentID{root.ID, reply.ID})
	w.ok(err)
	for _, links := range [][]social.Permalink{{{Post: p.ID, Slug: root.Slug}}, {{Post: p.ID, Slug: root.Slug}, {Post: q.ID, Slug: "x"}}} {
		_, err := w.CommentsBySlug(w.ctx, links)
		w.ok(err)
	}
	pages(func(page social.Page) {
		callThreads(w, page, p.ID, q.ID, root)
		for _, authors := range [][]social.UserID{{ben.User.ID}, {ada.User.ID, ben.User.ID}} {
			_, err := w.CommentsBy(w.ctx, lists(page, authors...))
			w.ok(err)
		}
	})
	for _, posts := range [][]social.PostID{{p.ID}, {p.ID, q.ID}} {
		for _, without := range [][]social.UserID{nil, {ada.User.ID}} {
			_, err := w.LatestComments(w.ctx, posts, without, 3)
			w.ok(err)
		}
	}
	for _, c := range []*social.Comment{root, reply} {
		w.ok(w.DeleteComment(w.ctx, c.ID, happened(social.EventCommentDeleted)))
	}
	callErasing(w, p, ben.User.ID)
	w.ok(w.DeletePost(w.ctx, q.ID, happened(social.EventPostDeleted)))
	root = w.comment(p, nil, ben.User.ID)
	w.ok(w.DeleteComment(w.ctx, w.comment(p, root, ada.User.ID).ID, happened(social.EventCommentDeleted)))
}

// callErasing erases the comments of a user, in two parts, so that sparse buckets are joined.
func callErasing(w *town, p *social.Post, user social.UserID) {
	for range 12 {
		w.comment(p, nil, user)
	}
	for range 2 {
		_, err := w.EraseComments(w.ctx, user, social.CommentID{ID: id.New()}, happened(social.EventErasureBegun))
		w.ok(err)
	}
	if _, err := w.CommentErasure(w.ctx, user); !errors.Is(err, social.ErrNotFound) {
		w.t.Errorf("CommentErasure: %v", err)
	}
}

func callThreads(w *town, page social.Page, p, q social.PostID, root *social.Comment) {
	for _, t := range []social.Thread{
		{Post: p, Order: social.OrderOldest},
		{Post: p, Order: social.OrderNewest},
		{Post: p, Order: social.OrderOldest, Parent: root.ID},
		{Post: p, Order: social.OrderThreaded},
		{Post: p, Order: social.OrderThreaded, Under: root.TreePath},
	} {
		_, err := w.Thread(w.ctx, lists(page, t))
		w.ok(err)
		_, err = w.Thread(w.ctx, lists(page, t, social.Thread{Post: q, Order: t.Order, Parent: t.Parent, Under: t.Under}))
		w.ok(err)
	}
}

// plainClient returns a client that is independent of the store's.
func plainClient(tb testing.TB) *mongo.Client {
	tb.Helper()
	return mongotest.Connect(tb, mongotest.URI(tb)).Client()
}

// ignored are the commands that have no plan. Those about collections are only used when a store is
// opened, and by migrations.
var ignored = []string{
	"hello", "ping", "insert", "create", "createIndexes", "drop", "listCollections", "listIndexes", "commitTransaction", "abortTransaction", "endSessions", "killCursors",
	"connectionStatus", "killSessions",
}

// explainable returns the parts of a command that explain accepts: all of it, or each statement of
// an update or delete.
func explainable(tb testing.TB, raw bson.Raw) []bson.D {
	tb.Helper()
	var command bson.D
	if err := bson.Unmarshal(raw, &command); err != nil {
		tb.Fatal(err)
	}
	name := command[0].Key
	if slices.Contains(ignored, name) || isChangeStream(command) {
		return nil
	}
	command = slices.DeleteFunc(command, func(e bson.E) bool {
		return slices.Contains([]string{
			"lsid", "txnNumber", "startTransaction", "autocommit", "$clusterTime", "readConcern", "writeConcern", "ordered", "maxTimeMS",
		}, e.Key)
	})
	for i, e := range command {
		if statements, ok := e.Value.(bson.A); ok && (e.Key == "updates" || e.Key == "deletes") {
			return each(command, i, statements)
		}
	}
	return []bson.D{command}
}

func each(command bson.D, field int, statements bson.A) []bson.D {
	var all []bson.D
	for _, s := range statements {
		one := slices.Clone(command)
		one[field].Value = bson.A{s}
		all = append(all, one)
	}
	return all
}

func isChangeStream(command bson.D) bool {
	return strings.Contains(fmt.Sprint(command), "$changeStream") || command[0].Key == "getMore"
}

// shapeOf returns a command without its values.
func shapeOf(value any) string {
	switch v := value.(type) {
	case bson.D:
		var parts []string
		for _, e := range v {
			switch e.Key {
			case "$db", "comment", "list", "batchSize", "$limit", "limit":
			case "$in", "$nin":
				parts = append(parts, e.Key)
			default:
				parts = append(parts, e.Key+":"+shapeOf(e.Value))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case bson.A:
		var parts []string
		for _, e := range v {
			parts = append(parts, shapeOf(e))
		}
		sort.Strings(parts)
		return "[" + strings.Join(slices.Compact(parts), " ") + "]"
	case string:
		return v[:min(len(v), 12)]
	case int32, int64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%T", value)
}

// explain asks MongoDB for the plan of a recorded command.
func explain(tb testing.TB, client *mongo.Client, command bson.D, verbosity string) bson.M {
	tb.Helper()
	command = slices.Clone(command)
	database := ""
	command = slices.DeleteFunc(command, func(e bson.E) bool {
		if e.Key == "$db" {
			database = e.Value.(string)
		}
		return e.Key == "$db"
	})
	var plan bson.M
	err := client.Database(database).RunCommand(tb.Context(),
		bson.D{{Key: "explain", Value: command}, {Key: "verbosity", Value: verbosity}}).Decode(&plan)
	if err != nil {
		tb.Fatalf("explain %v: %v", command, err)
	}
	return plan
}

// stagesOf returns the names of a plan's stages, without the rejected plans.
func stagesOf(plan any) []string {
	var stages []string
	walk(plan, func(key string, value any) {
		if name, ok := value.(string); ok && key == "stage" {
			stages = append(stages, name)
		}
		if key == "$sort" {
			stages = append(stages, key)
		}
	})
	return stages
}

// total sums a number over all parts of an executed plan.
func total(plan any, field string) int {
	sum := 0
	walk(plan, func(key string, value any) {
		if key == field {
			n, _ := value.(int32)
			m, _ := value.(int64)
			sum += int(n) + int(m)
		}
	})
	return sum
}

func walk(value any, visit func(key string, value any)) {
	switch v := value.(type) {
	case bson.M:
		for key, inner := range v {
			walkField(key, inner, visit)
		}
	case bson.D:
		for _, e := range v {
			walkField(e.Key, e.Value, visit)
		}
	case bson.A:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

func walkField(key string, value any, visit func(string, any)) {
	if key == "rejectedPlans" || key == "command" || key == "allPlansExecution" {
		return
	}
	visit(key, value)
	walk(value, visit)
}
