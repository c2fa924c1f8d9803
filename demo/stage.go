package demo

import (
	"context"
	"time"

	"plaza/ads/adserver"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// opening is the time of day (UTC) at which the community began.
const opening = 6 * time.Hour

// stage is the place where the script is played: the services, with the clock and the ids of the
// current step.
type stage struct {
	store     storage.Store
	social    *network.Service
	ads       *adserver.Service
	began     time.Time
	publicURL string // of the server, which has the pictures

	on   *step
	made int // ids that the step has made
}

// step is one action of a person. Running it again, before any later step that creates an object,
// changes nothing.
type step struct {
	name  string        // unique: ids derive from it
	after time.Duration // since the community began
	makes kind
	do    func(ctx context.Context, s *stage) error
}

// kind is the type of object that a step creates: its id then shows whether the step is done.
type kind int

const (
	nothing kind = iota
	aPost
	aComment
)

func newStage(st storage.Store, began time.Time, publicURL string) *stage {
	s := &stage{store: st, ads: adserver.New(st.Ads(), adserver.Options{}), began: began, publicURL: publicURL}
	s.social = network.New(st, network.Options{Now: s.now, NewID: s.newID})
	return s
}

// at returns the time of a step.
func (s *stage) at(after time.Duration) time.Time { return s.began.Add(after) }

func (s *stage) now() time.Time { return s.at(s.on.after) }

// newID creates the ids of the step in sequence; the first is the id of the object that the step
// creates.
func (s *stage) newID() id.ID {
	made := derive(s.now(), s.on.name, s.made)
	s.made++
	return made
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
