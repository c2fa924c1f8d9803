package mongodb_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

var updateDocuments = flag.Bool("update-documents", false, "write what is missing in testdata/documents")

// TestDocumentsOfEveryVersionAreKept: testdata/documents has documents of each version of each
// collection, as servers have written them, concatenated in NAME.vN.bson. Existing files never
// change; a new version or a new collection adds one. TestCommandsReachTheirShard, which calls
// everything, does the same with what it has stored.
func TestDocumentsOfEveryVersionAreKept(t *testing.T) {
	t.Parallel()
	for _, o := range []mongodb.Options{
		{Feeds: mongodb.FeedsCache}, {Feeds: mongodb.FeedsHybrid, MergeAbove: 2}, {Feeds: mongodb.FeedsBucket}, {Feeds: mongodb.FeedsMonth},
	} {
		t.Run("feeds, "+o.Feeds, func(t *testing.T) {
			w := newTownOf(t, nil, o)
			fillFeeds(w)
			keepCollections(w)
		})
	}
}

// fillFeeds makes people read news, writes posts for them (one author has few followers, and the
// other enough to be merged), and mutes a thread, so that all collections of feeds have documents.
func fillFeeds(w *town) {
	users := w.people(5)
	few, many, fans := users[0], users[1], users[2:]
	w.follow(fans[0], []social.NewUser{few})
	for _, fan := range fans {
		w.follow(fan, []social.NewUser{many})
		_, err := w.News(w.ctx, fan.User.ID, social.Page{Limit: 20})
		w.ok(err)
	}
	for _, author := range []social.UserID{few.User.ID, many.User.ID} {
		p := w.post(status(author, author, public))
		w.comment(p, nil, fans[0].User.ID)
		_, err := w.MuteThread(w.ctx, p.ID, author, happened(social.EventThreadMuted))
		w.ok(err)
		_, err = w.Wall(w.ctx, lists(social.Page{Limit: 20}, author))
		w.ok(err)
	}
	w.finish()
	w.news(fans[2], social.Page{Limit: 20}) // the newest user: some of the newest documents are kept
}

func keepCollections(w *town) {
	w.t.Helper()
	db := mongotest.Connect(w.t, w.uri)
	collections, err := db.ListCollectionNames(w.ctx, bson.D{})
	w.ok(err)
	for _, collection := range collections {
		name, _, _ := strings.Cut(collection, ".") // each layout has its own collection
		for version, documents := range someOf(w.t, db.Collection(collection)) {
			keepDocuments(w.t, fmt.Sprintf("%s.v%d.bson", name, version), documents)
		}
	}
}

func keepDocuments(t testing.TB, name string, documents []byte) {
	t.Helper()
	path := filepath.Join("testdata", "documents", name)
	_, err := os.Stat(path)
	switch {
	case err == nil:
	case *updateDocuments:
		if err := os.WriteFile(path, documents, 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is missing: run go test ./storage/mongodb -run %s -update-documents, and commit it", path, t.Name())
	}
}

// someOf returns some documents of each version.
func someOf(t testing.TB, c *mongo.Collection) map[int64][]byte {
	t.Helper()
	cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetLimit(200))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cursor.Close(context.Background()) }()
	found, types := map[int64][]byte{}, map[string]int{}
	for cursor.Next(t.Context()) {
		version, ok := cursor.Current.Lookup("v").AsInt64OK()
		if !ok {
			t.Errorf("a document of %s has no version: %v", c.Name(), cursor.Current)
			continue
		}
		kind := fmt.Sprint(version, cursor.Current.Lookup("type"))
		if types[kind]++; types[kind] <= 2 {
			found[version] = append(found[version], cursor.Current...)
		}
	}
	return found
}

// writePosts writes posts of all types, each with an earlier version.
func writePosts(w *town) {
	author := w.people(1)[0]
	w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: [32]byte{7}, User: author.User.ID, ExpiresAt: time.UnixMilli(1 << 42)}))
	for i, content := range []social.Content{
		{Status: &social.Status{Text: "status"}},
		{Photo: &social.Photo{URL: "https://example.org/photo.png", Caption: "a photo", Width: 640, Height: 480}},
		{Link: &social.Link{URL: "https://example.org/", Title: "a link", Text: "look"}},
		{Checkin: &social.Checkin{Place: "Ulm", Latitude: 48.4, Longitude: 9.99, Text: "here"}},
		{Poll: &social.Poll{Question: "?", Options: []string{"a", "b"}, ClosesAt: time.UnixMilli(1 << 42).UTC()}},
	} {
		p := status(author.User.ID, author.User.ID, public)
		p.Content = content
		w.post(p)
		w.ok(w.PutReaction(w.ctx, p.ID, author.User.ID, social.ReactionLove, happened(social.EventReactionAdded)))
		_, err := w.MuteThread(w.ctx, p.ID, author.User.ID, happened(social.EventThreadMuted))
		w.ok(err)
		if content.Poll != nil {
			w.ok(w.PutVote(w.ctx, p.ID, author.User.ID, 1, happened(social.EventPollVoted)))
		}
		edited := *p
		edited.Revision, edited.EditedAt = 1, time.UnixMilli(1<<41+int64(i)).UTC()
		w.ok(w.UpdatePost(w.ctx, &edited, &social.Version{Content: content, Audience: p.Audience, EditedAt: edited.EditedAt}, happened(social.EventPostEdited)))
	}
}
