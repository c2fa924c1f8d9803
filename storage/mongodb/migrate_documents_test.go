package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// oldUser stores a user like servers that write version 1.
func (w *town) oldUser(name string) social.UserID {
	user := social.UserID{ID: id.New()}
	w.ok(w.PutRaw(w.ctx, "users", bson.D{
		{Key: "_id", Value: user},
		{Key: "v", Value: 1},
		{Key: "handle", Value: "u" + user.ID.String()},
		{Key: "name", Value: name},
		{Key: "wallPolicy", Value: "EVERYONE"},
		{Key: "followers", Value: 0},
		{Key: "following", Value: 0},
	}))
	return user
}

// oldRename changes a name like those servers.
func (w *town) oldRename(user social.UserID, name string) error {
	return w.Change(w.ctx, "users", bson.D{{Key: "_id", Value: user}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}, {Key: "name", Value: name}}}})
}

func (w *town) named(prefix string) int {
	found, err := w.UsersNamed(w.ctx, prefix, social.Page{Limit: 1_000})
	w.ok(err)
	return len(found)
}

// left returns how many documents are older than the newest version.
func (w *town) left() (n int) {
	all, err := w.DocumentVersions(w.ctx)
	w.ok(err)
	for _, c := range all {
		for version, count := range c.Counts {
			if version < c.Newest {
				n += count
			}
		}
	}
	return n
}

// TestMigrateDocumentsResumes checks that a dry run changes nothing, and that the next run resumes
// an interrupted one.
func TestMigrateDocumentsResumes(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	const old = 95
	for range old {
		w.oldUser("Ölaf")
	}
	w.people(5)
	dry := 0
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{Batch: 10, DryRun: true, Progress: func(p mongodb.DocumentProgress) {
		if p.Collection == "users" {
			dry = p.Upgraded
		}
	}}))
	if dry != old || w.left() != old || w.named("öl") != 0 {
		t.Errorf("a dry run finds %d, and leaves %d", dry, w.left())
	}
	first := 0
	ctx, kill := context.WithCancel(w.ctx)
	err := w.MigrateDocuments(ctx, mongodb.DocumentMigration{Batch: 10, Progress: func(p mongodb.DocumentProgress) {
		if first = p.Upgraded; p.Collection == "users" && p.Done >= 30 {
			kill()
		}
	}})
	if !errors.Is(err, context.Canceled) || first == 0 || w.left() == 0 {
		t.Fatalf("the first run ends with %v, after %d", err, first)
	}
	began, second := 0, 0
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{Batch: 10, Progress: func(p mongodb.DocumentProgress) {
		if p.Collection == "users" {
			if began == 0 {
				began = p.Done
			}
			second = p.Upgraded
		}
	}}))
	if began < 30 || first+second != old || w.left() != 0 || w.named("öl") != old {
		t.Errorf("the second run begins at %d; %d and %d are upgraded, %d left, %d found by name", began, first, second, w.left(), w.named("öl"))
	}
	again := 0
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{Progress: func(p mongodb.DocumentProgress) { again += p.Upgraded }}))
	if again != 0 {
		t.Errorf("a third run upgrades %d", again)
	}
}

// TestOldServersWriteMeanwhile lets servers of version 1 and of the current version rename people
// while documents are migrated. No name is lost, and once the old servers have stopped, everyone is
// found by their last name.
func TestOldServersWriteMeanwhile(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	var people []social.UserID
	for range 60 {
		people = append(people, w.oldUser("first"))
	}
	var writers sync.WaitGroup
	rename := func(n int, do func(user social.UserID, name string) error) {
		writers.Go(func() {
			for i := n; i < len(people); i += 2 {
				for round := range 5 {
					if err := do(people[i], fmt.Sprintf("name %d of %d", round, n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	rename(0, w.oldRename)
	rename(1, func(user social.UserID, name string) error {
		return w.UpdateProfile(w.ctx, user, social.ProfileChange{Name: &name}, happened(social.EventProfileUpdated))
	})
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{Batch: 7}))
	writers.Wait()
	read, err := w.Users(w.ctx, people)
	w.ok(err)
	for i, user := range people {
		if want := fmt.Sprintf("name 4 of %d", i%2); read[user].Name != want {
			t.Errorf("%v is named %q, want %q", user, read[user].Name, want)
		}
	}
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{}))
	if w.left() != 0 || w.named("name 4 of 0") != 30 || w.named("name 4 of 1") != 30 || w.named("name") != 60 {
		t.Errorf("%d are left; found are %d and %d of 30", w.left(), w.named("name 4 of 0"), w.named("name 4 of 1"))
	}
}

// TestOldDocumentsAreNamed until they are upgraded.
func TestOldDocumentsAreNamed(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	w.people(3)
	named := func(want ...string) {
		t.Helper()
		got, err := w.OldDocuments(w.ctx)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q have old documents, want %q (%v)", got, want, err)
		}
	}
	named()
	w.oldUser("Ada")
	w.ok(w.PutRaw(w.ctx, "votes", bson.D{{Key: "_id", Value: append(id.New().Bytes(), id.New().Bytes()...)}, {Key: "v", Value: 1}}))
	named("users", "votes")
	w.ok(w.MigrateDocuments(w.ctx, mongodb.DocumentMigration{}))
	named()
}

// TestNewerDatabaseIsRefused checks that a server that was rolled back neither opens a database
// that a newer one has written nor reads any of its documents.
func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	user := w.oldUser("Ada")
	w.ok(w.Change(w.ctx, "users", bson.D{{Key: "_id", Value: user}}, bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 3}}}}))
	if _, err := w.Users(w.ctx, []social.UserID{user}); err == nil || !strings.Contains(err.Error(), "newer Plaza") {
		t.Errorf("a newer user is read: %v", err)
	}
	w.ok(w.Change(w.ctx, "settings", bson.D{{Key: "_id", Value: "documents"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "newest.users", Value: 3}}}}))
	st, err := mongodb.Open(w.ctx, w.uri, patient(mongodb.Options{}))
	if err == nil {
		_ = st.Close()
	}
	refusedFor(t, err, "users", "version 3", "newer Plaza")
}

