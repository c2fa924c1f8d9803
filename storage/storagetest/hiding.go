package storagetest

import "plaza/social"

// reportComment reports a comment.
func (w *world) reportComment(c *social.Comment, by person) {
	w.t.Helper()
	r := social.Report{Subject: social.Subject{Comment: c.ID}, Author: c.Author, Reporter: by.ID, Reason: social.ReasonAbuse, At: now()}
	w.report(r)
}

// decideComment decides a case on a comment, and returns the event.
func (w *world) decideComment(c *social.Comment, by person, action social.Action) social.Event {
	w.t.Helper()
	e := event(social.EventCommentEdited)
	e.Post, e.Comment, e.Target = c.Post, c.ID, c.Author
	found := only(w, w.Cases, social.Subject{Comment: c.ID}.Case())
	r, err := found.Rule(social.Decision{Subject: found.Subject, Author: found.Author, Moderator: by.ID, Action: action, Reason: "x", At: now()}, nil, w.getComment(c.ID))
	w.ok(err, "Rule")
	w.ok(w.Decide(w.ctx, r, e), "Decide")
	return e
}

func hiddenCommentsAreRestored(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ben)
	reply := w.comment(p, root, ada)
	for range social.PreviewSize {
		w.comment(p, reply, ben)
	}
	newest := w.comment(p, nil, ben)
	before, preview := w.checkThread(p.ID, 3+social.PreviewSize), w.getPost(p.ID).Latest
	for _, c := range []*social.Comment{root, newest} {
		w.reportComment(c, ada)
	}
	tail := w.tail()
	events := []social.Event{w.decideComment(root, mia, social.ActionHide), w.decideComment(newest, mia, social.ActionHide)}
	for _, c := range []*social.Comment{root, newest} {
		hidden := w.getComment(c.ID)
		w.same([]any{hidden.Hidden, hidden.Text, hidden.Author, hidden.Deleted}, []any{true, c.Text, c.Author, false}, "a hidden comment")
	}
	w.checkThread(p.ID, len(before))
	w.same(only(w, w.Cases, social.Subject{Comment: root.ID}.Case()).State, social.CaseDecided, "the case")

	events = append(events, w.decideComment(newest, mia, social.ActionRestore), w.decideComment(root, mia, social.ActionRestore))
	w.sameEvents(tail.rest(), events, "the events")
	w.same(w.checkThread(p.ID, len(before)), before, "the thread when all is restored")
	w.same(w.getPost(p.ID).Latest, preview, "the preview when all is restored")
}

func hiddenCommentsStayAsTheyAre(w *world) {
	ada, ben, mia := w.user(), w.user(), w.user()
	p := w.status(ada)
	root, other := w.comment(p, nil, ben), w.comment(p, nil, ben)
	reply := w.comment(p, root, ada)
	for _, c := range []*social.Comment{root, other} {
		w.reportComment(c, ada)
		w.decideComment(c, mia, social.ActionHide)
	}
	err := w.EditComment(w.ctx, root.ID, "edited", now(), event(social.EventCommentEdited))
	w.fails(err, social.ErrNotFound, "editing a hidden comment")
	w.fails(w.insertComment(newComment(p, root, ada)), social.ErrNotFound, "a reply to a hidden comment")
	w.same(w.getComment(root.ID).Text, root.Text, "its text")
	w.checkThread(p.ID, 3)

	w.deleteComment(root)
	w.same(w.getComment(root.ID), tombstone(root, 1), "the tombstone of a hidden comment")
	hiding := only(w, w.Cases, social.Subject{Comment: root.ID}.Case())
	hiding.Decisions++
	err = w.Decide(w.ctx, social.Ruling{Decision: social.Decision{Subject: hiding.Subject, Action: social.ActionHide}, Case: hiding, Comment: root}, event(social.EventCommentDeleted))
	w.fails(err, social.ErrNotFound, "hiding a tombstone")
	w.deleteComment(reply)
	w.erase(ben)
	absent(w, "comment", w.Comments, root.ID, other.ID)
	w.checkThread(p.ID, 0)
}
