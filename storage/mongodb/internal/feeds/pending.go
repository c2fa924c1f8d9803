package feeds

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// A job pushes a post to feeds some time after its commit. A reader who has seen a newer post
// meanwhile, and reads on from there, would miss it. So reads merge in what jobs have not pushed
// yet. They read both in one snapshot, so that each post is in a list or in a job.

// maxPending is how many posts on their way are merged into a page. If there are more, the page is
// read as in the layout read.
const maxPending = 200

// pendingFloors has a floor for each kind of push: no job is about it, or about a post before it.
// Without one, each page would walk over the index entries of all jobs that were finished recently,
// which mongod keeps for minutes. Ids of posts are in the order of their commits (ADR 27), so when
// no job is left for a known post and those before it, there will be none, except for backdated
// posts, which pages lack until they are delivered. No clock of a server or of mongod is involved.
type pendingFloors struct {
	mu     sync.Mutex
	newest social.PostID // that is known
	of     map[jobs.Kind]pendingFloor
}

type pendingFloor struct {
	floor  social.PostID
	next   social.PostID // the next floor
	doneAt time.Time     // when no job was left for next and those before it; zero: some are
}

// floorAge is how long no job has been left when a post becomes a floor: after a fail-over, a read
// may have an older snapshot than one that began before it.
const floorAge = 10 * time.Second

func newPendingFloors() *pendingFloors {
	return &pendingFloors{of: map[jobs.Kind]pendingFloor{}}
}

func (f *pendingFloors) get(kind jobs.Kind) social.PostID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of[kind].floor
}

// note takes account of a post that was committed.
func (f *pendingFloors) note(post social.PostID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if post.Compare(f.newest.ID) > 0 {
		f.newest = post
	}
}

// raise takes account of all posts after the floor, in order, that jobs had yet to push at a time.
func (f *pendingFloors) raise(kind jobs.Kind, posts []jobs.Pending, at time.Time) {
	if len(posts) > 0 {
		f.note(posts[len(posts)-1].Post)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.of[kind]
	switch {
	case len(posts) > 0 && posts[0].Post.Compare(of.next.ID) <= 0:
		of.doneAt = time.Time{}
	case of.doneAt.IsZero():
		of.doneAt = at
	case at.Sub(of.doneAt) >= floorAge:
		of = pendingFloor{floor: of.next, next: f.newest}
	}
	f.of[kind] = of
}

// pending reads the posts within a page's bounds that jobs of a kind have yet to push. It returns
// false if there are too many.
func (e *base) pending(ctx context.Context, kind jobs.Kind, p social.Page) (posts []jobs.Pending, ok bool, err error) {
	now, after := time.Now(), social.Key(e.floors.get(kind).Bytes())
	bounds := mdb.Doc("$gt", mdb.IDKey(max(after, p.Before)))
	if p.After != "" {
		bounds = append(bounds, bson.E{Key: "$lt", Value: mdb.IDKey(p.After)})
	}
	posts, err = e.jobs.Pending(ctx, kind, bounds, maxPending)
	ok = err == nil && len(posts) < maxPending
	if ok && p.After == "" && p.Before <= after {
		e.floors.raise(kind, posts, now)
	}
	return posts, ok, err
}

// pendingNews returns those posts that are by each viewer or by people that the viewer follows. No
// viewer comes twice.
func (e *base) pendingNews(ctx context.Context, kind jobs.Kind, viewers []social.UserID, p social.Page) (news map[social.UserID][]social.PostID, ok bool, err error) {
	posts, ok, err := e.pending(ctx, kind, p)
	if err != nil || !ok || len(posts) == 0 {
		return nil, ok, err
	}
	authors := batch.Unique(mdb.Map(posts, func(p *jobs.Pending) social.UserID { return p.Author }))
	follows, err := e.follows.Among(ctx, viewers, authors)
	if err != nil {
		return nil, false, err
	}
	news = make(map[social.UserID][]social.PostID, len(viewers))
	for _, viewer := range viewers {
		for _, p := range posts {
			if p.Author == viewer || follows[social.Pair{Viewer: viewer, Other: p.Author}] {
				news[viewer] = append(news[viewer], p.Post)
			}
		}
	}
	return news, true, nil
}

// pendingOnWalls returns the posts on their way to walls, by the walls' owners.
func (e *base) pendingOnWalls(ctx context.Context, kind jobs.Kind, p social.Page) (walls map[social.UserID][]social.PostID, ok bool, err error) {
	posts, ok, err := e.pending(ctx, kind, p)
	walls = map[social.UserID][]social.PostID{}
	for _, p := range posts {
		walls[p.Wall] = append(walls[p.Wall], p.Post)
	}
	return walls, ok, err
}

// pushJobs returns the jobs that push new posts.
func pushJobs(kind jobs.Kind, posts []*social.Post) []jobs.Job {
	return mdb.Map(posts, func(p **social.Post) jobs.Job {
		return jobs.Job{Kind: kind, Author: (*p).Author, Post: (*p).ID, Wall: (*p).WallOwner}
	})
}
