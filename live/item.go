package live

import (
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// Change is the kind of a live update.
type Change string

// Added means that something is new, Changed that it is different, and Removed that it is gone or
// hidden from the subscriber; then the item has only its id. Gap means that an unknown number of
// updates was missed, and the item has nothing else.
const (
	Added   Change = "ADDED"
	Changed Change = "CHANGED"
	Removed Change = "REMOVED"
	Gap     Change = "GAP"
)

// Item is a live update as one subscriber may see it.
type Item struct {
	Key   social.Key // of the post, or of the comment in its thread, oldest first
	Event Change
	// Cursor is the text of the key, which the receiver sets.
	Cursor *string
	// PostID is set in changes of posts, and CommentID in changes of comments.
	PostID    social.PostID
	CommentID social.CommentID
	Post      *social.Post
	Comment   *social.Comment // nil: the post itself is new
	// NotificationID is set in updates of notifications, which have no post, and Notification if it
	// is not removed. IsInFront means that it is new or has another act.
	NotificationID social.NotificationID
	Notification   *social.Notification
	IsInFront      bool
	// People are the users that the item names, and Relations are the subscriber's relations to
	// them, as they were checked for this item.
	People    map[social.UserID]*social.User
	Relations map[social.UserID]social.Relation

	seen *sighting
	view string
}

// Shared returns the result of encode for one of the subscribers who made this selection and have
// the same view of the item (see network.Sighting.View): the item is encoded once for all of them.
// The result must depend on nothing else of the subscriber.
func (i *Item) Shared(selection any, encode func() []byte) []byte {
	return i.seen.shared(encodingKey{selection, i.view}, encode)
}

// isReadWith reports whether the data of two items was read together. Otherwise one of them may name
// users who have been hidden since the other was read.
func (i *Item) isReadWith(other *Item) bool {
	return i.seen != nil && other.seen != nil && i.seen.at == other.seen.at
}

// moment is when data was read.
type moment struct{ hidings network.Moment }

// sighting is the data that was read for an update, and the users who may see it. It is valid for a
// viewer until something may have been hidden from them.
type sighting struct {
	network.Sighting

	at *moment // the same for data that was read together

	mu      sync.Mutex
	encoded map[encodingKey]*encoding
}

type encodingKey struct {
	selection any
	view      string
}

type encoding struct {
	once sync.Once
	text []byte
}

func newSighting(found network.Sighting, at *moment) *sighting {
	return &sighting{Sighting: found, at: at, encoded: map[encodingKey]*encoding{}}
}

func (g *sighting) shared(key encodingKey, encode func() []byte) []byte {
	g.mu.Lock()
	e := g.encoded[key]
	if e == nil {
		e = &encoding{}
		g.encoded[key] = e
	}
	g.mu.Unlock()
	e.once.Do(func() { e.text = encode() })
	return e.text
}
