package graph

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// Upgrades returns the functions that make the updates to newer versions, by collection.
func Upgrades() map[string]mdb.Upgrade { return map[string]mdb.Upgrade{"edges": upgradeEdge} }

// upgradeEdge completes joined. For earlier memberships it uses the beginning of the follow. It
// drops memberships that a server of an older version has ended.
func upgradeEdge(raw bson.Raw, to int) (*mongo.UpdateOneModel, error) {
	var d Document
	if err := mdb.ReadDocument(raw, &d); err != nil {
		return nil, err
	}
	set, joined := mdb.Doc("v", to), bson.D{}
	for _, circle := range d.Listed {
		since, err := raw.LookupErr("joined", circle.String())
		if err != nil {
			since = raw.Lookup("follow")
		}
		joined = append(joined, bson.E{Key: circle.String(), Value: since})
	}
	if _, err := raw.LookupErr("joined"); err == nil || len(joined) > 0 {
		set = append(set, bson.E{Key: "joined", Value: joined})
	}
	return mdb.UpgradeTo(raw, set, "owner", "other", "follow", "circles", "joined"), nil
}
