package mongodb

import (
	"context"
	"errors"
	"slices"
	"sync"

	"plaza/id"
	"plaza/social"
)

// maxTogether is how many comments one transaction takes: it must end soon, also on a slow disk.
const maxTogether = 32

// newComment is a comment that waits to be stored.
type newComment struct {
	comment *social.Comment
	event   social.Event
	done    chan error      // gets its result; has room for it
	left    <-chan struct{} // closed when nobody waits for that any more
}

// hasLeft says whether who called has been told that it took too long. What has not begun by then must not: it would come at any time, also when
// its author has been gone for long.
func (c *newComment) hasLeft() bool {
	select {
	case <-c.left:
		return true
	default:
		return false
	}
}

// commentQueue holds the comments that wait for their posts. Writers of one thread can't run side by side (see comment.go): what comes in while
// one transaction runs goes into the next one together, so that a hot thread waits for the disk once a transaction, not once a comment.
type commentQueue struct {
	mu      sync.Mutex
	waiting map[social.PostID][]*newComment // a post that is here has a goroutine that stores its comments
}

func newCommentQueue() *commentQueue {
	return &commentQueue{waiting: map[social.PostID][]*newComment{}}
}

// add queues a comment, and says whether somebody has to begin storing the post's.
func (q *commentQueue) add(c *newComment) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	post := c.comment.Post
	waiting, running := q.waiting[post]
	q.waiting[post] = append(waiting, c)
	return !running
}

// take removes the next comments of a post. None: the goroutine has to end.
func (q *commentQueue) take(post social.PostID) []*newComment {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := slices.DeleteFunc(q.waiting[post], (*newComment).hasLeft)
	if len(waiting) == 0 {
		delete(q.waiting, post)
		return nil
	}
	n := min(len(waiting), maxTogether)
	q.waiting[post] = waiting[n:]
	return waiting[:n]
}

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	copied := *c // it may outlive this call
	own := &newComment{comment: &copied, event: e, done: make(chan error, 1), left: limited.Done()}
	if s.queue.add(own) {
		// Others may join: it does not end with this caller.
		go s.storeComments(context.WithoutCancel(ctx), c.Post)
	}
	select {
	case err := <-own.done:
		return err
	case <-limited.Done():
		return translate(ctx, "insert comment", limited.Err())
	}
}

// storeComments stores a post's comments until none is waiting.
func (s *Store) storeComments(ctx context.Context, post social.PostID) {
	for batch := s.queue.take(post); len(batch) > 0; batch = s.queue.take(post) {
		err := s.insertComments(ctx, batch)
		if len(batch) > 1 && err != nil && !errors.Is(err, social.ErrUnavailable) {
			// One of them is refused, and takes the others along: each for itself.
			for i := range batch {
				if !batch[i].hasLeft() {
					batch[i].done <- s.insertComments(ctx, batch[i:i+1])
				}
			}
			continue
		}
		for _, c := range batch {
			c.done <- err
		}
	}
}

// insertComments stores comments on one post in one transaction.
func (s *Store) insertComments(ctx context.Context, batch []*newComment) error {
	comments := each(batch, func(c **newComment) *social.Comment { return (*c).comment })
	events := each(batch, func(c **newComment) social.Event { return (*c).event })
	post := comments[0].Post
	return s.write(ctx, "insert comment", []id.ID{post.ID}, func(ctx context.Context) error {
		if err := s.countComments(ctx, comments); err != nil {
			return err
		}
		if err := s.threads.insert(ctx, comments); err != nil {
			return err
		}
		if err := s.append(ctx, events...); err != nil {
			return err
		}
		return s.feeds.postChanged(ctx, post)
	})
}
