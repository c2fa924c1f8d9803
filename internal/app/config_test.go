package app

import (
	"testing"
	"time"

	"plaza/ads/adserver"
	"plaza/social/network"
	"plaza/storage/storagetest"
)

// TestAServerTakesTheTimeFromItsStore: sessions and new users have the time of the database, and so
// has the ad server, unless they are given another one.
func TestAServerTakesTheTimeFromItsStore(t *testing.T) {
	t.Parallel()
	st := storagetest.Timed{Store: openFile(t), At: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)}
	other := func() time.Time { return st.At.Add(time.Hour) }
	for handle, c := range map[string]struct {
		config Config
		want   time.Time
	}{
		"usual": {Config{}, st.At},
		"given": {Config{Social: network.Options{Now: other}, Ads: adserver.Options{Now: other}}, other()},
	} {
		s := newServer(st, &c.config, nil, nil)
		session, _ := signUp(t, s, handle)
		if !session.CreatedAt.Equal(c.want) || !session.User.Time().Equal(c.want) || !c.config.Ads.Now().Equal(c.want) {
			t.Errorf("%s: a session has %v, a user %v, the ad server %v; want %v", handle, session.CreatedAt, session.User.Time(), c.config.Ads.Now(), c.want)
		}
	}
}
