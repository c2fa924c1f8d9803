package resolvers

import (
	"context"
	"encoding/json"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

// ProfileProperties resolves Query.profileProperties.
func (r queryResolver) ProfileProperties(ctx context.Context) ([]*model.ProfileProperty, error) {
	defined, err := loaders.For(ctx).Viewer.Properties(ctx)
	wrapped := make([]*model.ProfileProperty, len(defined))
	for i, p := range defined {
		wrapped[i] = &model.ProfileProperty{Property: p}
	}
	return wrapped, err
}

// Users resolves Query.users.
func (r queryResolver) Users(ctx context.Context, where []*model.PropertyCondition, first *int, after *string) (*model.UserConnection, error) {
	sought := make([]social.Sought, len(where))
	for i, c := range where {
		sought[i] = social.Sought{Key: c.Key, Equals: c.Equals, AtLeast: c.AtLeast, AtMost: c.AtMost, In: c.In}
	}
	asked, err := json.Marshal(where)
	if err != nil {
		return nil, err
	}
	viewer := loaders.For(ctx).Viewer
	read := func(ctx context.Context, p social.Page) (social.Slice[social.UserID], error) {
		return viewer.Search(ctx, sought, p)
	}
	found := relay.ListOf(relay.CursorsOf(relay.KindProfile, "search", string(asked)), read)
	return connectUsers(ctx, found, relay.ArgsOf(first, after, nil, nil), func(id social.UserID) social.UserID { return id })
}

// UsersByName resolves Query.usersByName.
func (r queryResolver) UsersByName(ctx context.Context, startsWith string, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	viewer := loaders.For(ctx).Viewer
	read := func(ctx context.Context, p social.Page) (social.Slice[*social.User], error) {
		return viewer.UsersNamed(ctx, startsWith, p)
	}
	named := relay.ListOf(relay.CursorsOf(relay.KindName, "named", social.NameKey(startsWith)), read)
	page, err := named.Page(ctx, relay.ArgsOf(first, after, last, before))
	if err != nil {
		return nil, err
	}
	return userConnection(page, page.Items), nil
}

// Properties resolves User.properties.
func (r userResolver) Properties(ctx context.Context, obj *model.User) ([]*model.UserProperty, error) {
	shown, err := loaders.For(ctx).Profiles.Load(ctx, obj.ID)
	wrapped := make([]*model.UserProperty, len(shown))
	for i, v := range shown {
		wrapped[i] = &model.UserProperty{ShownValue: v}
	}
	return wrapped, err
}

// Properties are identified by their keys.
var properties = noun[string, *model.ProfileProperty]{"property", "key", keyItself, loadProperty}

func keyItself(_, text string) (string, error) { return text, nil }

func loadProperty(ctx context.Context, key string) (*model.ProfileProperty, error) {
	defined, err := loaders.For(ctx).Viewer.Properties(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range defined {
		if p.Key == key {
			return &model.ProfileProperty{Property: p}, nil
		}
	}
	return nil, nil // concurrently removed
}

// DefineProfileProperty resolves Mutation.defineProfileProperty.
func (r mutationResolver) DefineProfileProperty(ctx context.Context, input model.DefineProfilePropertyInput) (*model.DefineProfilePropertyPayload, error) {
	property, mistakes, err := properties.write(ctx, r, func(viewer social.UserID) (string, error) {
		return input.Key, r.Social.DefineProperty(ctx, viewer, social.Property{
			Key: input.Key, Label: input.Label, Type: input.Type, Choices: input.Choices,
			Searchable: input.Searchable, Visibility: input.DefaultVisibility,
		})
	})
	return &model.DefineProfilePropertyPayload{Property: property, UserErrors: mistakes}, err
}

// UpdateProfileProperty resolves Mutation.updateProfileProperty.
func (r mutationResolver) UpdateProfileProperty(ctx context.Context, input model.UpdateProfilePropertyInput) (*model.UpdateProfilePropertyPayload, error) {
	property, mistakes, err := properties.write(ctx, r, func(viewer social.UserID) (string, error) {
		return input.Key, r.Social.UpdateProperty(ctx, viewer, input.Key, social.PropertyChange{
			Label: input.Label, Choices: input.Choices, Searchable: input.Searchable, Visibility: input.DefaultVisibility,
		})
	})
	return &model.UpdateProfilePropertyPayload{Property: property, UserErrors: mistakes}, err
}

// RemoveProfileProperty resolves Mutation.removeProfileProperty.
func (r mutationResolver) RemoveProfileProperty(ctx context.Context, input model.RemoveProfilePropertyInput) (*model.RemoveProfilePropertyPayload, error) {
	removed, mistakes, err := properties.remove(ctx, r, input.Key, r.Social.RemoveProperty)
	return &model.RemoveProfilePropertyPayload{RemovedKey: removed, UserErrors: mistakes}, err
}

// SetProfileProperty resolves Mutation.setProfileProperty.
func (r mutationResolver) SetProfileProperty(ctx context.Context, input model.SetProfilePropertyInput) (*model.SetProfilePropertyPayload, error) {
	user, mistakes, err := users.write(ctx, r, func(viewer social.UserID) (social.UserID, error) {
		visibility := social.Visibility("")
		if input.Visibility != nil {
			visibility = *input.Visibility
		}
		return viewer, r.Social.SetProfileValue(ctx, viewer, input.Key, input.Value, visibility)
	})
	return &model.SetProfilePropertyPayload{User: user, UserErrors: mistakes}, err
}

// ClearProfileProperty resolves Mutation.clearProfileProperty.
func (r mutationResolver) ClearProfileProperty(ctx context.Context, input model.ClearProfilePropertyInput) (*model.ClearProfilePropertyPayload, error) {
	user, mistakes, err := users.write(ctx, r, func(viewer social.UserID) (social.UserID, error) {
		return viewer, r.Social.ClearProfileValue(ctx, viewer, input.Key)
	})
	return &model.ClearProfilePropertyPayload{User: user, UserErrors: mistakes}, err
}
