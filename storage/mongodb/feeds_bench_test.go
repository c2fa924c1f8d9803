package mongodb_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
)

// rival is one layout in a comparison, on a database of its own.
type rival struct {
	name    string
	w       *town
	readers []social.NewUser // of whom each follows all authors
	authors []social.NewUser
	star    social.NewUser // whom a thousand people follow, who all have read their news
	hot     *social.Post   // by the star
	middle  social.Key     // of the readers' news

	own, server time.Duration // CPU time
}

// serverPID is mongod's process.
func serverPID(b *testing.B) int64 {
	b.Helper()
	var status struct{ Pid int64 }
	err := plainClient(b).Database("admin").RunCommand(b.Context(), bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status)
	if err != nil {
		b.Fatal(err)
	}
	return status.Pid
}

// processCPU is the CPU time that a process has used: /proc/PID/stat, in which a tick is 10 ms.
func processCPU(b *testing.B, pid int64) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("mongod does not run on this machine: ", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	ticks := 0
	for _, field := range fields[12:14] { // utime, stime
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func newRival(b *testing.B, layout string) *rival {
	b.Helper()
	w := newTownOf(b, nil, mongodb.Options{Feeds: layout})
	users := w.people(1200)
	r := &rival{name: layout, w: w, readers: users[:50], authors: users[50:199], star: users[199]}
	for _, reader := range users[:50] {
		w.follow(reader, r.authors)
	}
	for _, fan := range users[200:] {
		w.follow(fan, []social.NewUser{r.star})
	}
	r.middle = social.Key(w.posts(r.authors, 600)[150].Bytes())
	r.hot = w.post(status(r.star.User.ID, r.star.User.ID, public))
	w.finish()
	for _, u := range users {
		w.news(u, social.Page{Limit: 20})
	}
	return r
}

// BenchmarkFeedLayouts compares the layouts of feeds, taking turns: the CPU time that each operation costs this process and mongod. b.N is the number of turns.
func BenchmarkFeedLayouts(b *testing.B) {
	pid := serverPID(b)
	var rivals []*rival
	for _, layout := range []string{mongodb.FeedsRead, mongodb.FeedsHybrid, mongodb.FeedsBucket, mongodb.FeedsMonth} {
		rivals = append(rivals, newRival(b, layout))
	}
	for _, op := range []struct {
		name string
		turn int // operations in one turn
		run  func(r *rival, n int)
	}{
		{"news", 200, func(r *rival, n int) { r.w.news(r.readers[n%len(r.readers)], social.Page{Limit: 23}) }},
		{"post without followers", 50, func(r *rival, _ int) { r.w.posts(r.readers[:1], 1) }},
		{"post and its way to 1000 followers", 5, func(r *rival, _ int) {
			r.w.posts([]social.NewUser{r.star}, 1)
			r.w.finish()
		}},
		{"follow and unfollow", 50, func(r *rival, n int) {
			owner := r.readers[n%len(r.readers)]
			r.w.follow(owner, []social.NewUser{r.star})
			_, err := r.w.Unfollow(r.w.ctx, owner.User.ID, r.star.User.ID, happened(social.EventUnfollowed))
			r.w.ok(err)
		}},
		{"news after a follow", 50, func(r *rival, n int) {
			reader := r.readers[n%len(r.readers)]
			_, err := r.w.Unfollow(r.w.ctx, reader.User.ID, r.authors[0].User.ID, happened(social.EventUnfollowed))
			r.w.ok(err)
			m := social.Membership{Circle: reader.Following.ID, Owner: reader.User.ID, Member: r.authors[0].User.ID}
			_, err = r.w.AddToCircle(r.w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
			r.w.ok(err)
			r.w.news(reader, social.Page{Limit: 23})
			r.w.finish()
		}},
		{"deep news", 100, func(r *rival, n int) {
			r.w.news(r.readers[n%len(r.readers)], social.Page{Limit: 23, After: r.middle})
		}},
		{"comment and its way to 1000 followers", 5, func(r *rival, _ int) {
			r.w.comment(r.hot, nil, r.authors[0].User.ID)
			r.w.finish()
		}},
	} {
		b.Run(op.name, func(b *testing.B) {
			for _, r := range rivals {
				r.own, r.server = 0, 0
			}
			for turn := range b.N {
				for _, r := range rivals {
					own, server := cpu(), processCPU(b, pid)
					for n := range op.turn {
						op.run(r, turn*op.turn+n)
					}
					r.own += cpu() - own
					r.server += processCPU(b, pid) - server
				}
			}
			for _, r := range rivals {
				n := float64(b.N * op.turn)
				b.ReportMetric(float64(r.own.Microseconds())/n, r.name+"-µs/op")
				b.ReportMetric(float64(r.server.Microseconds())/n, r.name+"-mongod-µs/op")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
