package feeds

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Most requests for news are for the newest page. A busy server reads those of several users with
// the commands of one: each command costs the server and the database as much as several documents.

// newestReader is a layout that can do that. In the layout month, the open part of a feed is often
// not enough for a page.
type newestReader interface {
	// newestPages reads newest pages of news. It leaves out those that take further commands.
	newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error)
}

const (
	// newestReads is how many reads of newest pages are running before others wait for the next: two
	// readers alone gain nothing from it.
	newestReads = 2
	// newestTogether is how many newest pages are read together.
	newestTogether = 16
)

// newNewest returns what reads newest pages of several users, each time in one snapshot.
func (f *Feeds) newNewest() *batch.Reader[social.List[social.UserID], []*social.Post] {
	return batch.NewReader(newestReads, newestTogether, func(ctx context.Context, lists []social.List[social.UserID]) (pages map[social.List[social.UserID]][]*social.Post, err error) {
		err = f.db.ReadSnapshot(ctx, "news", func(ctx context.Context) error {
			layout, ok := f.inUse(ctx).read.(newestReader)
			if !ok { // it has changed meanwhile
				return nil
			}
			pages, err = layout.newestPages(ctx, lists)
			return err
		})
		return pages, err
	})
}

// readNewest reads a newest page together with others. It returns false if the page has to be read
// alone: it takes further commands, or another one may have made the read fail.
func (f *Feeds) readNewest(ctx context.Context, list social.List[social.UserID]) (posts []*social.Post, ok bool, err error) {
	if _, ok := f.inUse(ctx).read.(newestReader); !ok || list.Page != (social.Page{Limit: list.Limit}) {
		return nil, false, nil
	}
	posts, ok, err = f.newest.Read(ctx, list)
	if err != nil && ctx.Err() == nil && !errors.Is(err, social.ErrUnavailable) {
		return nil, false, nil
	}
	return slices.Clone(posts), ok, err
}

// newestPages implements newestReader in three commands, or four if there are merged authors.
func (f *hybridLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	viewers := ownersOf(lists)
	pending, ok, err := f.pendingNews(ctx, jobPush, viewers, social.Page{})
	if err != nil || !ok {
		return nil, err
	}
	kept, err := f.readyLists(ctx, viewers)
	if err != nil {
		return nil, err
	}
	if err := f.addMerged(ctx, kept, longestOf(lists)); err != nil {
		return nil, err
	}
	for user, l := range kept {
		l.IDs = append(l.IDs, pending[user]...)
	}
	selected := make(map[social.List[social.UserID]][]social.PostID, len(lists))
	for _, list := range lists {
		l := kept[list.Of]
		if l == nil {
			continue
		}
		if ids := firstIDs(l.within(list.Page), list.Page); len(ids) == list.Limit || l.Floor.IsZero() {
			selected[list] = ids
		}
	}
	posts, err := f.posts.ByID(ctx, slices.Concat(slices.Collect(maps.Values(selected))...))
	return wholePages(selected, postsByID(posts)), err
}

// readyLists reads the lists of users, without those that have to be built or cut first.
func (f *hybridLayout) readyLists(ctx context.Context, users []social.UserID) (map[social.UserID]*newsListDoc, error) {
	docs, err := mdb.FindIn[newsListDoc](ctx, f.newsLists, "_id", users, options.Find().SetHint(mdb.Doc("_id", 1)))
	ready, now := make(map[social.UserID]*newsListDoc, len(docs)), time.Now()
	for i := range docs {
		if l := &docs[i]; l.Ready && !l.isDue(now) {
			ready[l.User] = l
		}
	}
	return ready, err
}

// addMerged adds the newest posts of merged authors to the lists that name them.
func (f *hybridLayout) addMerged(ctx context.Context, lists map[social.UserID]*newsListDoc, limit int) error {
	var authors []social.UserID
	for _, l := range lists {
		authors = append(authors, l.Merged...)
	}
	slices.SortFunc(authors, func(a, b social.UserID) int { return a.Compare(b.ID) })
	newest, err := f.newestBy(ctx, slices.Compact(authors), limit)
	for _, l := range lists {
		for _, author := range l.Merged {
			l.IDs = append(l.IDs, newest[author]...)
		}
	}
	return err
}

// newestBy reads the ids of the newest posts of each author, in one command for 30 of them.
func (e *base) newestBy(ctx context.Context, authors []social.UserID, limit int) (map[social.UserID][]social.PostID, error) {
	newest := make(map[social.UserID][]social.PostID, len(authors))
	for some := range slices.Chunk(authors, mergesInBatch) {
		pipelines := mdb.Map(some, func(author *social.UserID) bson.A {
			q := postList("author", *author, "")
			return bson.A{
				mdb.Doc("$match", q.Match()), mdb.Doc("$sort", q.Sort()), mdb.Doc("$limit", limit),
				mdb.Doc("$project", mdb.Doc("_id", 0, "seq", 1, "author", 1)),
			}
		})
		docs, err := mdb.AggregateAll[seqDoc](ctx, e.posts.Collection(), mdb.Union(e.posts.Collection(), pipelines), len(some)*limit)
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			newest[d.Author] = append(newest[d.Author], d.Seq)
		}
	}
	return newest, nil
}

// newestPages implements newestReader in three commands.
func (f *bucketLayout) newestPages(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	pending, ok, err := f.pendingNews(ctx, jobBucketPush, ownersOf(lists), social.Page{})
	if err != nil || !ok {
		return nil, err
	}
	return f.kept.pages(ctx, lists, pending)
}

// ownersOf returns the owner of each list.
func ownersOf(lists []social.List[social.UserID]) []social.UserID {
	return mdb.Map(lists, func(l *social.List[social.UserID]) social.UserID { return l.Of })
}

// longestOf returns the limit of the longest list.
func longestOf(lists []social.List[social.UserID]) int {
	return slices.MaxFunc(lists, func(a, b social.List[social.UserID]) int { return a.Limit - b.Limit }).Limit
}

func postsByID(posts []*social.Post) map[social.PostID]*social.Post {
	found := make(map[social.PostID]*social.Post, len(posts))
	for _, p := range posts {
		found[p.ID] = p
	}
	return found
}

// wholePages returns the posts of pages, without pages of which some posts are gone.
func wholePages(pages map[social.List[social.UserID]][]social.PostID, found map[social.PostID]*social.Post) map[social.List[social.UserID]][]*social.Post {
	whole := make(map[social.List[social.UserID]][]*social.Post, len(pages))
	for list, ids := range pages {
		if posts := inOrder(ids, found); len(posts) == len(ids) {
			whole[list] = posts
		}
	}
	return whole
}
