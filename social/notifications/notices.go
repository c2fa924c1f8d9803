package notifications

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// NoticesOf returns who is to be notified of what because of events, in their order. Acts that the
// recipient does not see are left out: they must not show in the order or the number of
// notifications. What is hidden later is left out when someone reads: see Viewer.Notifications of
// package network.
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
	return social.LastActs(notices), err
}

// threadsRead are the posts and comments that events are about.
type threadsRead struct {
	posts     map[social.PostID]*social.Post
	comments  map[social.CommentID]*social.Comment // with their parents
	mentioned map[string]*social.User              // by handle
	voters    map[social.PostID][]social.UserID    // of polls that have closed
}

func (s *Service) readThreads(ctx context.Context, events []social.Event) (t threadsRead, err error) {
	var posts []social.PostID
	var comments []social.CommentID
	for i := range events {
		switch e := &events[i]; e.Kind {
		case social.EventCommentAdded:
			posts, comments = append(posts, e.Post), append(comments, e.Comment)
		case social.EventPostCreated, social.EventReactionAdded, social.EventReactionRemoved, social.EventPollClosed:
			posts = append(posts, e.Post)
		default: // its ids are enough
		}
	}
	if len(posts) > 0 {
		if t.posts, err = s.store.Posts(ctx, posts); err != nil {
			return t, err
		}
	}
	if len(comments) > 0 {
		if t.comments, err = s.store.Comments(ctx, comments); err != nil {
			return t, err
		}
	}
	if t.mentioned, err = s.readMentioned(ctx, t.newTexts(events)); err != nil {
		return t, err
	}
	if t.voters, err = s.readVoters(ctx, t.posts, events); err != nil {
		return t, err
	}
	return t, s.readParents(ctx, t.comments)
}

// newTexts returns the texts that events have added.
func (t threadsRead) newTexts(events []social.Event) (texts []string) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case social.EventPostCreated:
			if p := t.posts[e.Post]; p != nil {
				texts = append(texts, p.Content.Text())
			}
		case social.EventCommentAdded:
			if c := t.comments[e.Comment]; c != nil {
				texts = append(texts, c.Text)
			}
		default: // no text is new
		}
	}
	return texts
}

// readMentioned reads the users texts mention, by handle.
func (s *Service) readMentioned(ctx context.Context, texts []string) (map[string]*social.User, error) {
	handles := map[string]bool{}
	for _, text := range texts {
		for _, handle := range social.Mentioned(text) {
			handles[handle] = true
		}
	}
	if len(handles) == 0 {
		return nil, nil
	}
	return s.store.UsersByHandle(ctx, slices.Collect(maps.Keys(handles)))
}

// readParents adds the comments that are answered.
func (s *Service) readParents(ctx context.Context, comments map[social.CommentID]*social.Comment) error {
	var parents []social.CommentID
	for _, c := range comments {
		if !c.Parent.IsZero() && comments[c.Parent] == nil {
			parents = append(parents, c.Parent)
		}
	}
	if len(parents) == 0 {
		return nil
	}
	read, err := s.store.Comments(ctx, parents)
	maps.Copy(comments, read)
	return err
}

// noticesOf returns the notices of one event, for everyone it concerns. Someone may have several,
// of which they get one: see wanted. The first is the best.
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
	case social.EventCommentAdded:
		return t.commentNotices(e)
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
// those the comment mentions.
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

// withoutHidden drops the notices of acts that their recipients do not see now, by InNotification.
func (s *Service) withoutHidden(ctx context.Context, t threadsRead, notices []social.Notice) ([]social.Notice, error) {
	relations, err := s.recipientRelations(ctx, t, notices)
	if err != nil {
		return nil, err
	}
	muted, err := s.mutedByRecipients(ctx, t, notices)
	return slices.DeleteFunc(notices, func(n social.Notice) bool {
		return !n.Undone && !social.InNotification(n.NotificationGroup, n.Act, t.posts[n.Post], t.comments[n.Act.Comment], relations[n.To], muted[n.To][n.Post])
	}), err
}

// recipientRelations reads the relations of recipients to the actors, and to the authors of the
// posts.
func (s *Service) recipientRelations(ctx context.Context, t threadsRead, notices []social.Notice) (map[social.UserID]map[social.UserID]social.Relation, error) {
	pairs := map[social.Pair]bool{}
	for _, n := range notices {
		pairs[social.Pair{Viewer: n.To, Other: n.Actor}] = true
		if p := t.posts[n.Post]; p != nil {
			pairs[social.Pair{Viewer: n.To, Other: p.Author}] = true
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	read, err := s.people.Relations(ctx, slices.Collect(maps.Keys(pairs)))
	relations := map[social.UserID]map[social.UserID]social.Relation{}
	for pair, relation := range read {
		if relations[pair.Viewer] == nil {
			relations[pair.Viewer] = map[social.UserID]social.Relation{}
		}
		relations[pair.Viewer][pair.Other] = relation
	}
	return relations, err
}

// mutedByRecipients reads which of the threads their recipients mute.
func (s *Service) mutedByRecipients(ctx context.Context, t threadsRead, notices []social.Notice) (map[social.UserID]map[social.PostID]bool, error) {
	posts := map[social.UserID][]social.PostID{}
	for _, n := range notices {
		if p := t.posts[n.Post]; p != nil && p.Muters > 0 { // most need no read
			posts[n.To] = append(posts[n.To], p.ID)
		}
	}
	muted := map[social.UserID]map[social.PostID]bool{}
	for to, some := range posts {
		read, err := s.store.MutedThreads(ctx, to, some)
		if err != nil {
			return nil, err
		}
		muted[to] = read
	}
	return muted, nil
}
