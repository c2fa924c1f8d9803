package profiles

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// InsertProperty implements social.Properties.
func (s *Store) InsertProperty(ctx context.Context, p *social.Property, e social.Event) error {
	return s.db.Write(ctx, "insert property", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		if _, err := s.properties.InsertOne(ctx, newPropertyDoc(p)); err != nil {
			return mdb.OrTaken(err)
		}
		return s.log.Append(ctx, e)
	})
}

// UpdateProperty implements social.Properties.
func (s *Store) UpdateProperty(ctx context.Context, p *social.Property, e social.Event) error {
	change := mdb.Doc("v", mdb.FirstVersion, "label", p.Label, "choices", p.Choices, "searchable", p.Searchable, "visibility", p.Visibility)
	return s.db.Write(ctx, "update property", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, s.properties, mdb.Doc("_id", p.ID), mdb.Doc("$set", change)); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
}

// DeleteProperty implements social.Properties.
func (s *Store) DeleteProperty(ctx context.Context, property social.PropertyID, e social.Event) error {
	err := s.db.Write(ctx, "delete property", []id.ID{property.ID}, func(ctx context.Context) error {
		if err := mdb.DeleteOne(ctx, s.properties, mdb.Doc("_id", property)); err != nil {
			return err
		}
		if err := s.jobs.Add(ctx, jobs.Job{Kind: JobForget, Property: property}); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
	if err == nil {
		s.jobs.Wake()
	}
	return err
}

// Properties implements social.Properties.
func (s *Store) Properties(ctx context.Context) ([]*social.Property, error) {
	var all []*social.Property
	err := s.db.Read(ctx, "properties", func(ctx context.Context) error {
		docs, err := mdb.FindAll[propertyDoc](ctx, s.properties, mdb.Doc(), social.MaxProperties,
			options.Find().SetSort(mdb.Doc("_id", 1)).SetHint("_id_"))
		all = mdb.Map(docs, (*propertyDoc).property)
		return err
	})
	return all, err
}
