package resolvers

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
)

// Entities resolves Post.entities.
func (postResolver[P]) Entities(ctx context.Context, obj P) ([]model.TextEntity, error) {
	p := obj.Domain()
	return entitiesOf(ctx, p.Content.Text(), written(p.CreatedAt(), p.EditedAt))
}

// Entities resolves Comment.entities.
func (commentResolver) Entities(ctx context.Context, obj *model.Comment) ([]model.TextEntity, error) {
	c := obj.Comment
	return entitiesOf(ctx, c.Text, written(c.CreatedAt(), c.EditedAt))
}

func written(created, edited time.Time) time.Time {
	if edited.IsZero() {
		return created
	}
	return edited
}

// clockTolerance is the maximum difference between the clocks of two servers.
const clockTolerance = 10 * time.Minute

// entitiesOf returns the tags of a text, and the mentions of users the viewer sees who had an
// account when it was written: handles of deleted accounts can be reused.
func entitiesOf(ctx context.Context, text string, written time.Time) ([]model.TextEntity, error) {
	found := social.Entities(text)
	users, err := mentionedUsers(ctx, found)
	if err != nil {
		return nil, err
	}
	entities := make([]model.TextEntity, 0, len(found))
	for _, e := range found {
		user := users[e.Handle]
		switch {
		case e.Tag != "":
			entities = append(entities, &model.TagEntity{Start: e.Start, End: e.End, Tag: e.Tag})
		case user != nil && user.CreatedAt().Before(written.Add(clockTolerance)):
			entities = append(entities, &model.MentionEntity{Start: e.Start, End: e.End, User: wrapUser(user)})
		}
	}
	return entities, nil
}

func mentionedUsers(ctx context.Context, entities []social.Entity) (map[string]*social.User, error) {
	var handles []string
	for _, e := range entities {
		if e.Handle != "" {
			handles = append(handles, e.Handle)
		}
	}
	if len(handles) == 0 {
		return nil, nil
	}
	users, err := loaders.For(ctx).Handles.LoadAll(ctx, handles)
	byHandle := make(map[string]*social.User, len(users))
	for i, user := range users {
		byHandle[handles[i]] = user
	}
	return byHandle, err
}
