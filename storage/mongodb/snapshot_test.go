package mongodb_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// A read whose snapshot is gone is repeated once, with another one. If that is gone too, it fails.
func TestReadsOnLostSnapshotsRunAgain(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	w := &town{Store: openAt(t, server.URI(), mongodb.Options{Comments: mongodb.CommentsPages}), t: t, ctx: t.Context()}
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	for range 3 {
		w.comment(p, nil, ada)
	}
	client := adminOf(t, server.URI()).Client()
	thread := social.Thread{Post: p.ID, Order: social.OrderOldest}
	for _, page := range [][]social.List[social.Thread]{
		lists(social.Page{Limit: 10}, thread), // a find
		{{Of: thread, Page: social.Page{Limit: 10}}, {Of: thread, Page: social.Page{Limit: 5, Last: true}}}, // an aggregate
	} {
		for _, lost := range []int{1, 2} {
			mongotest.FailCommand(t, client, bson.D{{Key: "times", Value: lost}}, bson.D{
				{Key: "failCommands", Value: bson.A{"find", "aggregate"}}, {Key: "errorCode", Value: 239}, {Key: "namespace", Value: "plaza.threads.pages"},
			})
			found, err := w.Thread(w.ctx, page)
			switch {
			case lost == 1 && (err != nil || len(found[page[0]]) != 3):
				t.Errorf("one lost snapshot: %d comments, %v", len(found[page[0]]), err)
			case lost == 2 && (err == nil || !strings.Contains(err.Error(), "SnapshotTooOld")):
				t.Errorf("two lost snapshots: %v", err)
			}
		}
	}
}
