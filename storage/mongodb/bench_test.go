package mongodb_test

import (
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
)

// cpu is the CPU time that this process has used; the server's is not in it.
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

// BenchmarkThread reads a page of 50 comments.
func BenchmarkThread(b *testing.B) {
	w := newTown(b, nil)
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	for range 100 {
		w.comment(p, nil, ada)
	}
	b.ReportAllocs()
	start := cpu()
	for b.Loop() {
		_, err := w.Thread(w.ctx, lists(social.Page{Limit: 51}, social.Thread{Post: p.ID, Order: social.OrderOldest}))
		w.ok(err)
	}
	reportCPU(b, start)
}

// BenchmarkInsertComment: 64 writers on one thread, and spread over 64.
func BenchmarkInsertComment(b *testing.B) {
	w := newTown(b, nil)
	ada := w.people(1)[0].User.ID
	for _, threads := range []int{1, 64} {
		b.Run(strconv.Itoa(threads), func(b *testing.B) {
			posts := make([]*social.Post, threads)
			for i := range posts {
				posts[i] = w.post(status(ada, ada, public))
			}
			var writers sync.WaitGroup
			start := cpu()
			b.ResetTimer()
			for i := range 64 {
				writers.Go(func() {
					for n := i; n < b.N; n += 64 {
						c := newComment(posts[i%threads], nil, ada)
						if err := w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			writers.Wait()
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
