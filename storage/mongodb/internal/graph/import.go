package graph

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// ImportCircles implements social.Importer.
func (s *Store) ImportCircles(ctx context.Context, circles []*social.Circle) (added int, err error) {
	err = s.db.Write(ctx, "import circles", nil, func(ctx context.Context) error {
		known, err := mdb.Existing(ctx, s.circles, mdb.Map(circles, func(c **social.Circle) social.CircleID { return (*c).ID }))
		if err != nil {
			return err
		}
		gone, err := s.Gone(ctx, mdb.Map(circles, func(c **social.Circle) social.UserID { return (*c).Owner }))
		if err != nil {
			return err
		}
		var fresh []*social.Circle
		for _, c := range circles {
			if !known[c.ID] && !gone[c.Owner] {
				known[c.ID] = true
				fresh = append(fresh, c)
			}
		}
		added = len(fresh)
		return s.AddCircles(ctx, fresh)
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}
