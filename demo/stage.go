package demo

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"time"

	"plaza/ads/adserver"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// opening is the time of day (UTC) at which the community began.
const opening = 6 * time.Hour

// stage is where the script is played: the services, with the clock and the ids of the step that is
// on.
type stage struct {
	store     storage.Store
	social    *network.Service
	ads       *adserver.Service
	began     time.Time
	publicURL string // of the server, which has the pictures

	on   *step
	made int // ids that the step has made
}

func newStage(st storage.Store, began time.Time, publicURL string) *stage {
	s := &stage{store: st, ads: adserver.New(st.Ads(), adserver.Options{}), began: began, publicURL: publicURL}
	s.social = network.New(st, network.Options{Now: s.now, NewID: s.newID, NewSlug: s.newSlug})
	return s
}

// at is the time of a step.
func (s *stage) at(after time.Duration) time.Time { return s.began.Add(after) }

func (s *stage) now() time.Time { return s.at(s.on.after) }

// newID creates the ids of the step in sequence; the first is the id of the object that the step
// creates.
func (s *stage) newID() id.ID {
	made := derive(s.now(), s.on.name, s.made)
	s.made++
	return made
}

// newSlug is another one for each id that was made, should a slug be taken.
func (s *stage) newSlug() string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s%s/slug/%d", namespace, s.on.name, s.made)))
	s.made++
	return slugEncoding.EncodeToString(sum[:5])
}

var slugEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// namespace keeps the derived ids apart from all others.
const namespace = "plaza/demo/"

// derive returns the id that a step gives to the nth object that it creates.
func derive(at time.Time, name string, n int) id.ID {
	return id.Derive(at.Add(time.Duration(n)*time.Millisecond), fmt.Sprintf("%s%s/%d", namespace, name, n))
}

// user returns a person's id.
func (s *stage) user(handle string) social.UserID {
	for i, p := range cast {
		if p.handle == handle {
			return p.id(s.began, i)
		}
	}
	panic("the cast has no person with the handle " + handle) // the script is part of the program, and its tests run all of it
}

// gather brings the people together, in their circles. Each part is one transaction that may be run
// again.
func (s *stage) gather(ctx context.Context) error {
	if there, err := s.store.Users(ctx, []social.UserID{s.user(handle)}); err != nil {
		return err
	} else if len(there) == 0 {
		accounts, err := s.accounts(ctx)
		if err != nil {
			return err
		}
		if _, err := s.store.ImportUsers(ctx, accounts); err != nil {
			return taken(err)
		}
	}
	if _, err := s.store.ImportCircles(ctx, s.circles()); err != nil {
		return err
	}
	memberships, edges := s.memberships()
	_, err := s.store.ImportMemberships(ctx, memberships, edges)
	return err
}
