package storagetest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"plaza/id"
	"plaza/social"
)

var idempotencyCases = []testCase{
	{"AnAnswerIsReturnedAgain", anAnswerIsReturnedAgain},
	{"AKeyBelongsToOneUserAndOperation", aKeyBelongsToOneUserAndOperation},
	{"AnAttemptWithoutEffectFreesTheKey", anAttemptWithoutEffectFreesTheKey},
	{"ARefusedWriteHasNoEffect", aRefusedWriteHasNoEffect},
	{"AnotherAttemptTakesOver", anotherAttemptTakesOver},
	{"AnEffectKeepsTheKey", anEffectKeepsTheKey},
	{"OneAttemptAtATime", oneAttemptAtATime},
	{"WritesTogetherKeepTheirAttempts", writesTogetherKeepTheirAttempts},
	{"KeysOfADeletedUserAreForgotten", keysOfADeletedUserAreForgotten},
}

func attemptBy(user person, key string) social.Attempt {
	return social.Attempt{User: user.ID, Key: key, Fingerprint: [32]byte{1}, ID: id.New()}
}

// begin begins an attempt, which must get its key.
func (w *world) begin(a social.Attempt, lease time.Duration) {
	w.t.Helper()
	answer, err := w.BeginAttempt(w.ctx, a, lease)
	w.ok(err, "BeginAttempt")
	w.same(string(answer), "", "the answer of an earlier attempt")
}

// during returns the context of an attempt's writes.
func (w *world) during(attempts ...social.Attempt) context.Context {
	return social.WithAttempts(w.ctx, attempts...)
}

// makeCircle stores a circle in an attempt.
func (w *world) makeCircle(a social.Attempt, owner person, name string) error {
	c := &social.Circle{ID: newCircleID(), Owner: owner.ID, Name: name}
	return w.InsertCircle(w.during(a), c, social.MaxCircles, event(social.EventCircleCreated))
}

// takesOver begins an attempt as soon as the lease of another one has ended, and returns the
// result.
func (w *world) takesOver(a social.Attempt) (answer []byte, err error) {
	w.t.Helper()
	w.until(func() bool {
		answer, err = w.BeginAttempt(w.ctx, a, longLease)
		return !errors.Is(err, social.ErrKeyInUse)
	}, "the earlier attempt is over")
	return answer, err
}

func anAnswerIsReturnedAgain(w *world) {
	ada := w.user()
	for _, key := range []string{"1", "$key.$$NOW'\"\\", strings.Repeat("k", 255)} {
		first, second := attemptBy(ada, key), attemptBy(ada, key)
		w.begin(first, longLease)
		_, err := w.BeginAttempt(w.ctx, second, longLease)
		w.fails(err, social.ErrKeyInUse, "an attempt during another one")
		w.ok(w.makeCircle(first, ada, key[:1]), "InsertCircle")
		answer := `{"data":"` + key + "\x00\"}"
		w.ok(w.EndAttempt(w.ctx, first, []byte(answer)), "EndAttempt")
		for _, a := range []social.Attempt{second, first} {
			found, err := w.BeginAttempt(w.ctx, a, longLease)
			w.ok(err, "BeginAttempt after the answer")
			w.same(string(found), answer, "the answer")
		}
		w.fails(w.makeCircle(second, ada, "Second"), social.ErrAttemptOver, "a write of an attempt that never had the key")
		w.fails(w.EndAttempt(w.ctx, second, []byte("x")), social.ErrAttemptOver, "the end of an attempt that never had the key")
	}
	w.ok(w.EndAttempt(w.ctx, attemptBy(ada, "unknown"), []byte("x")), "EndAttempt of a key that was forgotten")
}

func aKeyBelongsToOneUserAndOperation(w *world) {
	ada, ben := w.user(), w.user()
	first := attemptBy(ada, "key")
	w.begin(first, longLease)
	other := attemptBy(ada, "key")
	other.Fingerprint[31] = 1
	_, err := w.BeginAttempt(w.ctx, other, longLease)
	w.fails(err, social.ErrKeyReused, "another operation during the first one")
	w.ok(w.EndAttempt(w.ctx, first, []byte("answer")), "EndAttempt")
	_, err = w.BeginAttempt(w.ctx, other, longLease)
	w.fails(err, social.ErrKeyReused, "another operation after the first one")
	w.begin(attemptBy(ben, "key"), longLease)
	w.begin(attemptBy(ada, "Key"), longLease)
}

func anAttemptWithoutEffectFreesTheKey(w *world) {
	ada := w.user()
	first, second := attemptBy(ada, "key"), attemptBy(ada, "key")
	second.Fingerprint[0] = 2
	w.begin(first, longLease)
	w.ok(w.EndAttempt(w.ctx, first, nil), "EndAttempt")
	w.begin(second, longLease)
	w.fails(w.makeCircle(first, ada, "First"), social.ErrAttemptOver, "a write of the first attempt")
	w.ok(w.makeCircle(second, ada, "Second"), "a write of the second attempt")
}

