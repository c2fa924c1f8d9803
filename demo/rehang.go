package demo

import (
	"context"
	"errors"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

// rehang updates the addresses of the community's pictures, which were stored with another public
// URL, to those of this server. It changes nothing else, and no pictures from elsewhere.
func (s *stage) rehang(ctx context.Context) error {
	return errors.Join(s.rehangAvatars(ctx), s.rehangPhotos(ctx), s.rehangAds(ctx))
}

// moved returns the address that a picture should have now. It returns false if the address is
// correct, or if the picture is not one of ours.
func (s *stage) moved(stored string) (string, bool) {
	now, ours := rehung(s.publicURL, stored)
	return now, ours && now != stored
}

func (s *stage) rehangAvatars(ctx context.Context) error {
	users, err := s.store.UsersByHandle(ctx, castHandles())
	if err != nil {
		return err
	}
	service := network.New(s.store, network.Options{})
	for _, u := range users {
		if now, moved := s.moved(u.AvatarURL); moved {
			if err := service.UpdateProfile(ctx, u.ID, social.ProfileChange{AvatarURL: &now}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stage) rehangPhotos(ctx context.Context) error {
	var ids []social.PostID
	for _, st := range script() {
		if st.makes == aPost {
			ids = append(ids, s.postID(st.name, st.after))
		}
	}
	posts, err := s.store.Posts(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range posts {
		if err := s.rehangPhoto(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// rehangPhoto corrects the address without adding a version to the post's history, because its
// author has edited nothing.
func (s *stage) rehangPhoto(ctx context.Context, p *social.Post) error {
	if p.Content.Photo == nil {
		return nil
	}
	now, moved := s.moved(p.Content.Photo.URL)
	if !moved {
		return nil
	}
	changed, photo := *p, *p.Content.Photo
	photo.URL, changed.Content.Photo = now, &photo
	changed.Revision++
	err := s.store.UpdatePost(ctx, &changed, nil, social.Event{
		ID: social.EventID{ID: id.New()}, Kind: social.EventPostEdited, Actor: p.Author, Post: p.ID, Target: p.WallOwner,
	})
	if errors.Is(err, social.ErrConflict) || errors.Is(err, social.ErrNotFound) { // a concurrent change
		return nil
	}
	return err
}

func (s *stage) rehangAds(ctx context.Context) error {
	var ids []ads.UnitID
	for _, u := range s.catalogue().Units {
		ids = append(ids, u.ID)
	}
	units, err := s.store.Ads().Units(ctx, ids)
	if err != nil {
		return err
	}
	for _, u := range units {
		now, moved := s.moved(u.ImageURL)
		if !moved {
			continue
		}
		if err := s.ads.UpdateUnit(ctx, u.ID, func(u *ads.Unit) error { u.ImageURL = now; return nil }); err != nil {
			return err
		}
	}
	return nil
}
