package mongodb

import (
	"reflect"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
	"plaza/storage/mongodb/internal/users"
)

// TestDocumentsReadThemselves encodes each kind of document, with every field set, by its struct
// tags, and decodes it with its own decoder. It fails if either omits a field.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{
		&postDoc{}, &versionDoc{}, &markDoc{},
	} {
		mdbtest.ReadsItself(t, d, newestOf)
	}
}

// TestDamagedDocumentsAreErrors: the reader does not panic on truncated documents or changed bytes.
func TestDamagedDocumentsAreErrors(t *testing.T) {
	t.Parallel()
	whole := &postDoc{}
	mdbtest.Fill(t, whole, newestOf)
	raw := mdbtest.Encode(t, whole)
	for n := range raw {
		if err := mdb.ReadDocument(raw[:n], &postDoc{}); err == nil {
			t.Errorf("%d of %d bytes were read without an error", n, len(raw))
		}
		changed := slices.Clone(raw)
		changed[n] ^= 0x15
		_ = mdb.ReadDocument(changed, &postDoc{})
	}
	wrong, err := bson.Marshal(mdb.Doc("author", "unknown"))
	if err != nil {
		t.Fatal(err)
	}
	if err := mdb.ReadDocument(wrong, &postDoc{}); err == nil {
		t.Error("a text was read as an id")
	}
}

// newestOf returns the version that is written of a document.
func newestOf(d any) int {
	switch d.(type) {
	case *postDoc:
		return postsVersion
	case *versionDoc:
		return postContentVersion
	case *markDoc:
		return marksVersion
	}
	return mdb.FirstVersion
}

// BenchmarkReadDocument reads a user, and a post with its newest comments (a page of news has
// twenty of these), with their own decoders and with the driver's (ADR 9).
func BenchmarkReadDocument(b *testing.B) {
	post, user := &postDoc{}, &users.Document{}
	mdbtest.Fill(b, post, newestOf)
	mdbtest.Fill(b, user, newestOf)
	post.Detail.Options = nil
	for _, d := range []mdb.Document{post, user} {
		raw := mdbtest.Encode(b, d)
		name := reflect.TypeOf(d).Elem().Name()
		read := func(read mdb.Document) error { return mdb.ReadDocument(raw, read) }
		decode := func(decoded mdb.Document) error { return mdbtest.Decode(raw, decoded) }
		for by, decode := range map[string]func(mdb.Document) error{"by hand": read, "by the driver": decode} {
			b.Run(name+"/"+by, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(raw)))
				for b.Loop() {
					if err := decode(reflect.New(reflect.TypeOf(d).Elem()).Interface().(mdb.Document)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
