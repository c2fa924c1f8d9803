package mongodb_test

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
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
