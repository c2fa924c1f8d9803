package notifications

import (
	"context"
	"slices"

	"plaza/social"
)

// NoticesOf returns the notices that follow from events, in their order. Acts that the recipient
// does not see are left out, and losses of such acts, so that they can't be inferred from the order
// or the number of notifications. What is hidden later is left out on reading: see
// Viewer.Notifications of package network.
func (s *Service) NoticesOf(ctx context.Context, events []social.Event) ([]social.Notice, error) {
	t, err := s.readThreads(ctx, events)
	if err != nil {
		return nil, err
	}
	all := make([][]social.Notice, len(events))
	for i := range events {
		all[i] = slices.DeleteFunc(t.noticesOf(&events[i]), func(n social.Notice) bool {
			return n.To.IsZero() || n.To == n.Actor && n.Kind != social.NotifyPollClosed
		})
	}
	notices, err := s.wanted(ctx, all)
	if err != nil {
		return nil, err
	}
	notices, err = s.withoutHidden(ctx, t, notices)
	return lastActs(notices), err
}

// noticesOf returns the notices of one event, for everyone it concerns, best first. If it has
// several for one person, they get one of them: see wanted.
func (t threadsRead) noticesOf(e *social.Event) []social.Notice {
	notice := social.Notice{Act: social.Act{Actor: e.Actor}}
	switch e.Kind {
	case social.EventFollowed:
		notice.NotificationGroup = social.NotificationGroup{To: e.Target, Kind: social.NotifyFollow}
	case social.EventPostCreated:
		return t.postNotices(e)
	case social.EventReactionAdded, social.EventReactionRemoved:
		post := t.posts[e.Post]
		if post == nil {
			return nil
		}
		notice.NotificationGroup = social.NotificationGroup{To: post.Author, Kind: social.NotifyReaction, Post: e.Post}
		notice.Undone = e.Kind == social.EventReactionRemoved
		notice.Lost = notice.Undone
	case social.EventCommentAdded:
		return t.commentNotices(e)
	case social.EventCommentDeleted:
		return t.deletionNotices(e)
	case social.EventPollClosed:
		return t.closingNotices(e)
	default:
		return nil
	}
	return []social.Notice{notice}
}

// postNotices notifies the owner of the wall, and those the post mentions.
func (t threadsRead) postNotices(e *social.Event) []social.Notice {
	post := t.posts[e.Post]
	if post == nil {
		return nil
	}
	act := social.Act{Actor: e.Actor}
	onWall := social.Notice{NotificationGroup: social.NotificationGroup{To: e.Target, Kind: social.NotifyWallPost, Post: e.Post}, Act: act}
	return t.withMentions([]social.Notice{onWall}, e.Post, act, post.Content.Text())
}

// withMentions adds those a text mentions.
func (t threadsRead) withMentions(notices []social.Notice, post social.PostID, act social.Act, text string) []social.Notice {
	for _, handle := range social.Mentioned(text) {
		user := t.mentioned[handle]
		if user == nil {
			continue
		}
		group := social.NotificationGroup{To: user.ID, Kind: social.NotifyMention, Post: post}
		notices = append(notices, social.Notice{NotificationGroup: group, Act: act})
	}
	return notices
}

// commentNotices notifies the author of the comment that was answered, the author of the post, and
// the users that the comment mentions.
func (t threadsRead) commentNotices(e *social.Event) (notices []social.Notice) {
	post, comment := t.posts[e.Post], t.comments[e.Comment]
	if post == nil || comment == nil || comment.Deleted {
		return nil
	}
	act := social.Act{Actor: e.Actor, Comment: e.Comment}
	if answered := t.comments[comment.Parent]; answered != nil {
		group := social.NotificationGroup{To: answered.Author, Kind: social.NotifyReply, Post: e.Post, Comment: answered.ID}
		notices = append(notices, social.Notice{NotificationGroup: group, Act: act})
	}
	group := social.NotificationGroup{To: post.Author, Kind: social.NotifyComment, Post: e.Post}
	notices = append(notices, social.Notice{NotificationGroup: group, Act: act})
	return t.withMentions(notices, e.Post, act, comment.Text)
}

// deletionNotices takes a comment out of notifications. Where moderators have only hidden it, it
// stays stored, because they may restore it.
func (t threadsRead) deletionNotices(e *social.Event) []social.Notice {
	comment := t.comments[e.Comment]
	gone := comment == nil || comment.Deleted
	if !gone && !comment.Hidden {
		return nil // it is restored already
	}
	var notices []social.Notice
	for _, stored := range t.acts[e.Comment] {
		notices = append(notices, social.Notice{NotificationGroup: stored.NotificationGroup, Act: stored.Act, Undone: gone, Lost: true})
	}
	return notices
}

// closingNotices notifies the author of a poll, and those who voted.
func (t threadsRead) closingNotices(e *social.Event) []social.Notice {
	post := t.posts[e.Post]
	if post == nil {
		return nil
	}
	var notices []social.Notice
	for _, to := range append([]social.UserID{post.Author}, t.voters[e.Post]...) {
		group := social.NotificationGroup{To: to, Kind: social.NotifyPollClosed, Post: e.Post}
		notices = append(notices, social.Notice{NotificationGroup: group, Act: social.Act{Actor: post.Author}})
	}
	return notices
}

// lastActs keeps the last notice of each act, because the others no longer matter. The acts of one
// actor in a group are about different comments.
func lastActs(notices []social.Notice) []social.Notice {
	type act struct {
		social.NotificationGroup
		actor   social.UserID
		comment social.CommentID
	}
	of := func(n *social.Notice) act { return act{n.NotificationGroup, n.Actor, n.Act.Comment} }
	last := map[act]int{}
	for i := range notices {
		last[of(&notices[i])] = i
	}
	var kept []social.Notice
	for i := range notices {
		if last[of(&notices[i])] == i {
			kept = append(kept, notices[i])
		}
	}
	return kept
}
