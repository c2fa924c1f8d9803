package mongodb

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// TestDocumentsReadThemselves writes each kind of document with every field set, by its struct tags, and reads it back by
// hand: a field that one of the two forgets shows.
func TestDocumentsReadThemselves(t *testing.T) {
	t.Parallel()
	for _, d := range []mdb.Document{
		&userDoc{}, &circleDoc{}, &edgeDoc{}, &postDoc{}, &versionDoc{}, &commentDoc{}, &markDoc{}, &seqDoc{}, &otherDoc{}, &adZoneDoc{}, &adProfileDoc{}, &sessionDoc{},
	} {
		fill(t, reflect.ValueOf(d).Elem())
		raw := encode(t, d)
		read := reflect.New(reflect.TypeOf(d).Elem()).Interface().(mdb.Document)
		if err := mdb.ReadDocument(raw, read); err != nil {
			t.Fatalf("%T: %v", d, err)
		}
		if diff := cmp.Diff(d, read); diff != "" {
			t.Errorf("%T differs (-written +read):\n%s", d, diff)
		}
	}
}

// TestDamagedDocumentsAreErrors: no cut and no changed byte makes the reader panic.
func TestDamagedDocumentsAreErrors(t *testing.T) {
	t.Parallel()
	whole := &postDoc{}
	fill(t, reflect.ValueOf(whole).Elem())
	raw := encode(t, whole)
	for n := range raw {
		if err := mdb.ReadDocument(raw[:n], &postDoc{}); err == nil {
			t.Errorf("%d of %d bytes were read without an error", n, len(raw))
		}
		changed := slices.Clone(raw)
		changed[n] ^= 0x15
		_ = mdb.ReadDocument(changed, &postDoc{})
	}
	wrong, err := bson.Marshal(mdb.Doc("author", "nobody"))
	if err != nil {
		t.Fatal(err)
	}
	if err := mdb.ReadDocument(wrong, &postDoc{}); err == nil {
		t.Error("a text was read as an id")
	}
}

func encode(t testing.TB, d any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := bson.NewEncoder(bson.NewDocumentWriter(&b))
	e.SetRegistry(mdb.Registry)
	if err := e.Encode(d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unmarshal decodes as the driver does.
func unmarshal(registry *bson.Registry, raw []byte, into any) error {
	d := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
	d.SetRegistry(registry)
	return d.Decode(into)
}

// newestOf is the version of a document that is written.
func newestOf(d any) int {
	switch d.(type) {
	case *userDoc:
		return usersVersion
	case *postDoc, *versionDoc:
		return postsVersion
	case *markDoc:
		return marksVersion
	}
	return mdb.FirstVersion
}

// fill sets every field to something.
func fill(t testing.TB, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(1234567).UTC()))
		return
	case id.ID:
		v.Set(reflect.ValueOf(id.New()))
		return
	case bson.Binary:
		v.Set(reflect.ValueOf(mdb.PairKey(id.New(), id.New())))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for described, field := range v.Fields() {
			if fill(t, field); described.Name == "Version" {
				field.SetInt(int64(newestOf(v.Addr().Interface())))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("LIKE").Convert(v.Type().Key()), reflect.ValueOf(7))
	case reflect.String:
		v.SetString("text of " + v.Type().String())
	case reflect.Int, reflect.Int64:
		v.SetInt(42)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("fill does not know %v", v.Type())
	}
}

// BenchmarkReadDocument reads a post with its newest comments, of which a page of news has twenty, and a user: by hand, and by the driver's decoder (ADR 9).
func BenchmarkReadDocument(b *testing.B) {
	post, user := &postDoc{}, &userDoc{}
	fill(b, reflect.ValueOf(post).Elem())
	fill(b, reflect.ValueOf(user).Elem())
	post.Detail.Options = nil
	for _, d := range []mdb.Document{post, user} {
		raw := encode(b, d)
		name := reflect.TypeOf(d).Elem().Name()
		read := func(read mdb.Document) error { return mdb.ReadDocument(raw, read) }
		decode := func(decoded mdb.Document) error { return unmarshal(mdb.Registry, raw, decoded) }
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
