package sqlite

import (
	"context"
	"slices"
	"strings"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// Feeds are merged from one list of posts for each author (News) or circle (Incoming), in one of
// two ways:
//
//   - the walk reads all posts in time order and checks whether each belongs to the feed. It is
//     cheap if most posts do: for people who follow a large part of all users;
//   - the merge seeks the first post of each list and continues from the newest: a k-way merge. It
//     costs one seek for each list and one for each post, whatever else is stored.
//
// A page begins with a walk of at most walkShare posts for each list, and then merges what is
// missing. So its cost is bounded by the number of lists and the size of the page, and is small if
// the walk finds enough posts.
const (
	walkShare = 0.5 // a step of the walk costs about as much as a seek of the merge
	walkLeast = 50  // lists; with fewer, the merge alone is cheap enough
)

var (
	wall = sqldb.DefineDirected(`SELECT ` + postColumns + ` FROM posts INDEXED BY posts_by_wall
		WHERE wall_owner = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	postsByAuthor = sqldb.DefineDirected(`SELECT ` + postColumns + ` FROM posts INDEXED BY posts_by_author
		WHERE author = ? AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	wallByOthers = sqldb.DefineDirected(`SELECT id FROM posts INDEXED BY posts_by_wall
		WHERE wall_owner = ?1 AND id > ?2 AND id < ?3 AND author <> ?1 ORDER BY id $order LIMIT ?4`)

	followingCount = sqldb.Define(`SELECT following_count FROM users WHERE id = ?`)
	followersCount = sqldb.Define(`SELECT followers_count FROM users WHERE id = ?`)

	newsWalk = sqldb.DefineDirected(`SELECT id, author = ?1 OR EXISTS (SELECT 1 FROM follows WHERE follower = ?1 AND followed = author)
		FROM posts INDEXED BY posts_by_time WHERE id > ?2 AND id < ?3 ORDER BY id $order LIMIT ?4`)

	incomingWalk = sqldb.DefineDirected(`SELECT id, author <> ?1 AND CASE audience
			WHEN 'CIRCLES' THEN EXISTS (SELECT 1 FROM follows WHERE follower = author AND followed = ?1)
			ELSE EXISTS (SELECT 1 FROM post_circles JOIN circle_members USING (circle) WHERE post = posts.id AND member = ?1)
		END
		FROM posts INDEXED BY posts_shared
		WHERE audience IN ('CIRCLES', 'LISTED') AND id > ?2 AND id < ?3 ORDER BY id $order LIMIT ?4`)

	newsMerge = defineMerge(
		`SELECT ?1 AS list UNION ALL SELECT followed FROM follows WHERE follower = ?1 AND followed <> ?1`,
		`SELECT $first(id) FROM posts INDEXED BY posts_by_author WHERE author = list AND id > $low AND id < $high`)
	fromCirclesMerge = defineMerge(
		`SELECT follower AS list FROM follows INDEXED BY follows_by_followed WHERE followed = ?1 AND follower <> ?1`,
		`SELECT $first(id) FROM posts INDEXED BY posts_to_circles
			WHERE author = list AND audience = 'CIRCLES' AND id > $low AND id < $high`)
	fromListedMerge = defineMerge(
		`SELECT circle AS list FROM circle_members INDEXED BY circle_members_by_member WHERE member = ?1 AND owner <> ?1`,
		`SELECT $first(post) FROM post_circles WHERE circle = list AND post > $low AND post < $high`)
)

// defineMerge merges the lists that a query names. The ORDER BY of a recursive query makes a
// priority queue of the rows to visit, which gives the k-way merge. The queue begins with the
// lists' first posts, limited to the first page of them, because no other list can be on the page.
// first finds a list's first post between $low and $high.
func defineMerge(lists, first string) sqldb.Directed {
	return sqldb.DefineDirected(`
		WITH RECURSIVE
			starts (list, head) AS (
				SELECT list, coalesce((` + strings.NewReplacer("$low", "?2", "$high", "?3").Replace(first) + `), $none) AS head
				FROM (` + lists + `) ORDER BY head $order LIMIT ?4),
			merged (list, head) AS (
				SELECT list, head FROM starts
				UNION ALL
				SELECT list, coalesce((` + first + `), $none) FROM merged WHERE head > ?2 AND head < ?3
				ORDER BY 2 $order LIMIT ?4)
		SELECT head FROM merged WHERE head > ?2 AND head < ?3`)
}

// Wall implements social.Feeds.
func (s *Store) Wall(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return s.postLists(ctx, wall, lists)
}

// PostsBy implements social.Feeds.
func (s *Store) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return s.postLists(ctx, postsByAuthor, lists)
}

// postLists reads the lists of posts that belong to users, with their newest comments.
func (s *Store) postLists(ctx context.Context, from sqldb.Directed, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.List[social.UserID]][]*social.Post, error) {
		found := make(map[social.List[social.UserID]][]*social.Post, len(lists))
		var every []*social.Post
		for _, list := range batch.Unique(lists) {
			sp := sqldb.Descending(list.Page)
			posts, err := sqldb.All(tx, from.Along(sp), scanPost, list.Of.Bytes(), sp.Low, sp.High, sp.Limit)
			if err != nil {
				return nil, err
			}
			found[list] = sqldb.InListOrder(sp, posts)
			every = append(every, posts...)
		}
		return found, fillLatest(tx, every)
	})
}

