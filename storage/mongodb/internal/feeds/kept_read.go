package feeds

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// keptView is what was read of a feed.
type keptView struct {
	open   *openPart
	closed []closedPart // in the direction of the page
	copies map[social.PostID]postCopy
}

// news reads a page of a user's news, and merges the posts that jobs of a kind have yet to push.
func (f *keptFeed) news(ctx context.Context, push jobs.Kind, user social.UserID, p social.Page) ([]*social.Post, error) {
	deeper := func(ctx context.Context, p social.Page) ([]*social.Post, error) {
		return unkept{f.base}.News(ctx, user, p)
	}
	pending, ok, err := f.pendingNews(ctx, push, []social.UserID{user}, p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return deeper(ctx, p)
	}
	return f.page(ctx, user, p, pending[user], deeper)
}

// page reads a page of a user's feed, with posts that are on their way to it. deeper reads a page,
// or the end of one, that is not kept. The first page costs two commands, and others one more.
func (f *keptFeed) page(ctx context.Context, user social.UserID, p social.Page, pending []social.PostID, deeper func(context.Context, social.Page) ([]*social.Post, error)) ([]*social.Post, error) {
	v, err := f.look(ctx, user, p)
	if err != nil {
		return nil, err
	}
	v.expect(pending)
	if !v.has(p) {
		return deeper(ctx, p)
	}
	ids, ok, err := f.find(ctx, v, p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return deeper(ctx, p)
	}
	posts, err := f.resolve(ctx, v, ids)
	if err != nil {
		return nil, err
	}
	rest := p
	rest.Limit -= len(posts)
	switch {
	case rest.Limit == 0, len(ids) < p.Limit && (p.Last || reaches(v.open.Floor, p)):
		return posts, nil
	case len(ids) < p.Limit:
		rest.After = social.Key(v.open.Floor.Bytes())
		more, err := deeper(ctx, rest)
		return append(posts, more...), err
	case p.Last: // some of the posts are gone
		rest.Before = social.Key(ids[0].Bytes())
		more, err := f.page(ctx, user, rest, pending, deeper)
		return append(more, posts...), err
	}
	rest.After = social.Key(ids[len(ids)-1].Bytes())
	more, err := f.page(ctx, user, rest, pending, deeper)
	return append(posts, more...), err
}

// expect adds posts that are on their way to the feed.
func (v *keptView) expect(pending []social.PostID) {
	if v.open != nil {
		v.open.IDs = append(v.open.IDs, pending...)
	}
}

// pages reads pages of many feeds in two commands, or three if some copies are old. It leaves out
// those that open parts are not enough for.
func (f *keptFeed) pages(ctx context.Context, lists []social.List[social.UserID], pending map[social.UserID][]social.PostID) (map[social.List[social.UserID]][]*social.Post, error) {
	views, err := f.openViews(ctx, batch.Unique(ownersOf(lists)), longestOf(lists))
	if err != nil {
		return nil, err
	}
	for user, v := range views {
		v.expect(pending[user])
	}
	selected := make(map[social.List[social.UserID]][]social.PostID, len(lists))
	for _, list := range lists {
		if ids, ok := views[list.Of].openPage(list.Page); ok {
			selected[list] = ids
		}
	}
	found, err := f.current(ctx, postsOf(selected), slices.Collect(maps.Values(views))...)
	return wholePages(selected, found), err
}

// openPage selects the page's ids, if the open part is enough for it.
func (v *keptView) openPage(p social.Page) ([]social.PostID, bool) {
	if !v.has(p) {
		return nil, false
	}
	s := newSpan(v.open, p)
	if !s.done() {
		return nil, false
	}
	ids := firstIDs(s.within(), p)
	return ids, len(ids) == p.Limit || v.open.Floor.IsZero()
}

// has reports whether the feed has the beginning of the page.
func (v *keptView) has(p social.Page) bool {
	return v.open != nil && v.open.Ready && begins(v.open.Floor, p)
}

// partsOf returns how many closed parts are usually enough for a page.
func (f *keptFeed) partsOf(p social.Page) int { return 2 + p.Limit/f.size }

// look reads, in one command, the open part and what the page probably needs: for the newest page
// copies of its posts, if there are any; for others the closed parts where the page begins.
func (f *keptFeed) look(ctx context.Context, user social.UserID, p social.Page) (*keptView, error) {
	if p.After != "" || p.Last {
		return f.readAround(ctx, user, p)
	}
	views, err := f.openViews(ctx, []social.UserID{user}, p.Limit)
	return views[user], err
}

// slack is how many more copies are read than a page has, because not all were pushed in the order
// of their ids.
const slack = 8

