package mongodb_test

import (
	"slices"
	"sync"
	"testing"

	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
)

// crowd is many readers, each of whom follows other authors, with all of the authors' posts.
type crowd struct {
	*town

	authors, readers []social.NewUser
	posts            map[social.UserID][]social.PostID // by author
}

func newCrowd(t *testing.T, r *recorder, o mongodb.Options) *crowd {
	t.Helper()
	w := newTownOf(t, r, o)
	people := w.people(17)
	c := &crowd{town: w, authors: people[:5], readers: people[5:], posts: map[social.UserID][]social.PostID{}}
	for i, reader := range c.readers {
		w.follow(reader, slices.DeleteFunc(slices.Clone(c.authors), func(author social.NewUser) bool { return !c.follows(i, author) }))
	}
	return c
}

// follows reports whether a reader follows an author. One reader follows no one.
func (c *crowd) follows(reader int, author social.NewUser) bool {
	j := slices.IndexFunc(c.authors, func(a social.NewUser) bool { return a.User.ID == author.User.ID })
	return reader != 3 && (reader+j)%3 != 0
}

func (c *crowd) write(n int) {
	c.t.Helper()
	for i := range n {
		author := c.authors[i%len(c.authors)].User.ID
		c.posts[author] = append(c.posts[author], c.post(status(author, author, public)).ID)
	}
}

// want returns a reader's newest page.
func (c *crowd) want(reader, limit int) []social.PostID {
	var all []social.PostID
	for _, author := range c.authors {
		if c.follows(reader, author) {
			all = append(all, c.posts[author.User.ID]...)
		}
	}
	all = newestIDs(all)
	return all[:min(limit, len(all))]
}

// read lets all readers read a newest page at the same time, and half of them two.
func (c *crowd) read(what string) {
	c.t.Helper()
	limits := []int{1, 7, 20, 61}
	var all sync.WaitGroup
	for i := range 3 * len(c.readers) / 2 {
		reader, limit := i%len(c.readers), limits[i%len(limits)]
		all.Go(func() {
			posts, err := c.News(c.ctx, c.readers[reader].User.ID, social.Page{Limit: limit})
			if err != nil {
				c.t.Errorf("%s: %v", what, err)
			}
			got := make([]social.PostID, len(posts))
			for i, p := range posts {
				got[i] = p.ID
			}
			c.same(got, c.want(reader, limit), "%s: %d posts of reader %d", what, limit, reader)
		})
	}
	all.Wait()
}

// TestNewestPagesAreReadTogether reads the newest pages of many users at the same time, from feeds
// that are missing, complete, behind, and of which posts are gone.
func TestNewestPagesAreReadTogether(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mongodb.Options{
		"hybrid":                 {Feeds: mongodb.FeedsHybrid},
		"hybrid, authors merged": {Feeds: mongodb.FeedsHybrid, MergeAbove: 7},
		"bucket":                 {Feeds: mongodb.FeedsBucket},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := new(recorder)
			c := newCrowd(t, r, o)
			c.write(43)
			c.read("before any feed is kept")
			c.finish()
			c.read("from kept feeds")
			c.write(8)
			c.read("with posts on their way")
			c.finish()
			c.read("after they have arrived")
			author := c.authors[1].User.ID
			own := c.posts[author]
			c.ok(c.DeletePost(c.ctx, own[len(own)-2], happened(social.EventPostDeleted)))
			c.posts[author] = slices.Delete(own, len(own)-2, len(own)-1)
			c.read("without a post that is gone")
			c.finish()
			testtime.Eventually(t, "pages share commands", func() bool {
				r.take()
				c.read("together")
				return len(r.take()) < 3*len(c.readers)
			})
		})
	}
}
