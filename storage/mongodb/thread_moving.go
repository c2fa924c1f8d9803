package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// movingThreads reads threads from the layout of the call's era, and writes them wherever they lie: while threads are moved,
// that is what their posts say.
type movingThreads struct{ s *Store }

// threadsInUse are an era's layouts of threads.
type threadsInUse struct {
	read   threads            // what is read; and where a thread lies whose post does not say anything else
	moving map[string]threads // while threads are moved: the two layouts that posts may name
	marks  []string           // what new posts say
}

func (s *Store) newThreadsInUse(d *cluster.Setting) threadsInUse {
	all := threadsInUse{read: s.threadLayouts[d.Value]}
	if m := d.Move; m != nil {
		all.moving = map[string]threads{m.From: s.threadLayouts[m.From], m.To: s.threadLayouts[m.To]}
		if m.KeepsBoth() {
			all.marks = []string{m.From, m.To}
		}
	}
	return all
}

// indexes are those of all layouts that are in use.
func (t threadsInUse) indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := t.read.indexes()
	for _, layout := range t.moving {
		maps.Copy(all, layout.indexes())
	}
	return all
}

func (t movingThreads) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return t.s.member.Now().InUse.threads.indexes()
}

func (t movingThreads) read(ctx context.Context) threads { return t.s.inUse(ctx).threads.read }

// homesDoc is a post's word on where its thread lies.
type homesDoc struct {
	Homes   []string   `bson:"homes"`
	Copying copyingDoc `bson:"copying"`
}

// copyingDoc is on a post whose thread is so long that it is copied in several transactions. Until that is done, or Until, nobody
// else changes the thread.
type copyingDoc struct {
	By    string    `bson:"by"` // names one attempt
	Until time.Time `bson:"until"`
}

// of are the layouts in which a post's thread lies; the first is that which is read. The transaction has written the post, so
// that nobody changes them before it ends.
func (t movingThreads) of(ctx context.Context, post social.PostID) ([]threads, error) {
	h := t.s.inUse(ctx).threads
	if h.moving == nil {
		return []threads{h.read}, nil
	}
	var d homesDoc
	only := options.FindOne().SetProjection(mdb.Doc("homes", 1, "copying", 1))
	if err := mdb.OrNotFound(t.s.posts.FindOne(ctx, mdb.Doc("_id", post), only).Decode(&d)); err != nil {
		return nil, err
	}
	if d.Copying.Until.After(time.Now()) {
		return nil, fmt.Errorf("%w: the thread of post %s is being copied", mdb.ErrConflict, post.ID)
	}
	all := []threads{h.read}
	for _, layout := range d.Homes {
		home := h.moving[layout]
		if home == nil {
			return nil, fmt.Errorf("post %s says that its thread is kept in the layout %q, which nothing is moved from or to", post.ID, layout)
		}
		if home != h.read {
			all = append(all, home)
		}
	}
	return all, nil
}

// change does the same in each of a thread's homes.
func (t movingThreads) change(ctx context.Context, post social.PostID, do func(threads) error) error {
	homes, err := t.of(ctx, post)
	if err != nil {
		return err
	}
	if err := do(homes[0]); err != nil {
		return err
	}
	for _, home := range homes[1:] {
		err := do(home)
		if errors.Is(err, social.ErrNotFound) || errors.Is(err, social.ErrTaken) {
			err = fmt.Errorf("the two copies of the thread of post %s differ: %v", post.ID, err) //nolint:errorlint // nobody asked for what is missing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t movingThreads) insert(ctx context.Context, comments []*social.Comment) error {
	return t.change(ctx, comments[0].Post, func(home threads) error { return home.insert(ctx, comments) })
}

func (t movingThreads) edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	return t.change(ctx, post, func(home threads) error { return home.edit(ctx, post, comment, text, at) })
}

func (t movingThreads) remove(ctx context.Context, post social.PostID, comment social.CommentID) error {
	return t.change(ctx, post, func(home threads) error { return home.remove(ctx, post, comment) })
}

// removeThread looks everywhere: the post has gone already.
func (t movingThreads) removeThread(ctx context.Context, post social.PostID) error {
	h := t.s.inUse(ctx).threads
	if h.moving == nil {
		return h.read.removeThread(ctx, post)
	}
	for _, layout := range slices.Sorted(maps.Keys(h.moving)) {
		if err := h.moving[layout].removeThread(ctx, post); err != nil {
			return err
		}
	}
	return nil
}

func (t movingThreads) removePart(ctx context.Context, post social.PostID, most int) (did bool, err error) {
	h := t.s.inUse(ctx).threads
	if h.moving == nil {
		return h.read.removePart(ctx, post, most)
	}
	for _, layout := range slices.Sorted(maps.Keys(h.moving)) {
		some, err := h.moving[layout].removePart(ctx, post, most)
		if did = did || some; err != nil {
			return did, err
		}
	}
	return did, nil
}

func (t movingThreads) postOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	return t.read(ctx).postOf(ctx, comment)
}

func (t movingThreads) byID(ctx context.Context, ids []social.CommentID) ([]commentDoc, error) {
	return t.read(ctx).byID(ctx, ids)
}

func (t movingThreads) bySlug(ctx context.Context, links []social.Permalink) ([]commentDoc, error) {
	return t.read(ctx).bySlug(ctx, links)
}

func (t movingThreads) pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	return t.read(ctx).pages(ctx, lists)
}

func (t movingThreads) by(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	return t.read(ctx).by(ctx, lists)
}

func (t movingThreads) countBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return t.read(ctx).countBy(ctx, author, upTo)
}

func (t movingThreads) newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]commentDoc, error) {
	return t.read(ctx).newest(ctx, posts, without, n)
}
