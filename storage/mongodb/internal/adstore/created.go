package adstore

import (
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// createdDoc is the time of creation of an advertiser, a campaign or a unit. It is absent if the id
// says the same, and in what earlier versions of Plaza have imported. An update that leaves it out
// keeps it, so servers that do not know the field keep it, too, and documents have no new version.
type createdDoc struct {
	At time.Time `bson:"createdAt,omitempty"`
}

func newCreatedDoc(at time.Time, of id.ID) createdDoc { return createdDoc{ads.OwnCreation(at, of)} }

func (d createdDoc) time(of id.ID) time.Time { return ads.Creation(mdb.UTC(d.At), of) }
