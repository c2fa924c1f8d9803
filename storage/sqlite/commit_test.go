package sqlite

import (
	"testing"

	"plaza/id"
	"plaza/social"
)

// TestAFailedCommitGivesNoID: what was not stored has no id, so that a caller that tries again gets
// one for the time and the order of that attempt.
func TestAFailedCommitGivesNoID(t *testing.T) {
	t.Parallel()
	s := openAds(t)
	star, _ := signUpMany(t, s, 0)
	post := &social.Post{Author: star, WallOwner: star, Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: "hello"}}}
	circle := &social.Circle{Owner: star, Name: "Friends"}
	on := *post
	happened := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventMuted}
	if err := s.InsertPost(t.Context(), &on, happened); err != nil {
		t.Fatal(err)
	}
	comment := &social.Comment{Post: on.ID, Author: star, Text: "hello"}
	failCommits(t, s)
	for what, insert := range map[string]func() error{
		"InsertPost":    func() error { return s.InsertPost(t.Context(), post, happened) },
		"InsertComment": func() error { return s.InsertComment(t.Context(), comment, happened) },
		"InsertCircle":  func() error { return s.InsertCircle(t.Context(), circle, 10, happened) },
	} {
		if err := insert(); err == nil {
			t.Errorf("%s: the commit did not fail", what)
		}
	}
	if !post.ID.IsZero() || !comment.ID.IsZero() || comment.TreePath != "" || !circle.ID.IsZero() {
		t.Errorf("after failed commits the ids are %v, %v and %v", post.ID, comment.ID, circle.ID)
	}
}

// failCommits lets each commit of an event fail: with the event, a row is written whose foreign key
// is checked by the commit.
func failCommits(t *testing.T, s *Store) {
	t.Helper()
	file := connect(t, s.Description().Database)
	_, err := file.ExecContext(t.Context(), `CREATE TABLE none (id INTEGER PRIMARY KEY);
		CREATE TABLE dangling (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
		CREATE TRIGGER dangle AFTER INSERT ON events BEGIN INSERT INTO dangling VALUES (new.seq); END`)
	if err != nil {
		t.Fatal(err)
	}
}
