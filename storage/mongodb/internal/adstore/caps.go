package adstore

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// scopeID is the id of a unit, a campaign or an advertiser.
type scopeID struct{ id.ID }

type capDoc struct {
	Count int        `bson:"count"`
	Per   ads.Window `bson:"per"`
}

func newCapDocs(caps []ads.Cap) []capDoc {
	return mdb.Map(caps, func(c *ads.Cap) capDoc { return capDoc(*c) })
}

func readCaps(docs []capDoc) []ads.Cap {
	if len(docs) == 0 {
		return nil
	}
	return mdb.Map(docs, func(d *capDoc) ads.Cap { return ads.Cap(*d) })
}

type scopeCapDoc struct {
	Scope scopeID `bson:"scope"`
	Cap   capDoc  `bson:",inline"`
}

func (d *scopeCapDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "scope":
		r.ID(v, &d.Scope.ID)
	case "count":
		r.Int(v, &d.Cap.Count)
	case "per":
		mdb.ReadText(r, v, &d.Cap.Per)
	}
}

func newScopeCapDocs(caps []ads.ScopeCap) []scopeCapDoc {
	return mdb.Map(caps, func(c *ads.ScopeCap) scopeCapDoc { return scopeCapDoc{scopeID{c.Scope}, capDoc(c.Cap)} })
}

func readScopeCaps(docs []scopeCapDoc) []ads.ScopeCap {
	if len(docs) == 0 {
		return nil
	}
	return mdb.Map(docs, func(d *scopeCapDoc) ads.ScopeCap { return ads.ScopeCap{Scope: d.Scope.ID, Cap: ads.Cap(d.Cap)} })
}