// readAround reads the open part and the closed ones where the page begins, and only the copies
// from there on.
func (f *keptFeed) readAround(ctx context.Context, user social.UserID, p social.Page) (*keptView, error) {
	filter, order := closedNear(user, p)
	open := bson.A{mdb.Doc("$match", openOf(user))}
	closed := bson.A{mdb.Doc("$match", filter), mdb.Doc("$sort", order), mdb.Doc("$limit", f.partsOf(p))}
	if f.copies {
		near := mdb.Doc("$set", mdb.Doc("posts", copiesNear(p)))
		open, closed = append(open, near), append(closed, near)
	}
	rows, err := mdb.AggregateAll[keptRow](ctx, f.docs, mdb.Union(f.docs, []bson.A{
		append(open, mdb.Doc("$replaceRoot", mdb.Doc("newRoot", mdb.Doc("open", "$$ROOT")))),
		append(closed, mdb.Doc("$replaceRoot", mdb.Doc("newRoot", mdb.Doc("closed", "$$ROOT")))),
	}), 1+f.partsOf(p))
	v := &keptView{}
	for i := range rows {
		v.add(&rows[i])
	}
	return v, err
}

// copiesNear selects a part's copies where a page begins.
func copiesNear(p social.Page) bson.D {
	behind, n := mdb.Doc("$lt", bson.A{"$$this._id", keyID(p.After, lastID)}), -p.Limit-slack
	if p.Last {
		behind, n = mdb.Doc("$gt", bson.A{"$$this._id", keyID(p.Before, social.PostID{})}), p.Limit+slack
	}
	stored := mdb.Doc("$ifNull", bson.A{"$posts", bson.A{}})
	return mdb.Doc("$slice", bson.A{mdb.Doc("$filter", mdb.Doc("input", stored, "cond", behind)), n})
}

// openViews reads the open parts of users, each with a number of its newest copies.
func (f *keptFeed) openViews(ctx context.Context, users []social.UserID, newest int) (map[social.UserID]*keptView, error) {
	views := make(map[social.UserID]*keptView, len(users))
	for _, user := range users {
		views[user] = &keptView{}
	}
	docs, err := mdb.FindAll[openPart](ctx, f.docs, openOfAll(users), len(users),
		options.Find().SetProjection(mdb.Doc("posts", mdb.Doc("$slice", -newest-slack))).SetHint(mdb.Doc("_id", 1)))
	for i := range docs {
		views[docs[i].User].open = &docs[i]
		views[docs[i].User].keep(docs[i].Posts)
	}
	return views, err
}

// closedNear selects the closed parts where a page begins, and those after them.
func closedNear(user social.UserID, p social.Page) (filter, order bson.D) {
	if p.Last {
		return mdb.Doc("user", user, "upper", mdb.Doc("$gt", keyID(p.Before, social.PostID{}))), mdb.Doc("upper", 1)
	}
	return mdb.Doc("user", user, "upper", mdb.Doc("$gt", mdb.ZeroKey), "lower", mdb.Doc("$lt", keyID(p.After, lastID))), mdb.Doc("upper", -1)
}

// keptRow is an open part or a closed one.
type keptRow struct {
	open   *openPart
	closed *closedPart
}

func (row *keptRow) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "open":
		row.open = &openPart{}
		r.Inner(v, row.open)
	case "closed":
		row.closed = &closedPart{}
		r.Inner(v, row.closed)
	}
}

func (v *keptView) add(row *keptRow) {
	switch {
	case row.open != nil:
		v.open = row.open
		v.keep(row.open.Posts)
	case row.closed != nil:
		v.closed = append(v.closed, *row.closed)
	}
}

// keep takes copies into the view.
func (v *keptView) keep(copies []postCopy) {
	if v.copies == nil {
		v.copies = make(map[social.PostID]postCopy, len(copies))
	}
	for _, c := range copies {
		v.copies[c.id()] = c
	}
}

// find selects the page's ids, in list order. It returns false if a part is missing, because the
// feed was just built again.
func (f *keptFeed) find(ctx context.Context, v *keptView, p social.Page) (ids []social.PostID, ok bool, err error) {
	s := newSpan(v.open, p)
	for closed := v.closed; ; {
		for i := range closed {
			if closed[i].Gen != v.open.Gen {
				continue
			}
			if !s.add(&closed[i]) {
				return nil, false, nil
			}
			v.keep(closed[i].Posts)
		}
		if s.done() {
			return firstIDs(s.within(), p), true, nil
		}
		closed, err = f.next(ctx, s)
		if err != nil || len(closed) == 0 {
			return nil, false, err
		}
	}
}

// next reads the next closed parts.
func (f *keptFeed) next(ctx context.Context, s *span) ([]closedPart, error) {
	p := s.page
	if p.Last {
		p.Before = social.Key(s.reach.Bytes())
	} else {
		p.After = social.Key(s.reach.Bytes())
	}
	filter, order := closedNear(s.open.User, p)
	return mdb.FindAll[closedPart](ctx, f.docs, append(filter, bson.E{Key: "gen", Value: s.open.Gen}), f.partsOf(p),
		options.Find().SetSort(order).SetLimit(int64(f.partsOf(p))).SetHint(byPart))
}

// span is a range of a feed that is known without gaps: from one end of a page's bounds to reach.
type span struct {
	open          *openPart
	ids           []social.PostID // some of them out of bounds
	reach         social.PostID
	page          social.Page
	after, before social.PostID
}

