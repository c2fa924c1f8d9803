package storagetest

import (
	"errors"
	"sync"
	"sync/atomic"

	"plaza/social"
)

var decisionCases = []testCase{
	{"ADismissedCaseOpensAgain", aDismissedCaseOpensAgain},
	{"AHiddenPostIsRestored", aHiddenPostIsRestored},
	{"WhatIsRemovedIsGone", whatIsRemovedIsGone},
	{"DecisionsOnOldCasesFail", decisionsOnOldCasesFail},
	{"OneOfTwoModeratorsDecides", oneOfTwoModeratorsDecides},
	{"TheAuditLogIsPaged", theAuditLogIsPaged},
}

// ruling makes the ruling of a decision on a case; post is its subject or nil.
func (w *world) ruling(c *social.Case, by person, action social.Action, post *social.Post) social.Ruling {
	w.t.Helper()
	r, err := c.Rule(social.Decision{
		Subject: c.Subject, Author: c.Author, Moderator: by.ID, Action: action, Reason: "because of " + string(action), At: now(),
	}, post, nil)
	w.ok(err, "Rule")
	return r
}

// reported is a post by a user with an open case.
func (w *world) reported(author, by person, a social.Audience) *social.Post {
	w.t.Helper()
	post := statusBy(author)
	post.Audience = a
	w.insert(post)
	w.report(complaint(post, by, social.ReasonSpam, now()))
	return only(w, w.Posts, post.ID)
}

func postEvent(kind social.EventKind, p *social.Post) social.Event {
	e := event(kind)
	e.Post, e.Target = p.ID, p.WallOwner
	return e
}

func aDismissedCaseOpensAgain(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
	first := w.caseOn(post)
	tail := w.tail()
	w.ok(w.Decide(w.ctx, w.ruling(first, mia, social.ActionDismiss, post), social.Event{}), "Decide")
	w.sameEvents(tail.rest(), nil, "the events of a dismissal")
	c := w.caseOn(post)
	w.same([]any{c.State, c.Decisions, c.Held == nil}, []any{social.CaseDecided, 1, true}, "the decided case")
	w.same(len(w.allIn(social.CaseOpen)), 0, "how many cases are open")
	w.same(len(w.allIn(social.CaseDecided)), 1, "how many cases are decided")
	w.same(only(w, w.Posts, post.ID), post, "the post")

	again := complaint(post, ben, social.ReasonAbuse, now())
	w.did(true)(w.Report(w.ctx, again, 1)) // it replaces the first one, so that does not count
	c = w.caseOn(post)
	w.same([]any{c.State, c.Decisions}, []any{social.CaseOpen, 1}, "the case that is open again")
	w.same(c.Reasons, map[social.ReportReason]int{social.ReasonAbuse: 1}, "its reasons")
	if c.Order.Compare(first.Order.ID) <= 0 {
		w.t.Error("it is not at the end of the queue")
	}
	reports, err := w.NewestReports(w.ctx, []*social.Case{c}, 9)
	w.ok(err, "NewestReports")
	w.same(reports[c.ID], []social.Report{again}, "its reports")
}

func aHiddenPostIsRestored(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	circle := w.circle(ada, "Friends")
	post := w.reported(ada, ben, social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{circle}})
	tail := w.tail()
	hide := w.ruling(w.caseOn(post), mia, social.ActionHide, post)
	hidden := postEvent(social.EventAudienceChanged, post)
	w.ok(w.Decide(w.ctx, hide, hidden), "Decide")
	c := w.caseOn(post)
	w.same(c.Held, &post.Audience, "the audience that is kept")
	got := only(w, w.Posts, post.ID)
	w.same([]any{got.Audience.Kind, got.Revision}, []any{social.AudienceHidden, post.Revision + 1}, "the hidden post")

	restored := postEvent(social.EventAudienceChanged, post)
	w.ok(w.Decide(w.ctx, w.ruling(c, mia, social.ActionRestore, got), restored), "Decide")
	w.sameEvents(tail.rest(), []social.Event{hidden, restored}, "the events")
	got = only(w, w.Posts, post.ID)
	w.same([]any{got.Audience, got.Revision}, []any{post.Audience, post.Revision + 2}, "the restored post")
	c = w.caseOn(post)
	w.same([]any{c.State, c.Decisions, c.Held == nil}, []any{social.CaseDecided, 2, true}, "the case")
}

func whatIsRemovedIsGone(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
	comment := w.comment(post, nil, ben)
	on := social.Report{Subject: social.Subject{Comment: comment.ID}, Author: ben.ID, Reporter: ada.ID, Reason: social.ReasonOther, At: now()}
	w.report(on)
	tail := w.tail()
	gone := postEvent(social.EventCommentDeleted, post)
	gone.Comment, gone.Target = comment.ID, ben.ID
	c := only(w, w.Cases, on.Subject.Case())
	w.ok(w.Decide(w.ctx, w.ruling(c, mia, social.ActionRemove, nil), gone), "Decide")
	absent(w, "comment", w.Comments, comment.ID)
	w.same(only(w, w.Posts, post.ID).CommentCount, 0, "how many comments the post has")
	w.same(len(only(w, w.Posts, post.ID).Latest), 0, "how many are in its preview")

	deleted := postEvent(social.EventPostDeleted, post)
	remove := w.ruling(w.caseOn(post), mia, social.ActionRemove, post)
	w.ok(w.Decide(w.ctx, remove, deleted), "Decide")
	absent(w, "post", w.Posts, post.ID)
	deleted.Author, deleted.Audience = ada.ID, post.Audience
	w.sameEvents(tail.rest(), []social.Event{gone, deleted}, "the events")
	c = w.caseOn(post)
	w.same([]any{c.State, c.Decisions}, []any{social.CaseDecided, 1}, "the case")
	again := w.ruling(&social.Case{ID: c.ID, Subject: c.Subject, Author: c.Author, State: social.CaseOpen, Order: c.Order, Decisions: 1}, mia, social.ActionRemove, nil)
	w.fails(w.Decide(w.ctx, again, deleted), social.ErrNotFound, "removing it again")
	w.same(w.caseOn(post), c, "the case after that")
}

