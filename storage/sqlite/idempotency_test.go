package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
)

// TestKeysAreForgottenAfterADay: a key keeps its answer, and belongs to its operation, for 24 hours.
// After that it is available again.
func TestKeysAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	began, user := time.Now(), social.UserID{ID: id.New()}
	begin := func(after time.Duration, fingerprint byte) (social.Attempt, string, error) {
		t.Helper()
		s.clock = func() time.Time { return began.Add(after) }
		if err := s.keys.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := social.Attempt{User: user, Key: "key", Fingerprint: [32]byte{fingerprint}, ID: id.New()}
		answer, err := s.BeginAttempt(t.Context(), a, time.Minute)
		return a, string(answer), err
	}
	first, _, err := begin(0, 1)
	if err := errors.Join(err, s.EndAttempt(t.Context(), first, []byte("done"))); err != nil {
		t.Fatal(err)
	}
	const almost = social.AnswerLifetime - time.Millisecond
	if _, answer, err := begin(almost, 1); answer != "done" || err != nil {
		t.Errorf("after almost a day: %q, %v", answer, err)
	}
	if _, _, err := begin(almost, 2); !errors.Is(err, social.ErrKeyReused) {
		t.Errorf("another operation after almost a day: %v", err)
	}
	if _, answer, err := begin(social.AnswerLifetime+time.Millisecond, 2); answer != "" || err != nil {
		t.Errorf("another operation after a day: %q, %v", answer, err)
	}
}
