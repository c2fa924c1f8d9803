package mdb

import (
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
)

// Registry tells the driver how to encode and decode values. It encodes each named id, a struct
// that contains only an [id.ID], as a UUID (binary, subtype 4), which sorts by its bytes. A new id
// type needs no entry.
var Registry = newRegistry()

func newRegistry() *bson.Registry {
	r := bson.NewRegistry()
	encoder, notEncoded := r.LookupEncoder(anyStruct)
	decoder, notDecoded := r.LookupDecoder(anyStruct)
	if err := errors.Join(notEncoded, notDecoded); err != nil {
		panic(fmt.Sprintf("the driver does not know structs: %v", err))
	}
	codec := idCodec{encoder, decoder}
	r.RegisterKindEncoder(reflect.Struct, codec)
	r.RegisterKindDecoder(reflect.Struct, codec)
	return r
}

var anyStruct = reflect.TypeFor[struct{}]()

// idCodec encodes and decodes ids, and leaves other structs to the driver.
type idCodec struct {
	encoder bson.ValueEncoder
	decoder bson.ValueDecoder
}

// idIn returns the id in a named id, and an invalid value for any other struct.
func idIn(v reflect.Value) reflect.Value {
	if v.NumField() != 1 || v.Field(0).Type() != reflect.TypeFor[id.ID]() {
		return reflect.Value{}
	}
	return v.Field(0)
}

// EncodeValue implements bson.ValueEncoder.
func (c idCodec) EncodeValue(e bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	named := idIn(v)
	if !named.IsValid() {
		return c.encoder.EncodeValue(e, w, v)
	}
	raw, _ := reflect.TypeAssert[id.ID](named)
	return w.WriteBinaryWithSubtype(raw[:], bson.TypeBinaryUUID)
}

// DecodeValue implements bson.ValueDecoder.
func (c idCodec) DecodeValue(d bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	named := idIn(v)
	if !named.IsValid() {
		return c.decoder.DecodeValue(d, r, v)
	}
	raw, _, err := r.ReadBinary()
	if err != nil {
		return err
	}
	if len(raw) != len(id.ID{}) {
		return fmt.Errorf("an id of %d bytes", len(raw))
	}
	reflect.Copy(named, reflect.ValueOf(raw))
	return nil
}
