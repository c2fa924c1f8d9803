package recent

import (
	"context"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Sequence is how far the ids of posts have come.
type Sequence struct {
	Last      int64 // the serial of the newest post: see id.ID.Serial
	Backdated int64 // counts transactions with posts that were not newer than all others
}

// Reader reads posts. Only the fields _id and author of their documents are used.
type Reader interface {
	// Collection returns the collection of posts.
	Collection() *mongo.Collection
	// Sequence reads how far the ids of posts have come.
	Sequence(ctx context.Context) (Sequence, error)
}

// Posts has the ids of the community's newest posts in memory.
//
// Ids of posts are in the order of their commits (ADR 27). So a reader who reads the posts after the
// newest known one has everything up to its own snapshot. After backdated posts, it begins again.
// It is safe for concurrent use.
type Posts struct {
	reader     Reader
	step, most int // how many are read together, and how many are in memory

	reading  chan struct{} // full while posts after the newest known one are read
	reaching sync.Mutex    // held while posts before the floor are read

	mu    sync.RWMutex
	at    Sequence                          // everything from floor to here is known
	floor social.PostID                     // zero: everything before is known, too
	all   []authoredPost                    // oldest first, with those that have been deleted
	by    map[social.UserID][]social.PostID // the same, by author, without some of these; nil: nothing was read yet
}

// New returns posts that are read in steps of a length. At most a number of them are in memory.
func New(reader Reader, step, most int) *Posts {
	return &Posts{reader: reader, step: step, most: max(step, most), reading: make(chan struct{}, 1)}
}

// The default limits. 5,000 posts take the database about 15 ms, and 100,000 take about 7 MB.
const (
	DefaultStep = 5_000
	DefaultMost = 100_000
)

// authoredPost is the id of a post, and its author.
type authoredPost struct {
	ID     social.PostID
	Author social.UserID
}

func (d *authoredPost) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "author":
		r.ID(v, &d.Author.ID)
	}
}

// Known is what is known of the posts that a snapshot has.
type Known struct {
	At    Sequence
	Floor social.PostID // the posts from this one on are known; zero: all are

	// Middle is the one in the middle of all posts in memory.
	Middle social.PostID

	posts *Posts
}

// CatchUp adds the posts up to the snapshot of ctx, and returns what is then known of them. It
// returns false if nothing is: another reader has meanwhile added backdated posts that the snapshot
// does not have, or there are no posts.
func (r *Posts) CatchUp(ctx context.Context) (k Known, ok bool, err error) {
	now, err := r.reader.Sequence(ctx)
	if err != nil {
		return k, false, err
	}
	if _, isKnown := r.newestAt(now); !isKnown {
		if err := r.readNewer(ctx, now); err != nil {
			return k, false, err
		}
	}
	k, ok = r.known(now)
	return k, ok, nil
}

// known returns what is known of the posts that a snapshot has.
func (r *Posts) known(at Sequence) (Known, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := Known{At: at, Floor: r.floor, posts: r}
	if n := len(r.all); n > 0 {
		k.Middle = r.all[n/2].ID
	}
	return k, r.covers(at)
}

// readNewer adds the posts up to a snapshot, that of ctx. One reader at a time does it, which is
// often enough for those who wait.
func (r *Posts) readNewer(ctx context.Context, now Sequence) error {
	select {
	case r.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.reading }()
	since, isKnown := r.newestAt(now)
	if isKnown {
		return nil
	}
	newer, err := r.read(ctx, mdb.Doc("$gt", mdb.IDKey(social.Key(since.Bytes()))))
	if err == nil {
		r.add(now, newer)
	}
	return err
}

// newestAt returns the newest known post, or none if all must be read again. It returns true if
// nothing must be read.
func (r *Posts) newestAt(now Sequence) (newest social.PostID, isKnown bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if now.Backdated == r.at.Backdated && len(r.all) > 0 {
		newest = r.all[len(r.all)-1].ID
	}
	return newest, r.isPast(now)
}

// isPast reports whether the posts are at least as new as a snapshot.
func (r *Posts) isPast(now Sequence) bool {
	if r.by == nil {
		return false
	}
	return r.at.Backdated > now.Backdated || r.at.Backdated == now.Backdated && r.at.Last >= now.Last
}

// read reads the newest posts within bounds, oldest first.
func (r *Posts) read(ctx context.Context, bounds bson.D) ([]authoredPost, error) {
	docs, err := mdb.FindAll[authoredPost](ctx, r.reader.Collection(), mdb.Doc("_id", bounds), r.step,
		options.Find().SetSort(mdb.Doc("_id", -1)).SetLimit(int64(r.step)).SetProjection(mdb.Doc("author", 1)).SetHint(mdb.Doc("_id", 1)))
	slices.Reverse(docs)
	return docs, err
}

