package mdb

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Stages is an encoded pipeline. The driver would encode each value by reflection, which takes a
// large part of the time of a command.
type Stages []byte

// MarshalBSONValue implements bson.ValueMarshaler.
func (s Stages) MarshalBSONValue() (typ byte, data []byte, err error) {
	return byte(bson.TypeArray), s, nil
}

// writePipeline encodes a pipeline. It returns an error if a value has no BSON type.
func writePipeline(pipeline bson.A) (Stages, error) {
	return appendArray(make([]byte, 0, usualPipeline), pipeline)
}

// usualPipeline is a size in bytes that most pipelines do not exceed.
const usualPipeline = 1 << 13

// MustWritePipeline encodes a pipeline of constants for a package variable. It panics on an error.
func MustWritePipeline(pipeline bson.A) Stages {
	s, err := writePipeline(pipeline)
	if err != nil {
		panic(fmt.Sprintf("a pipeline of this package: %v", err))
	}
	return s
}

func appendArray(to []byte, a bson.A) (_ []byte, err error) {
	start, to := bsoncore.AppendArrayStart(to)
	for i, v := range a {
		if to, err = appendElement(to, strconv.Itoa(i), v); err != nil {
			return to, err
		}
	}
	return bsoncore.AppendArrayEnd(to, start)
}

func appendDocument(to []byte, d bson.D) (_ []byte, err error) {
	start, to := bsoncore.AppendDocumentStart(to)
	for _, e := range d {
		if to, err = appendElement(to, e.Key, e.Value); err != nil {
			return to, err
		}
	}
	return bsoncore.AppendDocumentEnd(to, start)
}

// appendElement encodes the types that pipelines consist of, and leaves others to the driver.
func appendElement(to []byte, key string, value any) ([]byte, error) {
	switch v := value.(type) {
	case bson.D:
		if v == nil {
			break
		}
		return appendDocument(bsoncore.AppendHeader(to, bsoncore.TypeEmbeddedDocument, key), v)
	case bson.A:
		if v == nil {
			break
		}
		return appendArray(bsoncore.AppendHeader(to, bsoncore.TypeArray, key), v)
	case bson.RawValue:
		if v.Type == 0 {
			break
		}
		return append(bsoncore.AppendHeader(to, bsoncore.Type(v.Type), key), v.Value...), nil
	case bson.Binary:
		return bsoncore.AppendBinaryElement(to, key, v.Subtype, v.Data), nil
	case string:
		return bsoncore.AppendStringElement(to, key, v), nil
	case bool:
		return bsoncore.AppendBooleanElement(to, key, v), nil
	case int:
		if int(int32(v)) == v {
			return bsoncore.AppendInt32Element(to, key, int32(v)), nil
		}
		return bsoncore.AppendInt64Element(to, key, int64(v)), nil
	case time.Time:
		return bsoncore.AppendDateTimeElement(to, key, v.UnixMilli()), nil
	}
	return appendEncoded(to, key, value)
}

// appendEncoded encodes a value with the driver.
func appendEncoded(to []byte, key string, value any) ([]byte, error) {
	raw, err := Marshal(bson.D{{Key: key, Value: value}})
	if err != nil {
		return to, err
	}
	const length = 4 // bytes before the first element; one byte follows the last
	return append(to, raw[length:len(raw)-1]...), nil
}

// Marshal encodes a document with the driver.
func Marshal(document any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := bson.NewEncoder(bson.NewDocumentWriter(&buffer))
	encoder.SetRegistry(Registry)
	err := encoder.Encode(document)
	return buffer.Bytes(), err
}
