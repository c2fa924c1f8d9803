package mdb

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
)

// TestIDsAreStoredAsUUIDs: each named id is stored as binary data of subtype 4, is read back
// unchanged, and is omitted if it is zero. A document with a single field that is not an id remains
// a document.
func TestIDsAreStoredAsUUIDs(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string `bson:"name"`
	}
	type document struct {
		ID    namedID   `bson:"_id"`
		None  namedID   `bson:"none,omitempty"`
		All   []namedID `bson:"all"`
		Inner inner     `bson:"inner"`
	}
	d := document{ID: namedID{id.New()}, All: []namedID{{id.New()}, {}}, Inner: inner{"a"}}
	raw := marshal(t, d)
	subtype, data, ok := bson.Raw(raw).Lookup("_id").BinaryOK()
	if !ok || subtype != bson.TypeBinaryUUID || !bytes.Equal(data, d.ID.Bytes()) {
		t.Errorf("stored as %v", bson.Raw(raw))
	}
	if v, err := bson.Raw(raw).LookupErr("none"); err == nil {
		t.Errorf("a zero id is stored: %v", v)
	}
	if name, ok := bson.Raw(raw).Lookup("inner", "name").StringValueOK(); !ok || name != "a" {
		t.Errorf("stored as %v", bson.Raw(raw))
	}
	decoder := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
	decoder.SetRegistry(Registry)
	var read document
	if err := decoder.Decode(&read); err != nil {
		t.Fatal(err)
	}
	if read.ID != d.ID || len(read.All) != 2 || read.All[0] != d.All[0] || read.All[1] != d.All[1] || read.Inner != d.Inner || !read.None.IsZero() {
		t.Errorf("%+v, want %+v", read, d)
	}
}

// TestIDsOfAnotherLengthAreErrors: binary data of another length is neither truncated nor padded.
func TestIDsOfAnotherLengthAreErrors(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 15, 17} {
		raw := marshal(t, Doc("_id", bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, n)}))
		decoder := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
		decoder.SetRegistry(Registry)
		var read struct {
			ID   namedID `bson:"_id"`
			Name string  `bson:"name"`
		}
		if err := decoder.Decode(&read); err == nil {
			t.Errorf("%d bytes were read as an id", n)
		}
	}
}
