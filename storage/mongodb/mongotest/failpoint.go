package mongotest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// FailCommand makes commands fail or wait, as the data of MongoDB's fail point failCommand says. The
// mode is "alwaysOn", "off" or {times: n}. It returns how often the fail point had been reached. The
// server must be started [WithFailPoints].
func FailCommand(tb testing.TB, client *mongo.Client, mode any, data bson.D) (count int) {
	tb.Helper()

	var was struct {
		Count int `bson:"count"`
	}

	point := bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: mode}, {Key: "data", Value: data}}
	if err := client.Database("admin").RunCommand(tb.Context(), point).Decode(&was); err != nil {
		tb.Fatalf("mongotest: fail point: %v", err)
	}

	return was.Count
}
