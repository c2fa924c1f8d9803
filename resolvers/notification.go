package resolvers

import (
	"context"
	"fmt"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/id"
	"plaza/loaders"
	"plaza/resolvers/presenter"
	"plaza/social"
)

// Notifications resolves Viewer.notifications.
func (r viewerResolver) Notifications(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.NotificationConnection, error) {
	notifications := relay.ListOf(notificationCursors(obj.UserID), loaders.For(ctx).NotificationPage)
	return relay.Connect(ctx, notifications, relay.ArgsOf(first, after, last, before), wrapNotification)
}

// UnreadNotificationsCount resolves Viewer.unreadNotificationsCount.
func (r viewerResolver) UnreadNotificationsCount(ctx context.Context, _ *model.Viewer) (int, error) {
	return loaders.For(ctx).Viewer.UnreadNotifications(ctx)
}

// NotificationSettings resolves Viewer.notificationSettings.
func (r viewerResolver) NotificationSettings(ctx context.Context, obj *model.Viewer) ([]*social.NotificationSetting, error) {
	return r.Notices.Settings(ctx, obj.UserID)
}

// SetNotificationSetting resolves Mutation.setNotificationSetting.
func (r mutationResolver) SetNotificationSetting(ctx context.Context, input model.SetNotificationSettingInput) (*model.SetNotificationSettingPayload, error) {
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		return r.Notices.SetSetting(ctx, viewer, social.NotificationSetting{Kind: input.Kind, Enabled: input.Enabled})
	})
	return &model.SetNotificationSettingPayload{Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// Actors resolves Notification.actors.
func (r notificationResolver) Actors(ctx context.Context, obj *model.Notification, first int) ([]*model.User, error) {
	if first < 1 || first > social.MaxPageSize {
		return nil, fault.Invalidf("first", "This must be 1 to %d.", social.MaxPageSize)
	}
	newest := obj.Acts[:min(first, len(obj.Acts))]
	ids := make([]social.UserID, len(newest))
	for i, act := range newest {
		ids[i] = act.Actor
	}
	users, err := loaders.For(ctx).Users.LoadAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	actors := make([]*model.User, 0, len(users))
	for _, user := range users {
		if user != nil { // nil: the account has just been deleted
			actors = append(actors, wrapUser(user))
		}
	}
	return actors, nil
}

// Post resolves Notification.post.
func (r notificationResolver) Post(ctx context.Context, obj *model.Notification) (model.Post, error) {
	if obj.Notification.Post.IsZero() {
		return nil, nil
	}
	return loadPost(ctx, obj.Notification.Post)
}

// Comment resolves Notification.comment.
func (r notificationResolver) Comment(ctx context.Context, obj *model.Notification) (*model.Comment, error) {
	newest := obj.Acts[0].Comment
	if newest.IsZero() {
		return nil, nil
	}
	return loadComment(ctx, newest)
}

// maxMarked is the maximum number of notifications that markNotificationsRead accepts.
const maxMarked = 100

// MarkNotificationsRead resolves Mutation.markNotificationsRead.
func (r mutationResolver) MarkNotificationsRead(ctx context.Context, input model.MarkNotificationsReadInput) (*model.MarkNotificationsReadPayload, error) {
	var reader social.UserID
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		reader = viewer
		ids, upTo, err := notificationsToMark(viewer, input)
		if err != nil {
			return err
		}
		return r.Social.MarkNotificationsRead(ctx, viewer, ids, upTo)
	})
	return &model.MarkNotificationsReadPayload{Viewer: presenter.Unless(mistakes, model.Viewer{UserID: reader}), UserErrors: mistakes}, err
}

func notificationsToMark(viewer social.UserID, input model.MarkNotificationsReadInput) (ids []social.NotificationID, upTo social.NotificationID, err error) {
	if len(input.NotificationIds) == 0 && input.UpTo == nil {
		return nil, upTo, fault.Invalidf("notificationIds", "Give notificationIds, upTo or both.")
	}
	key, wrongCursor := notificationCursors(viewer).Decode("upTo", input.UpTo)
	if key != "" {
		upTo.ID = id.ID([]byte(key))
	}
	ids, wrongIDs := notificationIDs(input.NotificationIds)
	return ids, upTo, fault.All(wrongCursor, wrongIDs)
}

func notificationIDs(texts []string) ([]social.NotificationID, error) {
	if len(texts) > maxMarked {
		return nil, fault.Errorf(fault.CodeTooLong, "notificationIds", "At most %d notifications are allowed.", maxMarked)
	}
	ids, wrong := make([]social.NotificationID, len(texts)), make([]error, len(texts))
	for i, text := range texts {
		ids[i], wrong[i] = relay.NotificationID(fmt.Sprintf("notificationIds.%d", i), text)
	}
	return ids, fault.All(wrong...)
}
