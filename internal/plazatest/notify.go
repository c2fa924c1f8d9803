package plazatest

import (
	"context"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
)

// Notify waits until the notifications of everything that has happened so far are stored. The first
// call starts to store them, and leaves out what happened before it.
func (p *Plaza) Notify(t testing.TB) {
	t.Helper()
	p.notifying.Do(func() { p.startNotifier(t) })
	testtime.Eventually(t, "notifications are stored", func() bool { return p.notices(t) })
}

func (p *Plaza) startNotifier(t testing.TB) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.Server.Notifier.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
}

// notices makes a new user follow another new user, and reports whether the notification of that is
// stored a moment later. In that case everything before it is stored, too.
func (p *Plaza) notices(t testing.TB) bool {
	t.Helper()
	ctx := t.Context()
	star, fan := p.insertUser(t), p.insertUser(t)
	m := social.Membership{Circle: fan.Following.ID, Owner: fan.User.ID, Member: star.User.ID}
	if _, err := p.Store.AddToCircle(ctx, m, social.EdgeID{}, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventMemberAdded}); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for range 100 {
		found, err := p.Store.Notifications(ctx, star.User.ID, social.Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return true
		}
		<-look.C
	}
	return false
}

func (p *Plaza) insertUser(t testing.TB) social.NewUser {
	t.Helper()
	user := social.UserID{ID: id.New()}
	u := social.NewUser{
		User:      social.User{ID: user, Handle: "u_" + user.ID.String(), Name: "Someone", WallPolicy: social.WallEveryone},
		Following: social.NewBuiltInCircle(user),
	}
	if err := p.Store.InsertUser(t.Context(), u, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventUserSignedUp}); err != nil {
		t.Fatal(err)
	}
	return u
}