func aRefusedWriteHasNoEffect(w *world) {
	ada := w.user()
	w.circle(ada, "Friends")
	first := attemptBy(ada, "key")
	w.begin(first, longLease)
	w.fails(w.makeCircle(first, ada, "friends"), social.ErrTaken, "a circle of the same name")
	w.ok(w.EndAttempt(w.ctx, first, nil), "EndAttempt")
	w.begin(attemptBy(ada, "key"), longLease)
}

func anotherAttemptTakesOver(w *world) {
	ada := w.user()
	stalled, second := attemptBy(ada, "key"), attemptBy(ada, "key")
	w.begin(stalled, time.Millisecond)
	answer, err := w.takesOver(second)
	w.ok(err, "BeginAttempt after the lease")
	w.same(answer == nil, true, "whether there is no answer")
	circles := len(whole(w, single(w.CirclesOf), ada.ID))
	w.fails(w.makeCircle(stalled, ada, "Friends"), social.ErrAttemptOver, "a write of the stalled attempt")
	w.fails(w.EndAttempt(w.ctx, stalled, []byte("x")), social.ErrAttemptOver, "the end of the stalled attempt")
	w.same(len(whole(w, single(w.CirclesOf), ada.ID)), circles, "the number of circles")
	w.ok(w.makeCircle(second, ada, "Friends"), "a write of the second attempt")
}

func anEffectKeepsTheKey(w *world) {
	ada := w.user()
	slow, second := attemptBy(ada, "key"), attemptBy(ada, "key")
	w.begin(slow, time.Millisecond)
	w.ok(w.makeCircle(slow, ada, "Friends"), "InsertCircle")
	_, err := w.takesOver(second)
	w.fails(err, social.ErrAnswerLost, "an attempt after one that had an effect")
	w.ok(w.makeCircle(slow, ada, "Family"), "another write of the slow attempt")
	w.ok(w.EndAttempt(w.ctx, slow, []byte("late")), "EndAttempt")
	answer, err := w.BeginAttempt(w.ctx, second, longLease)
	w.ok(err, "BeginAttempt")
	w.same(string(answer), "late", "the answer")
}

func oneAttemptAtATime(w *world) {
	ada := w.user()
	begin := func(key string) []error {
		return together(crowd, func(int) error {
			_, err := w.BeginAttempt(w.ctx, attemptBy(ada, key), longLease)
			return err
		})
	}
	w.same(w.tally(begin("new"), social.ErrKeyInUse), 1, "how many attempts get a new key")
	dead := attemptBy(ada, "free")
	w.begin(dead, longLease)
	w.ok(w.EndAttempt(w.ctx, dead, nil), "EndAttempt")
	w.same(w.tally(begin("free"), social.ErrKeyInUse), 1, "how many attempts get a free key")
}

// writesTogetherKeepTheirAttempts writes to one thread and to one sequence concurrently, in
// attempts. Every third of these has already ended.
func writesTogetherKeepTheirAttempts(w *world) {
	ada := w.user()
	post := w.status(ada)
	var stored atomic.Int64
	errs := together(crowd, func(i int) error {
		a := attemptBy(ada, id.New().String())
		if i%3 > 0 {
			w.begin(a, longLease)
		}
		ctx := w.during(a)
		err := w.InsertComment(ctx, newComment(post, nil, ada), event(social.EventCommentAdded))
		if postErr := w.InsertPost(ctx, statusBy(ada), event(social.EventPostCreated)); !errors.Is(postErr, err) {
			w.t.Errorf("the comment of an attempt: %v, and its post: %v", err, postErr)
		}
		if err != nil {
			return err
		}
		stored.Add(1)
		_, err = w.BeginAttempt(w.ctx, attemptBy(ada, a.Key), longLease)
		w.fails(err, social.ErrKeyInUse, "another attempt")
		return w.EndAttempt(w.ctx, a, nil)
	})
	want := crowd - (crowd+2)/3
	w.same(w.tally(errs, social.ErrAttemptOver), want, "how many attempts succeed")
	w.same(int(stored.Load()), want, "how many writes succeed")
	w.same(w.getPost(post.ID).CommentCount, want, "the number of comments")
	w.same(len(whole(w, w.Wall, ada.ID)), want+1, "the number of posts")
}

func keysOfADeletedUserAreForgotten(w *world) {
	ada := w.user()
	a := attemptBy(ada, "key")
	w.begin(a, longLease)
	w.ok(w.EndAttempt(w.ctx, a, []byte("private")), "EndAttempt")
	w.delete(ada)
	w.settleDeletion(ada)
	answer, err := w.BeginAttempt(w.ctx, attemptBy(ada, "key"), longLease)
	w.same(answer == nil, true, "whether the answer is gone")
	if err != nil {
		w.fails(err, social.ErrAccountGone, "BeginAttempt for a deleted user")
	}
}