// add adds the posts of a later snapshot. If they may not reach down to the known ones, or posts
// were backdated in between, it forgets the known ones.
func (r *Posts) add(now Sequence, newer []authoredPost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isPast(now) {
		return // another reader was faster
	}
	if now.Backdated != r.at.Backdated || len(newer) == r.step || r.by == nil {
		r.all, r.by, r.floor = nil, map[social.UserID][]social.PostID{}, r.floorOf(newer)
	}
	r.at = now
	for _, p := range newer {
		if len(r.all) == 0 || p.ID.Compare(r.all[len(r.all)-1].ID.ID) > 0 {
			r.all = append(r.all, p)
			r.by[p.Author] = append(r.by[p.Author], p.ID)
		}
	}
	if len(r.all) > r.most {
		r.dropOldest(r.step)
	}
}

// floorOf returns the floor of posts that were read together: the oldest, or none if these were all.
func (r *Posts) floorOf(posts []authoredPost) social.PostID {
	if len(posts) < r.step {
		return social.PostID{}
	}
	return posts[0].ID
}

func (r *Posts) dropOldest(n int) {
	for _, p := range r.all[:n] {
		r.remove(p)
	}
	r.all = slices.Clone(r.all[n:])
	r.floor = r.all[0].ID
}

// remove removes a post of all from by.
func (r *Posts) remove(p authoredPost) {
	posts := r.by[p.Author]
	i, isThere := slices.BinarySearchFunc(posts, p.ID, comparePosts)
	switch {
	case !isThere:
	case len(posts) == 1:
		delete(r.by, p.Author)
	case i == 0:
		r.by[p.Author] = posts[1:]
	default:
		r.by[p.Author] = slices.Delete(posts, i, i+1)
	}
}

func comparePosts(a, b social.PostID) int { return a.Compare(b.ID) }

// ReachDown adds posts before the floor, as the snapshot of ctx has them. It does nothing if another
// reader does it, if there is no room, or if it fails: it is for later pages.
func (k Known) ReachDown(ctx context.Context) {
	r := k.posts
	if !r.hasRoom(k.At, k.Floor) || !r.reaching.TryLock() {
		return
	}
	defer r.reaching.Unlock()
	if older, err := r.read(ctx, mdb.Doc("$lt", mdb.IDKey(social.Key(k.Floor.Bytes())))); err == nil {
		r.addOlder(k.At, k.Floor, older)
	}
}

func (r *Posts) hasRoom(now Sequence, floor social.PostID) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.isFloor(now, floor) && len(r.all)+r.step <= r.most
}

// isFloor reports whether a post is the floor, and a snapshot has it and all posts before it.
func (r *Posts) isFloor(now Sequence, floor social.PostID) bool {
	return !floor.IsZero() && floor == r.floor && floor.Serial() <= now.Last && now.Backdated == r.at.Backdated
}

// addOlder adds the posts that a snapshot has below a floor, if it is still the floor.
func (r *Posts) addOlder(now Sequence, floor social.PostID, older []authoredPost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isFloor(now, floor) {
		return
	}
	r.floor = r.floorOf(older)
	r.all = slices.Concat(older, r.all)
	olderBy := map[social.UserID][]social.PostID{}
	for _, p := range older {
		olderBy[p.Author] = append(olderBy[p.Author], p.ID)
	}
	for author, posts := range olderBy {
		r.by[author] = append(posts, r.by[author]...)
	}
}

// covers reports whether everything after the floor is known that a snapshot has.
func (r *Posts) covers(at Sequence) bool {
	return at.Last > 0 && at.Backdated == r.at.Backdated && r.isPast(at)
}

// Page returns the ids of a page of the known posts by authors, newest first, without those that
// Forget has removed. It returns false if they are no longer known.
func (k Known) Page(authors []social.UserID, p social.Page) ([]social.PostID, bool) {
	r := k.posts
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.covers(k.At) || r.floor.Compare(k.Floor.ID) > 0 {
		return nil, false
	}
	m := merger{oldestFirst: p.Last}
	for _, author := range authors {
		m.add(k.within(r.by[author], p))
	}
	return m.first(p.Limit), true
}

// within returns those of an author's posts that are known, and in a page's bounds.
func (k Known) within(posts []social.PostID, p social.Page) []social.PostID {
	if p.After != "" {
		end, _ := slices.BinarySearchFunc(posts, p.After, compareToKey)
		posts = posts[:end]
	}
	if p.Before != "" {
		begin, isFound := slices.BinarySearchFunc(posts, p.Before, compareToKey)
		if isFound {
			begin++
		}
		posts = posts[begin:]
	}
	begin, _ := slices.BinarySearchFunc(posts, k.Floor, comparePosts)
	posts = posts[begin:]
	for len(posts) > 0 && posts[len(posts)-1].Serial() > k.At.Last {
		posts = posts[:len(posts)-1]
	}
	return posts
}

func compareToKey(post social.PostID, k social.Key) int {
	return strings.Compare(string(post.ID[:]), string(k))
}

// Forget removes posts that were deleted.
func (r *Posts) Forget(deleted []social.PostID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, post := range deleted {
		if i, isThere := slices.BinarySearchFunc(r.all, post, func(p authoredPost, post social.PostID) int { return p.ID.Compare(post.ID) }); isThere {
			r.remove(r.all[i])
		}
	}
}
