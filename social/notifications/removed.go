package notifications

import (
	"context"
	"slices"

	"plaza/social"
)

// removedTogether is how many notifications one call of Removals is about.
const removedTogether = 100

// Removals returns the notices that remove notifications about the post of an EventPostDeleted, at
// most a hundred. Once they are stored, another call returns the next ones; none: all are removed. A
// recipient loses what they saw until now, as the post was when it was deleted.
func (s *Service) Removals(ctx context.Context, e *social.Event) ([]social.Notice, error) {
	stored, err := s.store.NotificationsOn(ctx, e.Post, removedTogether)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	post := social.Post{ID: e.Post, Author: e.Author, WallOwner: e.Target, Audience: e.Audience}
	gone := threadsRead{posts: map[social.PostID]*social.Post{e.Post: &post}}
	relations, err := s.recipientRelations(ctx, gone, acts(stored))
	if err != nil {
		return nil, err
	}
	notices := make([]social.Notice, len(stored))
	for i, n := range stored {
		saw := slices.ContainsFunc(n.Acts, func(a social.Act) bool {
			return social.LosesFromNotification(n.NotificationGroup, a, &post, relations[n.To], false) // who muted the thread is forgotten
		})
		notices[i] = social.Notice{NotificationGroup: n.NotificationGroup, Removed: n.ID, Lost: saw && !e.Author.IsZero()}
	}
	return notices, nil
}

// acts returns a notice of each act in notifications.
func acts(of []*social.Notification) (notices []social.Notice) {
	for _, n := range of {
		for _, act := range n.Acts {
			notices = append(notices, social.Notice{NotificationGroup: n.NotificationGroup, Act: act})
		}
	}
	return notices
}
