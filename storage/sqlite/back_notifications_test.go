package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// TestGoingBackKeepsTheNewestActs: versions before 30 have one act for each person in a notification.
// The acts survive the upgrade, and after the way back the newest ones are left.
func TestGoingBackKeepsTheNewestActs(t *testing.T) {
	t.Parallel()
	path := earlierFile(t, 29)
	group := social.NotificationGroup{To: social.UserID{ID: id.New()}, Kind: social.NotifyComment, Post: social.PostID{ID: id.New()}}
	one, ben, cem := social.NotificationID{ID: id.New()}, social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	comments := make([]social.CommentID, 3)
	for i := range comments {
		comments[i] = social.CommentID{ID: id.New()}
	}
	execute(t, path, `INSERT INTO notifications (id, recipient, kind, post, latest) VALUES (?1, ?2, ?3, ?4, ?1)`, one.Bytes(), group.To.Bytes(), string(group.Kind), group.Post.Bytes())
	execute(t, path, `INSERT INTO notification_acts (notification, actor, comment, id) VALUES (?1, ?2, ?3, ?1)`, one.Bytes(), ben.Bytes(), comments[0].Bytes())

	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.LeaseNotifier(t.Context(), "server", 1<<40); err != nil {
		t.Fatal(err)
	}
	acts := []social.Notice{
		{NotificationGroup: group, Act: social.Act{Actor: cem, Comment: comments[1]}},
		{NotificationGroup: group, Act: social.Act{Actor: ben, Comment: comments[2]}},
	}
	if err := store.Notify(t.Context(), "server", 1<<40, "1", acts); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{sqldb.Hex(comments[2]), sqldb.Hex(comments[1]), sqldb.Hex(comments[0])}
	if diff := cmp.Diff(want, storedActs(t, path)); diff != "" {
		t.Errorf("the acts after the upgrade (-want +got):\n%s", diff)
	}
	if err := GoBack(t.Context(), path, 29); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:2], storedActs(t, path)); diff != "" {
		t.Errorf("the acts after the way back (-want +got):\n%s", diff)
	}
}

// storedActs lists the comments of all acts, newest first.
func storedActs(t *testing.T, path string) (comments []string) {
	t.Helper()
	query(t, path, `SELECT lower(hex(comment)) FROM notification_acts ORDER BY id DESC`, func(scan sqldb.Scan) {
		var comment string
		if err := scan(&comment); err != nil {
			t.Fatal(err)
		}
		comments = append(comments, comment)
	})
	return comments
}
