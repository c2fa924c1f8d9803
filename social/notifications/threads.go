package notifications

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// MaxVotersNotified is how many of a poll's voters are notified when it closes, besides its author.
const MaxVotersNotified = 500

// threadsRead are the posts and comments that events are about.
type threadsRead struct {
	posts     map[social.PostID]*social.Post
	comments  map[social.CommentID]*social.Comment // with their parents
	mentioned map[string]*social.User              // by handle
	voters    map[social.PostID][]social.UserID    // of polls that have closed
	acts      map[social.CommentID][]social.Notice // stored acts on comments that are deleted or hidden
}

func (s *Service) readThreads(ctx context.Context, events []social.Event) (t threadsRead, err error) {
	var posts []social.PostID
	var comments []social.CommentID
	for i := range events {
		switch e := &events[i]; e.Kind {
		case social.EventCommentAdded, social.EventCommentDeleted:
			posts, comments = append(posts, e.Post), append(comments, e.Comment)
		case social.EventPostCreated, social.EventReactionAdded, social.EventReactionRemoved, social.EventPollClosed:
			posts = append(posts, e.Post)
		default: // the ids are enough
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
	if t.acts, err = s.readActs(ctx, events); err != nil {
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

// readVoters reads who voted in the polls that have closed.
func (s *Service) readVoters(ctx context.Context, posts map[social.PostID]*social.Post, events []social.Event) (map[social.PostID][]social.UserID, error) {
	voters := map[social.PostID][]social.UserID{}
	for i := range events {
		e := &events[i]
		if e.Kind != social.EventPollClosed || posts[e.Post] == nil {
			continue
		}
		read, err := s.store.Voters(ctx, e.Post, MaxVotersNotified)
		if err != nil {
			return nil, err
		}
		voters[e.Post] = read
	}
	return voters, nil
}

// readActs reads the acts that name comments which are deleted or hidden.
func (s *Service) readActs(ctx context.Context, events []social.Event) (map[social.CommentID][]social.Notice, error) {
	var gone []social.CommentID
	for i := range events {
		if events[i].Kind == social.EventCommentDeleted {
			gone = append(gone, events[i].Comment)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	read, err := s.store.ActsOn(ctx, gone)
	acts := map[social.CommentID][]social.Notice{}
	for _, n := range read {
		acts[n.Act.Comment] = append(acts[n.Act.Comment], n)
	}
	return acts, err
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
