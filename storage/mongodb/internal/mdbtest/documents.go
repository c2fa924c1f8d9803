// Package mdbtest helps to test documents: it fills them, and reads samples of all versions that
// have ever been written.
package mdbtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// ReadsItself encodes a document with every field set by its struct tags, and decodes it with its
// own decoder. It fails if either omits a field. version returns the version of documents of a
// type.
func ReadsItself(t *testing.T, d mdb.Document, version func(document any) int) {
	t.Helper()
	Fill(t, d, version)
	read, _ := reflect.TypeAssert[mdb.Document](reflect.New(reflect.TypeOf(d).Elem()))
	if err := mdb.ReadDocument(Encode(t, d), read); err != nil {
		t.Fatalf("%T: %v", d, err)
	}
	if diff := cmp.Diff(d, read); diff != "" {
		t.Errorf("%T differs (-written +read):\n%s", d, diff)
	}
}

// Fill sets every field of what d points to. Fields named Version get the version of documents of
// their type.
func Fill(t testing.TB, d any, version func(document any) int) {
	t.Helper()
	fill(t, reflect.ValueOf(d).Elem(), version)
}

func fill(t testing.TB, v reflect.Value, version func(document any) int) {
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
			if fill(t, field, version); described.Name == "Version" {
				field.SetInt(int64(version(v.Addr().Interface())))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), version)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), version)
		fill(t, v.Index(1), version)
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

// Encode encodes a document with the driver.
func Encode(t testing.TB, d any) []byte {
	t.Helper()
	raw, err := mdb.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Decode decodes a document with the driver.
func Decode(raw []byte, to any) error {
	d := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
	d.SetRegistry(mdb.Registry)
	return d.Decode(to)
}

// Read decodes a document as the engine does: with the type's own decoder if it has one.
func Read(raw []byte, to any) error {
	if d, ok := to.(mdb.Document); ok {
		return mdb.ReadDocument(raw, d)
	}
	return Decode(raw, to)
}

// ReadsEveryVersion reads documents of every version that has ever been written to some
// collections, from the samples in storage/mongodb/testdata/documents. It is for tests of the
// packages in storage/mongodb/internal.
func ReadsEveryVersion(t *testing.T, readers map[string]func() any) {
	t.Helper()
	for collection, newReader := range readers {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "documents", collection+".*.bson"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no samples are kept, %v", collection, err)
		}
		for _, path := range files {
			for _, raw := range Samples(t, path) {
				if err := Read(raw, newReader()); err != nil {
					t.Errorf("%s: %v in %v", path, err, raw)
				}
			}
		}
	}
}

// RefusesNewer reads a document in a version that this Plaza does not know, and expects the error
// tooNew.
func RefusesNewer(t *testing.T, d mdb.Evolving, tooNew error) {
	t.Helper()
	raw, err := bson.Marshal(mdb.Doc("v", 99))
	if err != nil {
		t.Fatal(err)
	}
	if err := Read(raw, d); !errors.Is(err, tooNew) {
		t.Errorf("%T: a newer document is read: %v", d, err)
	}
}

// Samples returns the documents in a file of testdata/documents.
func Samples(t *testing.T, path string) (documents []bson.Raw) {
	t.Helper()
	rest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(rest) > 0 {
		n := binary.LittleEndian.Uint32(rest)
		documents, rest = append(documents, bson.Raw(rest[:n])), rest[n:]
	}
	return documents
}
