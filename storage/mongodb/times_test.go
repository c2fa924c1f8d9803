package mongodb_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
)

// TestTimeRangeReadsNothingElse reads ten of the oldest hours, which lists do not contain any more:
// MongoDB examines only what was created in these hours, however much was created later.
func TestTimeRangeReadsNothingElse(t *testing.T) {
	for _, c := range []struct {
		mongodb.Options
		hours int
	}{
		{mongodb.Options{Feeds: mongodb.FeedsRead, Comments: mongodb.CommentsDocuments}, 360},
		{mongodb.Options{Feeds: mongodb.FeedsHybrid, Comments: mongodb.CommentsPages}, 360},
		{mongodb.Options{Feeds: mongodb.TinyBucket, Comments: mongodb.CommentsAdaptive}, 90},
		{mongodb.Options{Feeds: mongodb.TinyMonth, Comments: mongodb.CommentsAdaptive}, 90},
	} {
		t.Run(c.Feeds+" "+c.Comments, func(t *testing.T) { readARange(t, c.Options, c.hours) })
	}
}

func readARange(t *testing.T, o mongodb.Options, hours int) {
	t.Helper()
	const asked, most = 10, 40
	r := new(recorder)
	w := newTownOf(t, r, o)
	w.atWork()
	users := w.people(3)
	ada, authors := users[0].User.ID, users[1:]
	w.follow(users[0], authors)
	posted := w.postEachHour(authors, ada, hours)
	thread := w.post(status(ada, ada, public))
	w.ok(w.Fill(w.ctx, thread.ID, commentEachHour(thread, nil, ada, hours)))
	answered := w.post(status(ada, ada, public))
	parent := commentWithID(id.At(hour(-1)), answered, nil, authors[0].User.ID)
	w.ok(w.Fill(w.ctx, answered.ID, append([]*social.Comment{parent}, commentEachHour(answered, parent, authors[0].User.ID, hours)...)))
	w.ok(posted())
	w.settle()
	_, err := w.News(w.ctx, ada, social.Page{Limit: 1}) // if the layout keeps a list, this builds it
	w.ok(err)
	_, err = w.News(w.ctx, ada, social.Page{Limit: 1, After: social.Key(id.At(hour(0)).Bytes())}) // brings the ids of recent posts into memory
	w.ok(err)
	since, until := hour(20), hour(20+asked)
	within := social.TimeRange{Since: &since, Until: &until}
	page, err := within.Narrow(social.Page{Limit: 2 * asked})
	w.ok(err)
	oldest := social.Thread{Post: thread.ID, Order: social.OrderOldest}
	inThread, err := oldest.Narrow(within, social.Page{Limit: 2 * asked})
	w.ok(err)
	replies := social.Thread{Post: answered.ID, Order: social.OrderOldest, Parent: parent.ID}
	inReplies, err := replies.Narrow(within, social.Page{Limit: 2 * asked})
	w.ok(err)
	client := plainClient(t)
	for name, read := range map[string]func() (int, error){
		"News":     func() (int, error) { posts, err := w.News(w.ctx, ada, page); return len(posts), err },
		"Incoming": func() (int, error) { posts, err := w.Incoming(w.ctx, ada, page); return len(posts), err },
		"Wall":     func() (int, error) { return countOf(w.Wall(w.ctx, lists(page, ada))) },
		"PostsBy": func() (int, error) {
			n, err := countOf(w.PostsBy(w.ctx, lists(page, authors[0].User.ID)))
			return 2 * n, err
		},
		"CommentsBy": func() (int, error) { return countOf(w.CommentsBy(w.ctx, lists(page, ada))) },
		"Replies":    func() (int, error) { return countOf(w.Thread(w.ctx, lists(inReplies, replies))) },
		"Thread":     func() (int, error) { return countOf(w.Thread(w.ctx, lists(inThread, oldest))) },
	} {
		r.take()
		n, err := read()
		w.ok(err)
		if n != asked {
			t.Errorf("%s: %d entries, want %d", name, n, asked)
		}
		keys := 0
		for _, raw := range r.take() {
			for _, command := range explainable(t, raw) {
				keys += total(explain(t, client, command, "executionStats"), "totalKeysExamined")
			}
		}
		if keys > most {
			t.Errorf("%s: %d keys examined for %d entries", name, keys, asked)
		}
	}
}

// hour returns the time of hour i, in which something is created.
func hour(i int) time.Time { return time.Date(2024, 2, 1, i, 0, 0, 0, time.UTC) }

// commentEachHour returns comments by the author, all below the same parent, without storing them.
func commentEachHour(p *social.Post, parent *social.Comment, author social.UserID, hours int) []*social.Comment {
	comments := make([]*social.Comment, hours)
	for i := range comments {
		comments[i] = commentWithID(id.At(hour(i)), p, parent, author)
	}
	return comments
}

// postEachHour starts to store posts by the authors on a wall, and returns a function that waits
// for them.
func (w *town) postEachHour(authors []social.NewUser, wall social.UserID, hours int) (wait func() error) {
	errs := make([]error, hours)
	var all sync.WaitGroup
	for i := range hours {
		p := status(authors[i%len(authors)].User.ID, wall, public)
		p.ID = social.PostID{ID: id.At(hour(i))}
		all.Go(func() { errs[i] = w.InsertPost(w.ctx, p, happened(social.EventPostCreated)) })
	}
	return func() error {
		all.Wait()
		return errors.Join(errs...)
	}
}

func countOf[K comparable, V any](found map[K][]V, err error) (n int, _ error) {
	for _, entries := range found {
		n += len(entries)
	}
	return n, err
}
