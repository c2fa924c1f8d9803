package notifications

import (
	"context"

	"plaza/social"
)

// Store is what the service needs from a storage engine: see the methods of the same names in
// social.Posts, social.Comments, social.Users and social.Notifications.
type Store interface {
	Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error)
	Voters(ctx context.Context, post social.PostID, limit int) ([]social.UserID, error)
	MutedThreads(ctx context.Context, mutes []social.ThreadMute) (map[social.ThreadMute]bool, error)
	Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error)
	UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error)
	ActsOn(ctx context.Context, comments []social.CommentID) ([]social.Notice, error)
	NotificationsOn(ctx context.Context, post social.PostID, limit int) ([]*social.Notification, error)
	SetNotificationKind(ctx context.Context, user social.UserID, kind social.NotificationKind, enabled bool) error
	SilentNotificationKinds(ctx context.Context, users []social.UserID) (map[social.UserID][]social.NotificationKind, error)
}

// Relations reads relations between users, as social.Graph does, but perhaps from memory.
type Relations interface {
	Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error)
}

// Service decides who is notified of what. It has no state, and is safe for concurrent use.
type Service struct {
	store  Store
	people Relations
}

// New creates the service over a store, and a reader of relations.
func New(store Store, people Relations) *Service { return &Service{store, people} }
