package feeds

import (
	"context"
	"maps"
	"slices"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Most requests for news are for the newest page. A busy server reads those of several users with
// the commands of one: each command costs the server and the database as much as several documents.

// newestSharer is a layout that can do that. In the layout month, the open part of a feed is often
// not enough for a page.
type newestSharer interface {
	// sharesWith reports whether a user's newest page is likely to be one that newestPages reads.
	sharesWith(viewer social.UserID) bool
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

// newNewestReader returns what reads newest pages of several users, each time in one snapshot.
func (f *Feeds) newNewestReader() *batch.Reader[social.List[social.UserID], []*social.Post] {
	return batch.NewReader(newestReads, newestTogether, func(ctx context.Context, lists []social.List[social.UserID]) (pages map[social.List[social.UserID]][]*social.Post, err error) {
		err = f.db.ReadSnapshot(ctx, "newest news", func(ctx context.Context) error {
			layout, ok := f.inUse(ctx).Read.(newestSharer)
			if !ok { // it has changed meanwhile
				return nil
			}
			pages, err = layout.newestPages(ctx, lists)
			return err
		})
		return pages, err
	})
}

// sharesNewest reports whether a page is read together with others.
func (f *Feeds) sharesNewest(ctx context.Context, viewer social.UserID, p social.Page) bool {
	layout, ok := f.inUse(ctx).Read.(newestSharer)
	return ok && isNewest(p) && layout.sharesWith(viewer)
}

// isNewest reports whether a page is the first one of a list.
func isNewest(p social.Page) bool { return p == social.Page{Limit: p.Limit} }

// readNewest reads a newest page together with others. It returns false if the page has to be read
// alone: it takes further commands, or the read has failed, which may be because of another page.
func (f *Feeds) readNewest(ctx context.Context, list social.List[social.UserID]) ([]*social.Post, bool) {
	posts, ok, err := f.newest.Read(ctx, list)
	return slices.Clone(posts), ok && err == nil
}

// ownersOf returns the owner of each list.
func ownersOf(lists []social.List[social.UserID]) []social.UserID {
	return mdb.Map(lists, func(l *social.List[social.UserID]) social.UserID { return l.Of })
}

// longestOf returns the limit of the longest list.
func longestOf(lists []social.List[social.UserID]) int {
	return slices.MaxFunc(lists, func(a, b social.List[social.UserID]) int { return a.Limit - b.Limit }).Limit
}

// wholeIDs returns the ids of those newest pages that are known whole. known returns the ids that are
// known of a page, down to a floor.
func wholeIDs(lists []social.List[social.UserID], known func(social.List[social.UserID]) (ids []social.PostID, floor social.PostID, ok bool)) map[social.List[social.UserID]][]social.PostID {
	whole := make(map[social.List[social.UserID]][]social.PostID, len(lists))
	for _, list := range lists {
		if ids, floor, ok := known(list); ok && (len(ids) == list.Limit || floor.IsZero()) {
			whole[list] = ids
		}
	}
	return whole
}

// postsOf returns the posts of pages, each once.
func postsOf(pages map[social.List[social.UserID]][]social.PostID) []social.PostID {
	return batch.Unique(slices.Concat(slices.Collect(maps.Values(pages))...))
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
