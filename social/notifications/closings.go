package notifications

import (
	"context"

	"plaza/social"
)

// MaxVotersNotified is how many of a poll's voters are notified when it closes, beside its author.
const MaxVotersNotified = 500

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
