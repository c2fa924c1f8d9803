package mongodb_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"plaza/bench/measure"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// cpu returns the CPU time that this process has used, without that of the database server.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func reportCPU(b *testing.B, start time.Duration) {
	b.Helper()
	b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-µs/op")
}

// BenchmarkNews reads a page of 20 posts with 8 comments each.
func BenchmarkNews(b *testing.B) {
	w := newTown(b, nil)
	users := w.people(1000)
	for i := range 200 {
		author := users[1+i%50].User.ID
		p := w.post(status(author, author, public))
		for range 8 {
			w.comment(p, nil, author)
		}
	}
	for _, n := range []int{50, 180, 900} {
		viewer := w.people(1)[0]
		w.follow(viewer, users[1:n])
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				posts, err := w.News(w.ctx, viewer.User.ID, social.Page{Limit: 21})
				if err != nil || len(posts) != 21 {
					b.Fatal(len(posts), err)
				}
			}
			reportCPU(b, start)
		})
	}
}

// BenchmarkNewsOfMany reads pages of news for readers who follow many of 10,000 people: a random
// part of them, who write 20,000 posts by a power law, or only people who never write.
func BenchmarkNewsOfMany(b *testing.B) {
	for _, layout := range []string{mongodb.FeedsRead, mongodb.FeedsCache} {
		b.Run(layout, func(b *testing.B) { newsOfMany(b, layout) })
	}
}

func newsOfMany(b *testing.B, layout string) {
	b.Helper()
	const writers, others, posts = 10_000, 5_000, 20_000
	w := newTownOf(b, nil, mongodb.Options{Feeds: layout})
	users := w.people(writers + others)
	dice := rand.New(rand.NewPCG(1, 2))
	shuffle := func() { dice.Shuffle(writers, func(i, j int) { users[i], users[j] = users[j], users[i] }) }
	shuffle()
	authors := make([]social.NewUser, posts)
	for i := range authors {
		authors[i] = users[int(writers*math.Pow(dice.Float64(), 3))]
	}
	w.posts(authors, posts)
	shuffle()
	meter := w.meter()
	for _, n := range []int{150, 300, 1000, 5000} {
		for name, followed := range map[string][]social.NewUser{"active": users[:n], "silent": users[writers : writers+n]} {
			reader := w.people(1)[0]
			w.follow(reader, followed)
			b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
				var pages spent
				w.measure(&pages, meter, func() {
					for b.Loop() {
						if _, err := w.News(w.ctx, reader.User.ID, social.Page{Limit: 21}); err != nil {
							b.Fatal(err)
						}
					}
				})
				pages.report(b, "op", b.N)
			})
		}
	}
}

// BenchmarkFanOut delivers posts to 50 followers each, who have full feeds and read a page after
// each 20 posts. The authors share no followers, because workers who write to the same feeds at the
// same time slow each other down.
func BenchmarkFanOut(b *testing.B) {
	for _, layout := range []string{mongodb.FeedsHybrid, mongodb.FeedsBucket} {
		b.Run(layout, func(b *testing.B) { fanOut(b, layout) })
	}
}

func fanOut(b *testing.B, layout string) {
	b.Helper()
	const authors, followers, history, each = 4, 50, 320, 20
	w := newTownOf(b, nil, mongodb.Options{Feeds: layout})
	users := w.people(authors * (followers + 1))
	write, read := users[:authors], users[authors:]
	w.posts(write, authors*history)
	for i, u := range read {
		w.follow(u, write[i%authors:i%authors+1])
	}
	w.finish()
	meter := w.meter()
	var pages, entries spent
	for b.Loop() {
		w.measure(&pages, meter, func() {
			for _, u := range read {
				w.news(u, social.Page{Limit: social.DefaultPageSize})
			}
		})
		w.posts(write, authors*each)
		w.measure(&entries, meter, w.finish)
	}
	pages.report(b, "page", b.N*len(read))
	entries.report(b, "entry", b.N*authors*each*followers)
}

// meter measures this process and the town's mongod.
func (w *town) meter() *measure.Meter {
	w.t.Helper()
	meter, err := measure.NewMeter(w.ctx, mongotest.Connect(w.t, w.uri).Client())
	w.ok(err)
	return meter
}

// spent is the CPU time that some things have taken.
type spent struct{ server, mongod time.Duration }

// measure adds what things take.
func (w *town) measure(s *spent, meter *measure.Meter, things func()) {
	w.t.Helper()
	before, err := meter.Read(w.ctx)
	w.ok(err)
	things()
	after, err := meter.Read(w.ctx)
	w.ok(err)
	s.server, s.mongod = s.server+after.Server-before.Server, s.mongod+after.Mongod-before.Mongod
}

// report reports the CPU time for each of n things.
func (s *spent) report(b *testing.B, thing string, n int) {
	b.Helper()
	b.ReportMetric(float64(s.server.Microseconds())/float64(n), "server-µs/"+thing)
	b.ReportMetric(float64(s.mongod.Microseconds())/float64(n), "mongod-µs/"+thing)
}

// BenchmarkImport imports memberships in batches of 1,000: b.N of them.
func BenchmarkImport(b *testing.B) {
	w := newTown(b, nil)
	users := w.people(1001)
	start := cpu()
	b.ResetTimer()
	for done := 0; done < b.N; {
		owner := users[done/1000%len(users)]
		var memberships []social.Membership
		var edges []social.EdgeID
		for _, m := range users[:min(1000, b.N-done)] {
			memberships = append(memberships, social.Membership{Circle: owner.Following.ID, Owner: owner.User.ID, Member: m.User.ID})
			edges = append(edges, social.EdgeID{ID: id.New()})
		}
		_, err := w.ImportMemberships(w.ctx, memberships, edges)
		w.ok(err)
		done += len(memberships)
	}
	reportCPU(b, start)
}