// newSpan returns what the open part has.
func newSpan(open *openPart, p social.Page) *span {
	s := &span{open: open, ids: open.IDs, page: p, after: keyID(p.After, lastID), before: keyID(p.Before, social.PostID{})}
	switch {
	case p.Last:
		s.reach = latest(s.before, open.Floor)
	case s.after.Compare(open.From.ID) < 0:
		s.reach = s.after
	default:
		s.reach = open.From
	}
	return s
}

func latest(a, b social.PostID) social.PostID {
	if a.Compare(b.ID) > 0 {
		return a
	}
	return b
}

// add adds a closed part. It returns whether that follows without a gap.
func (s *span) add(c *closedPart) bool {
	switch {
	case s.page.Last && c.Upper.Compare(s.reach.ID) <= 0, !s.page.Last && c.Lower.Compare(s.reach.ID) >= 0:
		return true // known
	case s.page.Last && c.Lower.Compare(s.reach.ID) > 0, !s.page.Last && c.Upper.Compare(s.reach.ID) < 0:
		return false
	case s.page.Last:
		s.reach = c.Upper
	default:
		s.reach = c.Lower
	}
	s.ids = slices.Concat(s.ids, c.IDs)
	return true
}

// isWhole reports whether everything that is kept within the bounds is known.
func (s *span) isWhole() bool {
	if s.page.Last {
		return s.reach.Compare(s.open.From.ID) >= 0
	}
	return s.reach.Compare(latest(s.before, s.open.Floor).ID) <= 0
}

// done reports whether enough is known for the page.
func (s *span) done() bool { return s.isWhole() || len(s.within()) >= s.page.Limit }

// within returns the known ids in the page's bounds, each once.
func (s *span) within() []social.PostID {
	isWhole := s.isWhole()
	ids := slices.DeleteFunc(slices.Clone(s.ids), func(post social.PostID) bool {
		isBeyond := !isWhole && (s.page.Last && post.Compare(s.reach.ID) >= 0 || !s.page.Last && post.Compare(s.reach.ID) < 0)
		return isBeyond || post.Compare(s.open.Floor.ID) < 0 || post.Compare(s.after.ID) >= 0 || post.Compare(s.before.ID) <= 0
	})
	slices.SortFunc(ids, func(a, b social.PostID) int { return b.Compare(a.ID) })
	return slices.Compact(ids)
}

// resolve finds the posts of ids, in their order. Those that are gone are left out.
func (f *keptFeed) resolve(ctx context.Context, v *keptView, ids []social.PostID) ([]*social.Post, error) {
	found, err := f.current(ctx, ids, v)
	return inOrder(ids, found), err
}

// inOrder returns the posts that were found, in the order of the ids.
func inOrder(ids []social.PostID, found map[social.PostID]*social.Post) []*social.Post {
	posts := make([]*social.Post, 0, len(ids))
	for _, post := range ids {
		if p := found[post]; p != nil {
			posts = append(posts, p)
		}
	}
	return posts
}

// current finds posts as they are now: copies in the views that are current, or else the posts
// themselves.
func (f *keptFeed) current(ctx context.Context, ids []social.PostID, views ...*keptView) (map[social.PostID]*social.Post, error) {
	found := make(map[social.PostID]*social.Post, len(ids))
	missing := ids
	if f.copies && len(ids) > 0 {
		var err error
		if missing, err = f.unchanged(ctx, missing, views, found); err != nil {
			return nil, err
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	posts, err := f.posts.ByID(ctx, missing)
	maps.Copy(found, postsByID(posts))
	return found, err
}

// changesDoc is how often a post was changed.
type changesDoc struct {
	ID      social.PostID `bson:"_id"`
	Changes int           `bson:"changes"`
}

func (d *changesDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "changes":
		r.Int(v, &d.Changes)
	}
}

// byChanges is an index from which unchanged looks copies up.
const byChanges = "id_changes"

// changesOf looks up how often posts were changed. There is no hint: a layout that comes to a
// database later may lack its index.
func (f *keptFeed) changesOf(ctx context.Context, posts []social.PostID) ([]changesDoc, error) {
	return mdb.FindIn[changesDoc](ctx, f.posts.Collection(), "_id", posts, options.Find().SetProjection(mdb.Doc("_id", 1, "changes", 1)))
}

// unchanged finds the posts whose copies are current, and returns the posts that exist without such
// a copy.
func (f *keptFeed) unchanged(ctx context.Context, ids []social.PostID, views []*keptView, found map[social.PostID]*social.Post) (missing []social.PostID, err error) {
	states, err := f.changesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		i := slices.IndexFunc(views, func(v *keptView) bool {
			c, ok := v.copies[state.ID]
			return ok && c.changes() == state.Changes
		})
		if i < 0 {
			missing = append(missing, state.ID)
		} else if found[state.ID], err = f.posts.Decode(views[i].copies[state.ID]); err != nil {
			return nil, err
		}
	}
	return missing, nil
}
