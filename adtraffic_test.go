package main

import (
	"context"
	"testing"
	"time"

	"plaza/ads"
	"plaza/web"
)

// TestRequestsForAdsAreCountedUntilTheEnd: what a server has counted in memory is stored before it stops.
func TestRequestsForAdsAreCountedUntilTheEnd(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		st := e.open(t)
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		seedAds(t, st)
		listener, err := listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(st, &serveCommand{PublicURL: "http://plaza.test"}, web.Config{})
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.serve(ctx, frontOf(listener)) }()
		on := &plaza{url: "http://" + listener.Addr().String(), store: st, server: s, people: map[string]person{}}
		from := time.Now().UTC().Truncate(24 * time.Hour)
		for range 3 {
			on.as(t, "ada").do(t, `{ ads(site: "example.org", zone: "sidebar", count: 5) { id } }`, nil, nil)
		}
		stop()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		rows, err := st.Ads().Traffic(t.Context(), ads.TrafficRequest{From: from, To: from.Add(48 * time.Hour), By: ads.PerZone})
		if err != nil || len(rows) != 1 || rows[0].Asked != 15 || rows[0].Filled != 6 {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}
