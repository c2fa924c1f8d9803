package mongodb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
	"plaza/storage/mongodb/internal/moderation"
	"plaza/storage/mongodb/internal/notifications"
	"plaza/storage/mongodb/internal/serials"
	"plaza/storage/mongodb/internal/threads"
)

// readers returns an empty document for each collection that has files in testdata/documents.
var readers = map[string]func() any{
	"posts": func() any { return &postDoc{} }, "postVersions": func() any { return &versionDoc{} },
	"reactions": func() any { return &markDoc{} }, "votes": func() any { return &markDoc{} },
	"threadMutes": func() any { return &markDoc{} },
	"jobs":        func() any { return &jobs.Job{} }, "settings": func() any { return &cluster.Setting{} }, "servers": func() any { return &cluster.Server{} },
	"openPolls": func() any { return &openPollDoc{} },
	"sequences": func() any { return &serials.Document{} },
}

// ofOthers are the collections of packages threads, feeds, idempotency, eventlog, profiles, users
// and graph.
var ofOthers = []string{
	"comments", "threads", "commentAuthors", "newsCache", "newsLists", "mergedAuthors", "newsBuckets", "monthNews", "monthWalls", "idempotencyKeys", "events", "changes", "profiles", "properties",
	"users", "handles", "sessions", "identities", "leftHandles", "emails", "mailTokens", "mails", "invitations", "inviters", "circles", "edges", "followers",
}

// TestEveryVersionIsRead reads documents of all versions that have ever been written. Packages
// adstore, notifications and moderation, and those in ofOthers, test their own collections.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/documents/*.bson")
	if err != nil || len(files) < 18 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		collection, _, _ := strings.Cut(filepath.Base(path), ".")
		_, isAds := adstore.ShardKeys()[collection]
		_, isNotified := notifications.ShardKeys()[collection]
		_, isModeration := moderation.ShardKeys()[collection]
		if isAds || isNotified || isModeration || slices.Contains(ofOthers, collection) {
			continue
		}
		newReader, ok := readers[collection]
		if !ok {
			t.Errorf("add the type of %s to readers", collection)
			continue
		}
		for _, raw := range mdbtest.Samples(t, path) {
			if err := mdbtest.Read(raw, newReader()); err != nil {
				t.Errorf("%s: %v in %v", path, err, raw)
			}
		}
	}
}

// TestOldDocumentsMeanTheSame: reading an old document gives the same as reading the document that
// is written today.
func TestOldDocumentsMeanTheSame(t *testing.T) {
	t.Parallel()
	var photos, comments int
	noReactions := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Reactions" }, cmpopts.EquateEmpty())
	var samples []bson.Raw
	for version := 1; version < postsVersion; version++ {
		samples = append(samples, mdbtest.Samples(t, fmt.Sprintf("testdata/documents/posts.v%d.bson", version))...)
	}
	for _, raw := range samples {
		var old, today postDoc
		if err := mdb.ReadDocument(raw, &old); err != nil {
			t.Fatal(err)
		}
		post := old.post()
		comments += len(post.Latest)
		if photo := post.Content.Photo; photo != nil {
			photos++
			want := social.Photo{URL: "https://example.org/photo.png", Caption: "a photo", Width: 640, Height: 480}
			if photo.Alt = ""; *photo != want {
				t.Errorf("the photo is read as %+v", photo)
			}
		}
		if err := mdb.ReadDocument(mdbtest.Encode(t, newPostDoc(post, postsVersion)), &today); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(post, today.post(), noReactions, cmpopts.IgnoreFields(social.Post{}, "Edits", "Muters")); diff != "" {
			t.Errorf("an old post differs from the one that is written today (-read +written):\n%s", diff)
		}
		if today.Version != postsVersion || old.Version != postsVersion {
			t.Errorf("the versions are %d and %d", old.Version, today.Version)
		}
	}
	if photos == 0 || comments == 0 {
		t.Errorf("there are %d photos and %d comments among the posts", photos, comments)
	}
}

// TestPostsAreUpgradedToTheirVersion: servers of the previous version read what is upgraded before
// the upgrade is finished.
func TestPostsAreUpgradedToTheirVersion(t *testing.T) {
	t.Parallel()
	for version := 2; version <= postsVersion; version++ {
		comments, short := 0, 0
		for _, raw := range mdbtest.Samples(t, "testdata/documents/posts.v1.bson") {
			update := must(upgrades["posts"](raw, version))(t).Update.(bson.D)
			var upgraded struct {
				Set postDoc `bson:"$set"`
			}
			ok(t, bson.Unmarshal(must(bson.Marshal(update))(t), &upgraded))
			for _, c := range upgraded.Set.Latest {
				comments++
				if c.Slug == "" {
					short++
				}
			}
		}
		want := comments
		if version < threads.ShortCopies {
			want = 0
		}
		if comments == 0 || short != want {
			t.Errorf("version %d: %d of %d copies are short, want %d", version, short, comments, want)
		}
	}
}

// TestNewerDocumentsAreRefused: each kind of document, in a version that this Plaza does not know.
func TestNewerDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for collection, newReader := range readers {
		d, ok := newReader().(mdb.Evolving)
		if !ok {
			continue
		}
		raw, err := bson.Marshal(mdb.Doc("v", 99))
		if err != nil {
			t.Fatal(err)
		}
		if err := mdbtest.Read(raw, d); !errors.Is(err, cluster.ErrTooNew) {
			t.Errorf("%s: a newer document is read: %v", collection, err)
		}
	}
}

// collectionOf returns a collection of a store's database.
func collectionOf(s *Store, name string) *mongo.Collection {
	return s.settings.Database().Collection(name)
}

// PutRaw stores a document as it is, as another server would.
func (s *Store) PutRaw(ctx context.Context, collection string, document any) error {
	_, err := s.settings.Database().Collection(collection).InsertOne(ctx, document)
	return err
}

// Change changes documents as another server would.
func (s *Store) Change(ctx context.Context, collection string, filter, update bson.D) error {
	_, err := s.settings.Database().Collection(collection).UpdateMany(ctx, filter, update)
	return err
}

// NewestVersion returns the version that is written of a collection's documents.
func NewestVersion(collection string) int { return max(newestVersions()[collection], mdb.FirstVersion) }

// NextRelease returns options for a store of the next release, whose posts have one more version,
// for this test. No other test may run meanwhile.
func NextRelease(t *testing.T, o Options) Options {
	t.Helper()
	next := cluster.Edition{Newest: newestVersions(), Previous: newestVersions()}
	next.Newest["posts"]++
	next.Newest["postVersions"]++
	readable = next.Newest
	t.Cleanup(func() { readable = newestVersions() })
	o.edition = &next
	return o
}

// Recorded returns the versions that are recorded in the database, as an older server reads them.
func (s *Store) Recorded(ctx context.Context) (map[string]int, error) {
	d, err := s.member.ReadVersions(ctx)
	return d.Newest, err
}
