package adstore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// sightingDoc is an ads.Sighting in a profile. Each choice writes several, so its BSON code is
// hand-written, for speed.
type sightingDoc struct {
	Scope  scopeID
	Choice ads.ChoiceID
	At     time.Time
	Until  time.Time
	Keep   time.Time
}

// The fields of a sightingDoc.
const (
	sightingScope  = "scope"
	sightingChoice = "choice"
	sightingAt     = "at"
	sightingUntil  = "until"
	sightingKeep   = "keep"
)

// ofSighting returns a field of the sighting that a pipeline names "s".
func ofSighting(field string) string { return "$$s." + field }

func newSightingDoc(s ads.Sighting) sightingDoc {
	return sightingDoc{scopeID{s.Scope}, s.Choice, s.At, s.Until, s.Keep}
}

func (d sightingDoc) sighting() ads.Sighting {
	return ads.Sighting{Scope: d.Scope.ID, Choice: d.Choice, At: d.At, Until: d.Until, Keep: d.Keep}
}

func (d sightingDoc) write() bsoncore.Document {
	return bsoncore.NewDocumentBuilder().
		AppendBinary(sightingScope, bson.TypeBinaryUUID, d.Scope.ID[:]).
		AppendBinary(sightingChoice, bson.TypeBinaryUUID, d.Choice.ID[:]).
		AppendDateTime(sightingAt, d.At.UnixMilli()).
		AppendDateTime(sightingUntil, d.Until.UnixMilli()).
		AppendDateTime(sightingKeep, d.Keep.UnixMilli()).
		Build()
}

// MarshalBSON implements bson.Marshaler.
func (d sightingDoc) MarshalBSON() ([]byte, error) { return d.write(), nil }

// SetField implements mdb.Document.
func (d *sightingDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case sightingScope:
		r.ID(v, &d.Scope.ID)
	case sightingChoice:
		r.ID(v, &d.Choice.ID)
	case sightingAt:
		r.Time(v, &d.At)
	case sightingUntil:
		r.Time(v, &d.Until)
	case sightingKeep:
		r.Time(v, &d.Keep)
	}
}
