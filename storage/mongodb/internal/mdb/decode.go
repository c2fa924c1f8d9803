package mdb

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
)

// Document is a stored document with its own decoder.
type Document interface {
	// SetField sets one field, and ignores unknown fields. It must not keep either slice.
	SetField(r *Reader, field []byte, v bsoncore.Value)
}

// Evolving is a document that upgrades itself to the newest version after it was read.
type Evolving interface{ Evolve() error }

// Reader reads a document, and remembers the first error.
type Reader struct {
	field []byte
	err   error
}

// ReadDocument sets all fields of d.
func ReadDocument(raw []byte, d Document) error {
	var r Reader
	r.document(raw, d)
	return r.err
}

func (r *Reader) document(raw []byte, d Document) {
	r.elements(raw, func(field []byte, v bsoncore.Value) {
		if v.Type != bsoncore.TypeNull {
			d.SetField(r, field, v)
		}
	})
	if e, ok := d.(Evolving); ok && r.err == nil {
		r.err = e.Evolve()
	}
}

// elements calls do with each element of a document or an array.
func (r *Reader) elements(raw []byte, do func(field []byte, v bsoncore.Value)) {
	length, rest, ok := bsoncore.ReadLength(raw)
	ok = ok && int(length) == len(raw)
	for ok && len(rest) > 1 {
		var v bsoncore.Value
		if r.field, v, rest, ok = readElement(rest); ok {
			do(r.field, v)
		}
	}
	if !ok || len(rest) != 1 || rest[0] != 0 {
		r.failf("is malformed")
	}
}

// readElement splits off the first element. It does not convert the name to a string, because a
// switch can compare the bytes: an allocation or a map lookup for each name would double the time.
func readElement(raw []byte) (field []byte, v bsoncore.Value, rest []byte, ok bool) {
	t, rest, ok := bsoncore.ReadType(raw)
	if ok {
		field, rest, ok = bsoncore.ReadKeyBytes(rest)
	}
	if ok {
		v, rest, ok = bsoncore.ReadValue(rest, t)
	}
	return field, v, rest, ok
}

func (r *Reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("field %q %s", r.field, fmt.Sprintf(format, args...))
	}
}

// Check records an error for a value of another type than expected.
func (r *Reader) Check(ok bool, v bsoncore.Value) bool {
	if !ok {
		r.failf("is a %v", v.Type)
	}
	return ok
}

// ID reads an id.
func (r *Reader) ID(v bsoncore.Value, to *id.ID) {
	_, data, ok := v.BinaryOK()
	if r.Check(ok && len(data) == len(to), v) {
		copy(to[:], data)
	}
}

// readID is Reader.ID for the domain's named ids.
func readID[T ~struct{ id.ID }](r *Reader, v bsoncore.Value, to *T) {
	var raw struct{ id.ID }
	r.ID(v, &raw.ID)
	*to = raw
}

// ReadIDs reads an array of ids.
func ReadIDs[T ~struct{ id.ID }](r *Reader, v bsoncore.Value, to *[]T) {
	ReadArray(r, v, to, readID[T])
}

// Binary reads binary data, and copies it.
func (r *Reader) Binary(v bsoncore.Value, to *bson.Binary) {
	subtype, data, ok := v.BinaryOK()
	if r.Check(ok, v) {
		*to = bson.Binary{Subtype: subtype, Data: append([]byte(nil), data...)}
	}
}

// Text reads a string.
func (r *Reader) Text(v bsoncore.Value, to *string) {
	text, ok := v.StringValueOK()
	if r.Check(ok, v) {
		*to = text
	}
}

// ReadText is Reader.Text for the domain's named string types.
func ReadText[T ~string](r *Reader, v bsoncore.Value, to *T) {
	text, ok := v.StringValueOK()
	if r.Check(ok, v) {
		*to = T(text)
	}
}

// Int reads an integer of 32 or 64 bits.
func (r *Reader) Int(v bsoncore.Value, to *int) {
	n, ok := v.AsInt64OK()
	if r.Check(ok, v) {
		*to = int(n)
	}
}

// Long is Int for numbers that need 64 bits.
func (r *Reader) Long(v bsoncore.Value, to *int64) {
	n, ok := v.AsInt64OK()
	if r.Check(ok, v) {
		*to = n
	}
}

// Float reads a floating-point number.
func (r *Reader) Float(v bsoncore.Value, to *float64) {
	f, ok := v.DoubleOK()
	if r.Check(ok, v) {
		*to = f
	}
}

// Bool reads a boolean.
func (r *Reader) Bool(v bsoncore.Value, to *bool) {
	b, ok := v.BooleanOK()
	if r.Check(ok, v) {
		*to = b
	}
}

// Time reads a time, in UTC.
func (r *Reader) Time(v bsoncore.Value, to *time.Time) {
	ms, ok := v.DateTimeOK()
	if r.Check(ok, v) {
		*to = time.UnixMilli(ms).UTC()
	}
}

// ReadArray reads each element of an array.
func ReadArray[T any](r *Reader, v bsoncore.Value, to *[]T, read func(*Reader, bsoncore.Value, *T)) {
	if !r.Check(v.Type == bsoncore.TypeArray, v) {
		return
	}
	n := 0
	r.elements(v.Data, func([]byte, bsoncore.Value) { n++ })
	all := make([]T, 0, n)
	r.elements(v.Data, func(_ []byte, v bsoncore.Value) {
		all = append(all, *new(T))
		read(r, v, &all[len(all)-1])
	})
	*to = all
}

// ReadDocuments reads an array of documents.
func ReadDocuments[D any, P interface {
	*D
	Document
}](r *Reader, v bsoncore.Value, to *[]D) {
	ReadArray(r, v, to, func(r *Reader, v bsoncore.Value, d *D) { r.Inner(v, P(d)) })
}

// Inner reads an embedded document.
func (r *Reader) Inner(v bsoncore.Value, d Document) {
	raw, ok := v.DocumentOK()
	if r.Check(ok, v) {
		r.document(raw, d)
	}
}
