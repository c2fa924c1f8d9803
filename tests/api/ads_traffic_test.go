package api

import (
	"context"
	"testing"
	"time"

	"plaza/ads"
	"plaza/internal/app"
	"plaza/internal/front"
	"plaza/internal/plazatest"
)

// TestRequestsForAdsAreStoredOnShutdown checks that a server stores what it has counted in memory
// before it stops.
func TestRequestsForAdsAreStoredOnShutdown(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		plazatest.SeedAds(t, st)
		listener, err := front.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := app.New(st, app.Config{PublicURL: "http://plaza.test"})
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, listener) }()
		on := &plazatest.Plaza{URL: "http://" + listener.Addr().String(), Store: st, Server: s, People: map[string]plazatest.Person{}}
		from := time.Now().UTC().Truncate(24 * time.Hour)
		for range 3 {
			on.As(t, "ada").Do(t, `{ ads(site: "example.org", zone: "sidebar", count: 5) { id } }`, nil, nil)
		}
		stop()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		rows, err := st.Ads().Traffic(t.Context(), ads.TrafficRequest{From: from, To: from.Add(48 * time.Hour), By: ads.PerZone})
		if err != nil || len(rows) != 1 || rows[0].Requested != 15 || rows[0].Filled != 6 {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}
