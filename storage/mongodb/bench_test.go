package mongodb_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
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
	const writers, others, posts = 10_000, 5_000, 20_000
	w := newTown(b, nil)
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
	for _, n := range []int{150, 300, 1000, 5000} {
		for name, followed := range map[string][]social.NewUser{"active": users[:n], "silent": users[writers : writers+n]} {
			reader := w.people(1)[0]
			w.follow(reader, followed)
			b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
				own, theirs := cpu(), w.mongodCPU()
				for b.Loop() {
					if _, err := w.News(w.ctx, reader.User.ID, social.Page{Limit: 21}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpu()-own).Microseconds())/float64(b.N), "server-µs/op")
				b.ReportMetric(float64((w.mongodCPU()-theirs).Microseconds())/float64(b.N), "mongod-µs/op")
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
	var pages, entries spent
	for b.Loop() {
		w.measure(&pages, len(read), func() {
			for _, u := range read {
				w.news(u, social.Page{Limit: social.DefaultPageSize})
			}
		})
		w.posts(write, authors*each)
		w.measure(&entries, authors*each*followers, w.finish)
	}
	pages.report(b, "page")
	entries.report(b, "entry")
}

// spent is the CPU time that a number of things have taken.
type spent struct {
	server, mongod time.Duration
	n              int
}

// measure adds what n things take.
func (w *town) measure(s *spent, n int, things func()) {
	w.t.Helper()
	own, theirs := cpu(), w.mongodCPU()
	things()
	s.server, s.mongod, s.n = s.server+cpu()-own, s.mongod+w.mongodCPU()-theirs, s.n+n
}

// report reports the CPU time for each of the things.
func (s *spent) report(b *testing.B, thing string) {
	b.Helper()
	b.ReportMetric(float64(s.server.Microseconds())/float64(s.n), "server-µs/"+thing)
	b.ReportMetric(float64(s.mongod.Microseconds())/float64(s.n), "mongod-µs/"+thing)
}

// mongodCPU returns the CPU time that the database server has used: none, except on Linux.
func (w *town) mongodCPU() time.Duration {
	w.t.Helper()
	var s struct {
		Extra struct {
			User   int64 `bson:"user_time_us"`
			System int64 `bson:"system_time_us"`
		} `bson:"extra_info"`
	}
	admin := databaseOfTown(w.t, w).Client().Database("admin")
	w.ok(admin.RunCommand(w.ctx, bson.D{{Key: "serverStatus", Value: 1}}).Decode(&s))
	return time.Duration(s.Extra.User+s.Extra.System) * time.Microsecond
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