func decisionsOnOldCasesFail(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
	old := w.caseOn(post)
	hide := w.ruling(old, mia, social.ActionHide, post)
	w.edit(only(w, w.Posts, post.ID), social.Content{Status: &social.Status{Text: "edited"}})
	w.fails(w.Decide(w.ctx, hide, postEvent(social.EventAudienceChanged, post)), social.ErrConflict, "hiding a post that was edited since")
	w.same(w.caseOn(post), old, "the case after that")
	w.same(only(w, w.Posts, post.ID).Audience.Kind, social.AudiencePublic, "the audience after that")

	dismiss := w.ruling(old, mia, social.ActionDismiss, nil)
	w.ok(w.Decide(w.ctx, dismiss, social.Event{}), "Decide")
	w.fails(w.Decide(w.ctx, dismiss, social.Event{}), social.ErrConflict, "the same decision again")
	w.report(complaint(post, ben, social.ReasonSpam, now()))
	w.fails(w.Decide(w.ctx, dismiss, social.Event{}), social.ErrConflict, "a decision on the case before it was opened again")
	all, err := w.Decisions(w.ctx, everything)
	w.ok(err, "Decisions")
	w.same(len(all), 1, "how many decisions there are")
}

func oneOfTwoModeratorsDecides(w *world) {
	ada, ben := w.user(), w.user()
	moderators := w.users(4)
	post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
	hide := w.ruling(w.caseOn(post), ben, social.ActionHide, post)
	var wg sync.WaitGroup
	var decided atomic.Int32
	for _, m := range moderators {
		own := hide
		own.Moderator = m.ID
		wg.Go(func() {
			switch err := w.Decide(w.ctx, own, postEvent(social.EventAudienceChanged, post)); {
			case err == nil:
				decided.Add(1)
			case !errors.Is(err, social.ErrConflict):
				w.t.Errorf("Decide: %v", err)
			}
		})
	}
	wg.Wait()
	w.same(decided.Load(), int32(1), "how many have decided")
	all, err := w.Decisions(w.ctx, everything)
	w.ok(err, "Decisions")
	w.same(len(all), 1, "how many decisions there are")
}

func theAuditLogIsPaged(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	var all []social.Decision
	for _, action := range []social.Action{social.ActionDismiss, social.ActionHide, social.ActionRemove, social.ActionHide} {
		post := w.reported(ada, ben, social.Audience{Kind: social.AudiencePublic})
		r := w.ruling(w.caseOn(post), mia, action, post)
		w.ok(w.Decide(w.ctx, r, postEvent(social.EventAudienceChanged, post)), "Decide")
		all = append([]social.Decision{r.Decision}, all...)
	}
	list := func(read func(p social.Page) ([]*social.Decision, error), p social.Page) (found []social.Decision, keys []social.Key) {
		decisions, err := read(p)
		w.ok(err, "reading decisions")
		for _, d := range decisions {
			keys = append(keys, keyOf(d.ID.ID))
			d.ID = social.DecisionID{}
			found = append(found, *d)
		}
		return found, keys
	}
	log := func(p social.Page) ([]*social.Decision, error) { return w.Decisions(w.ctx, p) }
	first, keys := list(log, social.Page{Limit: 3})
	w.same(first, all[:3], "the first page")
	rest, _ := list(log, social.Page{Limit: 3, After: keys[2]})
	w.same(rest, all[3:], "the rest")
	last, lastKeys := list(log, social.Page{Limit: 1, Last: true})
	w.same(last, all[3:], "the last page")
	before, _ := list(log, social.Page{Limit: 2, Last: true, Before: lastKeys[0]})
	w.same(before, all[1:3], "the page before")

	told := func(author person) func(p social.Page) ([]*social.Decision, error) {
		return func(p social.Page) ([]*social.Decision, error) { return w.DecisionsForAuthor(w.ctx, author.ID, p) }
	}
	hers, keys := list(told(ada), everything)
	w.same(hers, all[:3], "the decisions that the author sees")
	hers, _ = list(told(ada), social.Page{Limit: 9, After: keys[0]})
	w.same(hers, all[1:3], "the next page of it")
	others, _ := list(told(ben), everything)
	w.same(len(others), 0, "the decisions that another user sees")
	w.delete(ada)
	w.settleDeletion(ada)
	kept, _ := list(log, everything)
	w.same(kept, all, "the log after the author's account was deleted")
}
