package mongodb_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestKeysAreForgottenAfterADay: MongoDB removes a key 24 hours after its first attempt, by its own
// clock. The test moves the times in the collection instead of waiting.
func TestKeysAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithParameter("ttlMonitorSleepSecs=1"))
	uri := mongotest.InDatabase(t, server.URI(), "plaza")
	db := mongotest.Connect(t, uri)
	s := openAt(t, uri, mongodb.Options{})
	begin := func(user social.UserID, fingerprint byte) (social.Attempt, string, error) {
		t.Helper()
		a := social.Attempt{User: user, Key: "key", Fingerprint: [32]byte{fingerprint}, ID: id.New()}
		answer, err := s.BeginAttempt(t.Context(), a, time.Minute)
		return a, string(answer), err
	}
	move := func(by time.Duration) {
		t.Helper()
		earlier := bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "expires", Value: bson.D{{Key: "$subtract", Value: bson.A{"$expires", by.Milliseconds()}}}}}}}}
		if _, err := db.Collection("idempotencyKeys").UpdateMany(t.Context(), bson.D{}, earlier); err != nil {
			t.Fatal(err)
		}
	}
	old, young := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	const left = time.Hour
	for _, user := range []social.UserID{old, young} {
		a, _, err := begin(user, 1)
		if err := errors.Join(err, s.EndAttempt(t.Context(), a, []byte("done"))); err != nil {
			t.Fatal(err)
		}
		if user == old {
			move(left)
		}
	}
	move(social.AnswerLifetime - left)
	enable := bson.D{{Key: "setParameter", Value: 1}, {Key: "ttlMonitorEnabled", Value: true}}
	if err := db.Client().Database("admin").RunCommand(t.Context(), enable).Err(); err != nil {
		t.Fatal(err)
	}
	testtime.Eventually(t, "the older key is available for another operation", func() bool {
		_, answer, err := begin(old, 2)
		return answer == "" && err == nil
	})
	if _, answer, err := begin(young, 1); answer != "done" || err != nil {
		t.Errorf("the key with an hour left: %q, %v", answer, err)
	}
}
