package mongodb_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// crowd is a town whose readers follow different authors, with the posts of these authors.
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

// follows reports whether a reader follows an author. One reader has no follows.
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
	reader := c.readers[n%len(c.readers)].User.ID
	c.posts[reader] = append(c.posts[reader], c.post(status(reader, reader, public)).ID)
}

// want returns a reader's newest page.
func (c *crowd) want(reader, limit int) []social.PostID {
	var all []social.PostID
	all = append(all, c.posts[c.readers[reader].User.ID]...)
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
			c.same(idsOf(posts), c.want(reader, limit), "%s: %d posts of reader %d", what, limit, reader)
		})
	}
	all.Wait()
}

// TestNewestPagesAreReadTogether reads the newest pages of many users at the same time, from feeds
// that are missing, complete, behind, and of which posts are gone.
func TestNewestPagesAreReadTogether(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mongodb.Options{
		"read":                   {Feeds: mongodb.FeedsRead},
		"tiny read":              {Feeds: mongodb.TinyRead},
		"cache":                  {Feeds: mongodb.FeedsCache},
		"tiny cache":             {Feeds: mongodb.TinyCache},
		"hybrid":                 {Feeds: mongodb.FeedsHybrid},
		"hybrid, authors merged": {Feeds: mongodb.FeedsHybrid, MergeAbove: 7},
		"bucket":                 {Feeds: mongodb.FeedsBucket},
		"tiny bucket":            {Feeds: mongodb.TinyBucket},
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
			if strings.HasPrefix(o.Feeds, "tiny") {
				return // most of its pages take further commands
			}
			testtime.Eventually(t, "pages share commands", func() bool {
				r.take()
				c.read("together")
				return len(r.take()) < 3*len(c.readers)
			})
		})
	}
}

// TestNewestPageGoesOnBelowWhatIsKept: feeds are longer than what is kept, and most of the kept posts
// are deleted, so a page needs older ones. Then more posts are on their way than are merged.
func TestNewestPageGoesOnBelowWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.TinyRead, mongodb.TinyCache, mongodb.FeedsHybrid, mongodb.TinyBucket, mongodb.FeedsBucket} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			w := newTownOf(t, nil, mongodb.Options{Feeds: layout})
			people := w.people(3)
			reader, authors := people[0], people[1:]
			w.follow(reader, authors)
			posts := w.posts(authors, 211)
			w.finish()
			page := social.Page{Limit: 97}
			w.same(w.news(reader, page), posts[:97], "the newest of all")
			for _, post := range posts[:61] {
				w.ok(w.DeletePost(w.ctx, post, happened(social.EventPostDeleted)))
			}
			posts = posts[61:]
			w.same(w.news(reader, page), posts[:97], "after the newest are gone")
			w.finish()
			w.same(w.news(reader, page), posts[:97], "after they have left what is kept")
			posts = newestIDs(w.posts(authors, 203), posts)
			w.same(w.news(reader, social.Page{Limit: 31}), posts[:31], "with many on their way")
			w.finish()
			w.same(w.news(reader, page), posts[:97], "after these have arrived")
		})
	}
}

// TestNewestPageCutsTheList: reading the newest page is enough to keep a list short.
func TestNewestPageCutsTheList(t *testing.T) {
	t.Parallel()
	w := newTownOf(t, nil, mongodb.Options{Feeds: mongodb.FeedsHybrid})
	people := w.people(2)
	reader, author := people[0], people[1]
	w.follow(reader, people[1:])
	w.news(reader, social.Page{Limit: 20})
	w.posts(people[1:], 71)
	w.finish()
	pushed := func() int {
		var list struct{ Pushed int }
		w.ok(mongotest.Connect(t, w.uri).Collection("newsLists").FindOne(w.ctx, stored(reader)).Decode(&list))
		return list.Pushed
	}
	if n := pushed(); n != 71 {
		t.Fatalf("%d posts of %s were pushed", n, author.User.Handle)
	}
	w.news(reader, social.Page{Limit: 20})
	if n := pushed(); n != 0 {
		t.Errorf("%d posts are pushed since the list was cut", n)
	}
}

// TestNewestPagesMergeManyAuthors: a reader may follow more merged authors than one merge has.
func TestNewestPagesMergeManyAuthors(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1})
	people := w.people(215)
	few, many, other, authors := people[0], people[1], people[2], people[3:]
	w.follow(few, authors[:97])
	w.follow(many, authors)
	w.follow(other, authors) // they are merged because they have two followers
	posts := map[social.UserID][]social.PostID{}
	for i := range 303 {
		author := authors[i%len(authors)].User.ID
		posts[author] = append(posts[author], w.post(status(author, author, public)).ID)
	}
	w.finish()
	want := func(authors []social.NewUser) (all []social.PostID) {
		for _, author := range authors {
			all = append(all, posts[author.User.ID]...)
		}
		return newestIDs(all)[:26]
	}
	for range 2 { // the first builds the lists
		for _, c := range []struct {
			reader  social.NewUser
			authors []social.NewUser
		}{{few, authors[:97]}, {many, authors}} {
			r.take()
			w.same(w.news(c.reader, social.Page{Limit: 26}), want(c.authors), "the news of %d authors", len(c.authors))
		}
	}
	client := plainClient(t)
	for reader, most := range map[*social.NewUser]int{&few: 4, &many: 6} {
		r.take()
		w.news(*reader, social.Page{Limit: 26})
		commands := r.take()
		if len(commands) > most {
			t.Errorf("%d commands, want %d: %s", len(commands), most, names(commands))
		}
		for _, raw := range commands {
			checkCommand(t, client, raw, 26)
		}
	}
}

// TestNewestPagesDoNotFailForEachOther reads the news of a user whose list is malformed, together
// with those of others.
func TestNewestPagesDoNotFailForEachOther(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, nil, mongodb.Options{Feeds: mongodb.FeedsHybrid})
	c.write(11)
	c.finish()
	c.read("before")
	_, err := mongotest.Connect(t, c.town.uri).Collection("newsLists").UpdateOne(c.ctx, stored(c.readers[0]), bson.D{{Key: "$set", Value: bson.D{{Key: "usedAt", Value: "yesterday"}}}})
	c.ok(err)
	errs := make([]error, 2*len(c.readers))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = c.News(c.ctx, c.readers[i%len(c.readers)].User.ID, social.Page{Limit: 7}) })
	}
	all.Wait()
	for i, err := range errs {
		if isBroken := i%len(c.readers) == 0; isBroken != (err != nil) {
			t.Errorf("reader %d: %v", i%len(c.readers), err)
		}
	}
}

// stored matches the document of a user, for clients that do not know the types of ids.
func stored(u social.NewUser) bson.D {
	return bson.D{{Key: "_id", Value: uuid(u.User.ID.ID)}}
}
