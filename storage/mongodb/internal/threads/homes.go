package threads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// homesDoc is the part of a post that records where its thread is stored.
type homesDoc struct {
	Homes   []string `bson:"homes"`
	Copying Copying  `bson:"copying"`
}

// Copying is a part of a post whose thread is so long that a migration copies it in several
// transactions. Until that is done, or until Until, nothing else may change the thread.
type Copying struct {
	By    string    `bson:"by"` // names one attempt
	Until time.Time `bson:"until"`
}

// homes returns the layouts in which a post's thread is stored; the first one is read. The
// transaction has written the post, so they do not change before it ends.
func (t *Threads) homes(ctx context.Context, post social.PostID) ([]Layout, error) {
	used := t.inUse(ctx)
	if used.moving == nil {
		return []Layout{used.read}, nil
	}
	var d homesDoc
	only := options.FindOne().SetProjection(mdb.Doc("homes", 1, "copying", 1))
	if err := mdb.OrNotFound(t.posts.FindOne(ctx, mdb.Doc("_id", post), only).Decode(&d)); err != nil {
		return nil, err
	}
	if d.Copying.Until.After(t.now()) {
		return nil, fmt.Errorf("%w: the thread of post %s is being copied", mdb.ErrConflict, post.ID)
	}
	all := []Layout{used.read}
	for _, layout := range d.Homes {
		home := used.moving[layout]
		if home == nil {
			return nil, fmt.Errorf("post %s says that its thread is stored in the layout %q, but no migration from or to it is under way", post.ID, layout)
		}
		if home != used.read {
			all = append(all, home)
		}
	}
	return all, nil
}

// change does the same in each of a thread's homes.
func (t *Threads) change(ctx context.Context, post social.PostID, do func(Layout) error) error {
	homes, err := t.homes(ctx, post)
	if err != nil {
		return err
	}
	if err := do(homes[0]); err != nil {
		return err
	}
	for _, home := range homes[1:] {
		err := do(home)
		if errors.Is(err, social.ErrNotFound) || errors.Is(err, social.ErrTaken) {
			err = fmt.Errorf("the two copies of the thread of post %s differ: %v", post.ID, err) //nolint:errorlint // the caller must not take it for its own mistake
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveThread deletes the thread of a post that is already gone, from all layouts in use.
func (t *Threads) RemoveThread(ctx context.Context, post social.PostID) error {
	for _, layout := range t.inUse(ctx).all() {
		if err := layout.RemoveThread(ctx, post); err != nil {
			return err
		}
	}
	return nil
}

// RemovePart deletes a part of a thread from each layout in use; see [Layout].
func (t *Threads) RemovePart(ctx context.Context, post social.PostID, most int) (did bool, err error) {
	for _, layout := range t.inUse(ctx).all() {
		some, err := layout.RemovePart(ctx, post, most)
		if did = did || some; err != nil {
			return did, err
		}
	}
	return did, nil
}

// Threads reads threads from the layout of the call's era, and writes them wherever they are
// stored. Each write first changes the post's document: the number of comments, copies of the
// newest ones ("latest"), and threadRevision, which counts the changes of the thread.
type Threads struct {
	posts  *mongo.Collection
	inUse  func(context.Context) *InUse
	writes func(collection string) int // the version in which documents are written now
	now    func() time.Time            // the database's time
}

// New returns the threads of posts, in the layouts that calls use. The function now returns the
// database's time.
func New(posts *mongo.Collection, inUse func(context.Context) *InUse, writes func(collection string) int, now func() time.Time) *Threads {
	return &Threads{posts: posts, inUse: inUse, writes: writes, now: now}
}
