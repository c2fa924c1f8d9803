package mongodb_test

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// BenchmarkCommentLayouts compares the layouts of comment threads: what the commonest calls cost in threads of 10 to 100,000 comments.
// cpu-µs/op is this process, mongod-µs/op the database, wire-B/op what it answered. Appending comes last, because the threads grow by
// it. Figures of one run alone can be compared; -count shows how far they move.
func BenchmarkCommentLayouts(b *testing.B) {
	layouts := []string{mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.CommentsPages, mongodb.CommentsAdaptive}
	for _, size := range []int{10, 1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			if size > 10_000 { // too long for one document
				layouts = slices.DeleteFunc(layouts, func(layout string) bool { return layout == mongodb.CommentsEmbedded })
			}
			compareLayouts(b, layouts, size)
		})
	}
}

func compareLayouts(b *testing.B, layouts []string, size int) {
	b.Helper()
	threads := make([]*benchThread, len(layouts))
	for i, layout := range layouts {
		threads[i] = newBenchThread(b, layout, size)
	}
	for i, layout := range layouts {
		b.Run("stored/"+layout, threads[i].stored)
	}
	for _, op := range []string{"first", "deep", "last", "tree", "deeptree", "permalink", "discussion", "append"} {
		for i, layout := range layouts {
			b.Run(op+"/"+layout, func(b *testing.B) { threads[i].run(b, op) })
		}
	}
}

// benchThread is a thread in one layout.
type benchThread struct {
	*town
	post  *social.Post
	all   []*social.Comment
	bytes atomic.Int64
}

func newBenchThread(b *testing.B, layout string, size int) *benchThread {
	b.Helper()
	t := new(benchThread)
	monitor := &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		t.bytes.Add(int64(len(e.Reply)))
	}}
	uri, database := mongotest.Database(b)
	uri = inDatabase(b, uri, database)
	store := openAt(b, uri, mongodb.Options{Monitor: monitor, Comments: layout})
	t.town = &town{Store: store, uri: uri, layout: layout, t: b, ctx: b.Context()}
	ada := t.people(1)[0].User.ID
	t.post = t.town.post(status(ada, ada, public))
	t.all = forest(t.post, ada, size)
	t.ok(t.Fill(t.ctx, t.post.ID, t.all))
	return t
}

func (t *benchThread) run(b *testing.B, op string) {
	b.Helper()
	client := plainClient(b)
	call := t.call(op)
	t.ok(call()) // plans are made
	t.bytes.Store(0)
	own, server := cpu(), mongodCPU(b, client)
	n := 0
	for b.Loop() {
		t.ok(call())
		n++
	}
	b.StopTimer()
	b.ReportMetric(float64((cpu()-own).Microseconds())/float64(n), "cpu-µs/op")
	b.ReportMetric(float64((mongodCPU(b, client)-server).Microseconds())/float64(n), "mongod-µs/op")
	b.ReportMetric(float64(t.bytes.Load())/float64(n), "wire-B/op")
}

// stored measures what a comment takes on disk, compressed, and in indexes.
func (t *benchThread) stored(b *testing.B) {
	at, err := url.Parse(t.uri)
	t.ok(err)
	client := plainClient(b)
	t.ok(client.Database("admin").RunCommand(b.Context(), bson.D{{Key: "fsync", Value: 1}}).Err())
	collection := "threads." + t.layout
	if t.layout == mongodb.CommentsDocuments {
		collection = "comments"
	}
	var stats struct {
		Size    float64 `bson:"size"`
		Storage float64 `bson:"storageSize"`
		Indexes float64 `bson:"totalIndexSize"`
	}
	command := bson.D{{Key: "collStats", Value: collection}}
	t.ok(client.Database(at.Path[1:]).RunCommand(b.Context(), command).Decode(&stats))
	n := float64(len(t.all))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(stats.Size/n, "B/comment")
	b.ReportMetric(stats.Storage/n, "disk-B/comment")
	b.ReportMetric(stats.Indexes/n, "index-B/comment")
}

func (t *benchThread) call(op string) func() error {
	middle := t.all[len(t.all)/2+1]
	thread := social.Thread{Post: t.post.ID, Order: social.OrderOldest}
	page := social.Page{Limit: 57}
	switch op {
	case "append":
		return func() error {
			c := newComment(t.post, nil, t.post.Author)
			return t.InsertComment(t.ctx, c, happened(social.EventCommentAdded))
		}
	case "permalink":
		links := []social.Permalink{{Post: t.post.ID, Slug: middle.Slug}}
		return func() error { _, err := t.CommentsBySlug(t.ctx, links); return err }
	case "deep":
		page.After = social.Key(middle.ID.Bytes())
	case "last":
		page.Last = true
	case "tree":
		thread.Order = social.OrderThreaded
	case "deeptree":
		thread.Order, page.After = social.OrderThreaded, middle.TreePath
	case "discussion":
		thread.Order, thread.Under = social.OrderThreaded, middle.TreePath[:id.TextLen]
	}
	return func() error { _, err := t.Thread(t.ctx, lists(page, thread)); return err }
}

// mongodCPU is the CPU time that the database's process has used.
func mongodCPU(b *testing.B, client *mongo.Client) time.Duration {
	b.Helper()
	var status struct {
		Extra struct {
			User   int64 `bson:"user_time_us"`
			System int64 `bson:"system_time_us"`
		} `bson:"extra_info"`
	}
	if err := client.Database("admin").RunCommand(b.Context(), bson.D{{Key: "serverStatus", Value: 1}}).Decode(&status); err != nil {
		b.Fatal(err)
	}
	return time.Duration(status.Extra.User+status.Extra.System) * time.Microsecond
}