// News implements social.Feeds.
func (s *Store) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Post, error) {
		f, err := newFeed(tx, viewer, p, followingCount)
		if err != nil {
			return nil, err
		}
		ids, err := f.walkAndMerge(newsWalk, newsMerge)
		if err != nil {
			return nil, err
		}
		return f.posts(ids)
	})
}

// Incoming implements social.Feeds.
func (s *Store) Incoming(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Post, error) {
		f, err := newFeed(tx, viewer, p, followersCount)
		if err != nil {
			return nil, err
		}
		directed, err := f.keys(wallByOthers, f.Span, f.Limit)
		if err != nil {
			return nil, err
		}
		shared, err := f.walkAndMerge(incomingWalk, fromCirclesMerge, fromListedMerge)
		if err != nil {
			return nil, err
		}
		return f.posts(append(directed, shared...))
	})
}

// feed is one page of a viewer's feed that is being assembled.
type feed struct {
	sqldb.Reader
	sqldb.Span

	viewer []byte
	lists  int // about how many it is merged from
}

func newFeed(tx sqldb.Reader, viewer social.UserID, p social.Page, count *sqldb.Statement) (feed, error) {
	f := feed{Reader: tx, Span: sqldb.Descending(p), viewer: viewer.Bytes()}
	_, err := tx.Row(count, []any{&f.lists}, f.viewer)
	return f, err
}

// walkAndMerge finds the first posts of a page.
func (f feed) walkAndMerge(walk sqldb.Directed, merges ...sqldb.Directed) ([]social.PostID, error) {
	found, rest, err := f.walk(walk)
	if err != nil || rest.Limit == 0 {
		return found, err
	}
	for _, merge := range merges {
		more, err := f.merge(merge, rest)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// walk finds posts within its budget, and returns what is left to search. rest.Limit is 0 if
// nothing is left.
func (f feed) walk(through sqldb.Directed) (found []social.PostID, rest sqldb.Span, err error) {
	rest = f.Span
	if f.lists < walkLeast {
		return nil, rest, nil
	}
	budget := max(f.Limit, int(walkShare*float64(f.lists)))
	steps := 0
	err = f.Each(through.Along(f.Span), func(scan sqldb.Scan) (bool, error) {
		var post social.PostID
		var belongs bool
		if err := scan(sqldb.Into(&post.ID), &belongs); err != nil {
			return false, err
		}
		steps++
		rest = rest.Beyond(post.Bytes())
		if belongs {
			found = append(found, post)
			rest.Limit--
		}
		return rest.Limit > 0, nil
	}, f.viewer, f.Low, f.High, budget)
	if steps < budget {
		rest.Limit = 0 // it found enough, or there are no more
	}
	return found, rest, err
}

// merge reads up to a page of different posts. A post in several lists is found several times; if
// that leaves too few posts, it continues after the last one.
func (f feed) merge(through sqldb.Directed, rest sqldb.Span) ([]social.PostID, error) {
	var found []social.PostID
	limit := rest.Limit
	for {
		keys, err := f.keys(through, rest, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, batch.Unique(keys)...)
		if len(keys) < limit || len(found) >= limit {
			return found, nil
		}
		rest = rest.Beyond(keys[len(keys)-1].Bytes())
	}
}

func (f feed) keys(from sqldb.Directed, sp sqldb.Span, limit int) ([]social.PostID, error) {
	return sqldb.All(f, from.Along(sp), scanPostID, f.viewer, sp.Low, sp.High, limit)
}

// posts reads the page: the first of the ids that were found.
func (f feed) posts(ids []social.PostID) ([]*social.Post, error) {
	ids = batch.Unique(ids)
	along := func(a, b social.PostID) int { return a.Compare(b.ID) }
	if f.Descending {
		along = func(a, b social.PostID) int { return b.Compare(a.ID) }
	}
	slices.SortFunc(ids, along)
	posts, err := readPosts(f, ids[:min(len(ids), f.Limit)])
	slices.SortFunc(posts, func(a, b *social.Post) int { return b.ID.Compare(a.ID.ID) })
	return posts, err
}
