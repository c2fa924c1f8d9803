package mongodb

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// ImportUsers implements social.Importer.
func (s *Store) ImportUsers(ctx context.Context, users []social.NewUser) (added int, err error) {
	err = s.db.Write(ctx, "import users", nil, func(ctx context.Context) error {
		gone, err := s.graph.Gone(ctx, mdb.Map(users, func(u *social.NewUser) social.UserID { return u.User.ID }))
		if err != nil {
			return err
		}
		added, err = s.users.Import(ctx, users, gone)
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// ImportCircles implements social.Importer.
func (s *Store) ImportCircles(ctx context.Context, circles []*social.Circle) (added int, err error) {
	return s.graph.ImportCircles(ctx, circles)
}

// ImportMemberships implements social.Importer.
func (s *Store) ImportMemberships(ctx context.Context, memberships []social.Membership, edges []social.EdgeID) (added int, err error) {
	return s.graph.ImportMemberships(ctx, memberships, edges)
}
