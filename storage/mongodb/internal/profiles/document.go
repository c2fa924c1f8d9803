package profiles

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// profileDoc is a document of profiles: the values that a user has filled in. It is stored apart
// from the user's document, which every page reads. One index on the array finds people by any
// property. Its keys include the audience, so that a search for public values reads no others.
type profileDoc struct {
	User       social.UserID     `bson:"_id"`
	Version    int               `bson:"v"`
	Properties []profileValueDoc `bson:"properties"`
}

func (d *profileDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.User.ID)
	case "v":
		r.Int(v, &d.Version)
	case "properties":
		mdb.ReadDocuments(r, v, &d.Properties)
	}
}

func (d *profileDoc) Evolve() error { return cluster.Versions{}.Known("profiles", d.Version) }

func (d *profileValueDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "k":
		r.ID(v, &d.Property.ID)
	case "a":
		mdb.ReadText(r, v, &d.Visibility)
	case "v":
		if n, ok := v.DoubleOK(); ok {
			d.Value = n
			return
		}
		var text string
		r.Text(v, &text)
		d.Value = text
	case "t":
		r.Text(v, &d.Text)
	}
}

type profileValueDoc struct {
	Property   social.PropertyID `bson:"k"`
	Visibility social.Visibility `bson:"a"`
	Value      any               `bson:"v"`           // what is compared: a string or a double
	Text       string            `bson:"t,omitempty"` // as it was entered, if it differs
}

func newProfileValueDoc(v social.ProfileValue) profileValueDoc {
	d := profileValueDoc{Property: v.Property, Visibility: v.Visibility, Value: stored(v.Sought)}
	if v.Sought != v.Value {
		d.Text = v.Value.Text
	}
	return d
}

func stored(v social.PropertyValue) any {
	if v.IsNumber {
		return v.Number
	}
	return v.Text
}

func (d *profileDoc) profile() *social.Profile {
	return &social.Profile{User: d.User, Values: mdb.Map(d.Properties, (*profileValueDoc).value)}
}

func (d *profileValueDoc) value() social.ProfileValue {
	v := social.ProfileValue{Property: d.Property, Visibility: d.Visibility}
	switch stored := d.Value.(type) {
	case float64:
		v.Sought = social.NumberValue(stored)
	case string:
		v.Sought = social.TextValue(stored)
	}
	v.Value = v.Sought
	if d.Text != "" {
		v.Value = social.TextValue(d.Text)
	}
	return v
}

// propertyDoc is a document of properties: a definition.
type propertyDoc struct {
	ID         social.PropertyID   `bson:"_id"`
	Version    int                 `bson:"v"`
	Key        string              `bson:"key"`
	Label      string              `bson:"label"`
	Type       social.PropertyType `bson:"type"`
	Choices    []string            `bson:"choices,omitempty"`
	Searchable bool                `bson:"searchable"`
	Visibility social.Visibility   `bson:"visibility"`
}

func newPropertyDoc(p *social.Property) propertyDoc {
	return propertyDoc{
		ID: p.ID, Version: mdb.FirstVersion, Key: p.Key, Label: p.Label, Type: p.Type, Choices: p.Choices,
		Searchable: p.Searchable, Visibility: p.Visibility,
	}
}

func (d *propertyDoc) property() *social.Property {
	return &social.Property{
		ID: d.ID, Key: d.Key, Label: d.Label, Type: d.Type, Choices: d.Choices, Searchable: d.Searchable, Visibility: d.Visibility,
	}
}