// TestMembersOfEarlierEdges: edges of version 1 do not have the times of joining circles. Their members
// are listed by the beginning of the follow, in the same way before and after the upgrade. A server
// that opens the database notices that the upgrade is not done.
func TestMembersOfEarlierEdges(t *testing.T) {
	t.Parallel()
	w := newTownAlone(t, nil, mongodb.Options{})
	users := w.people(9)
	ada, others := users[0], users[1:]
	friends := social.Circle{ID: social.CircleID{ID: id.New()}, Owner: ada.User.ID, Name: "Friends"}
	w.ok(w.InsertCircle(w.ctx, &friends, social.MaxCircles, happened(social.EventCircleCreated)))
	var want []social.Edge
	add := func(circle social.CircleID, member social.NewUser) social.EdgeID {
		since := social.EdgeID{ID: id.New()}
		m := social.Membership{Circle: circle, Owner: ada.User.ID, Member: member.User.ID}
		if added, err := w.AddToCircle(w.ctx, m, since, happened(social.EventMemberAdded)); err != nil || !added {
			t.Fatalf("added: %t, %v", added, err)
		}
		return since
	}
	for _, member := range slices.Backward(others) {
		since := add(ada.Following.ID, member)
		add(friends.ID, member)
		want = append(want, social.Edge{ID: since, From: ada.User.ID, To: member.User.ID})
	}
	w.ok(w.Change(w.ctx, "edges", bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: 1}}}, {Key: "$unset", Value: bson.D{{Key: "joined", Value: 1}}}}))
	dan := others[4].User // has left and come back
	w.ok(w.Change(w.ctx, "edges", bson.D{{Key: "other", Value: dan.ID}}, bson.D{{Key: "$pull", Value: bson.D{{Key: "circles", Value: friends.ID}}}}))
	want = slices.DeleteFunc(want, func(e social.Edge) bool { return e.To == dan.ID })
	want = append(want, social.Edge{ID: add(friends.ID, others[4]), From: ada.User.ID, To: dan.ID})

	former := social.Circle{ID: social.CircleID{ID: id.New()}, Owner: ada.User.ID, Name: "Former"}
	w.ok(w.InsertCircle(w.ctx, &former, social.MaxCircles, happened(social.EventCircleCreated)))
	add(former.ID, others[0])
	w.ok(w.Change(w.ctx, "edges", bson.D{}, bson.D{{Key: "$unset", Value: bson.D{{Key: "joined." + former.ID.String(), Value: 1}}}}))

	late := newTownAt(t, nil, w.uri, mongodb.Options{})
	w.ok(late.DeleteCircle(w.ctx, former.ID, happened(social.EventCircleDeleted)))
	left, err := mongotest.Connect(t, w.uri).Collection("edges").CountDocuments(w.ctx, bson.D{{Key: "circles", Value: former.ID}})
	w.ok(err)
	if left != 0 {
		t.Errorf("%d people are in a circle that was deleted", left)
	}
	for _, done := range []bool{false, true} {
		for _, p := range []social.Page{{Limit: 100}, {Limit: 100, Last: true}} {
			list := lists(p, friends.ID)
			got, err := late.Members(w.ctx, list)
			w.ok(err)
			if diff := cmp.Diff(want, got[list[0]]); diff != "" {
				t.Errorf("upgraded: %t, %+v (-want +got):\n%s", done, p, diff)
			}
		}
		w.ok(late.MigrateDocuments(w.ctx, mongodb.DocumentMigration{}))
	}
	if w.left() != 0 {
		t.Errorf("%d edges are left", w.left())
	}
}
