package mongodb

import (
	"bytes"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
)

// TestPipelinesAreWrittenAsTheDriverWritesThem compares all that a pipeline may have in it, byte for byte.
func TestPipelinesAreWrittenAsTheDriverWritesThem(t *testing.T) {
	t.Parallel()
	users := []social.UserID{{ID: id.New()}, {ID: id.New()}}
	pipeline := bson.A{
		doc("$match", doc("_id", doc("$in", valueList(users)), "owner", users[0], "unit", ads.UnitID{ID: id.New()})),
		doc("$set", doc("nothing", nil, "yes", true, "small", 7, "large", math.MaxInt32+1, "smallest", math.MinInt32, "long", int64(7), "part", 0.5)),
		doc("$set", doc("at", time.Now(), "year 1", time.Time{}, "key", pairKey(users[0].ID, users[1].ID), "kind", ads.Click)),
		doc("$set", doc("empty", bson.D{}, "none", bson.A{}, "no document", bson.D(nil), "no array", bson.A(nil))),
		doc("$set", doc("all", bson.A{"a", bson.A{1, doc("b", bson.A{})}, []string{"c"}, edgeDoc{Owner: users[0]}})),
	}
	got, err := written(pipeline)
	if err != nil {
		t.Fatal(err)
	}
	want := encode(t, bson.D{{Key: "pipeline", Value: pipeline}})
	if written := encode(t, bson.D{{Key: "pipeline", Value: got}}); !bytes.Equal(written, want) {
		t.Errorf("%s\nwant\n%s", bson.Raw(written), bson.Raw(want))
	}
}

func TestPipelinesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, value := range []any{make(chan int), bson.RawValue{}} {
		if s, err := written(bson.A{doc("$set", doc("never", value))}); err == nil {
			t.Errorf("%T was written: %v", value, bson.RawArray(s))
		}
	}
}
