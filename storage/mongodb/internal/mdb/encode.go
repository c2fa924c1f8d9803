package mdb

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Stages is a pipeline that is written already. To look up how each of its values is written, by
// reflection, takes the driver as long as much of what is left of a command.
type Stages []byte

// MarshalBSONValue implements bson.ValueMarshaler.
func (s Stages) MarshalBSONValue() (typ byte, data []byte, err error) {
	return byte(bson.TypeArray), s, nil
}

// WritePipeline writes a pipeline. Errors: those of values that BSON has no type for.
func WritePipeline(pipeline bson.A) (Stages, error) {
	return appendArray(make([]byte, 0, usualPipeline), pipeline)
}

// usualPipeline is about how many bytes a pipeline has, or more.
const usualPipeline = 1 << 13

// MustWritePipeline writes a pipeline of constants, once.
func MustWritePipeline(pipeline bson.A) Stages {
	s, err := WritePipeline(pipeline)
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

// appendElement writes what pipelines are made of, and leaves the rest to the driver.
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

// appendEncoded writes a value as the driver does.
func appendEncoded(to []byte, key string, value any) ([]byte, error) {
	raw, err := Marshal(bson.D{{Key: key, Value: value}})
	if err != nil {
		return to, err
	}
	const length = 4 // bytes before the first element; behind the last is one
	return append(to, raw[length:len(raw)-1]...), nil
}

// Marshal writes a document as the driver does.
func Marshal(document any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := bson.NewEncoder(bson.NewDocumentWriter(&buffer))
	encoder.SetRegistry(Registry)
	err := encoder.Encode(document)
	return buffer.Bytes(), err
}
