package mdb

import (
	"bytes"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
)

// namedID is an id type of this test alone: the registry recognizes ids by their structure.
type namedID struct{ id.ID }

// namedText is a named string type.
type namedText string

// TestPipelinesAreWrittenAsTheDriverWritesThem compares everything that a pipeline may contain,
// byte for byte.
func TestPipelinesAreWrittenAsTheDriverWritesThem(t *testing.T) {
	t.Parallel()
	users := []social.UserID{{ID: id.New()}, {ID: id.New()}}
	type owned struct {
		Owner social.UserID `bson:"owner"`
		Other social.UserID `bson:"other,omitempty"`
	}
	pipeline := bson.A{
		Doc("$match", Doc("_id", Doc("$in", Values(users)), "owner", users[0], "unit", namedID{id.New()})),
		Doc("$set", Doc("nothing", nil, "yes", true, "small", 7, "large", math.MaxInt32+1, "smallest", math.MinInt32, "long", int64(7), "part", 0.5)),
		Doc("$set", Doc("at", time.Now(), "year 1", time.Time{}, "key", PairKey(users[0].ID, users[1].ID), "kind", namedText("CLICK"))),
		Doc("$set", Doc("empty", bson.D{}, "none", bson.A{}, "no document", bson.D(nil), "no array", bson.A(nil))),
		Doc("$set", Doc("all", bson.A{"a", bson.A{1, Doc("b", bson.A{})}, []string{"c"}, owned{Owner: users[0]}})),
	}
	got, err := writePipeline(pipeline)
	if err != nil {
		t.Fatal(err)
	}
	want := marshal(t, Doc("pipeline", pipeline))
	if written := marshal(t, Doc("pipeline", got)); !bytes.Equal(written, want) {
		t.Errorf("%s\nwant\n%s", bson.Raw(written), bson.Raw(want))
	}
}

func TestPipelinesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, value := range []any{make(chan int), bson.RawValue{}} {
		if s, err := writePipeline(bson.A{Doc("$set", Doc("never", value))}); err == nil {
			t.Errorf("%T was written: %v", value, bson.RawArray(s))
		}
	}
}

func marshal(t testing.TB, document any) []byte {
	t.Helper()
	raw, err := Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
