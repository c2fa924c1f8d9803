package feeds

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// idArray returns a list of ids as a literal, which is never null.
func idArray[V ~struct{ id.ID }](ids []V) bson.D { return mdb.Doc("$literal", mdb.IDs(ids)) }

// ascending sorts ids. Those that are pushed later are mostly newer, and keep the order.
func ascending(ids any) bson.D { return mdb.Doc("$sortArray", mdb.Doc("input", ids, "sortBy", 1)) }

// firstIDs sorts ids as the list does, and returns those of the page.
func firstIDs(ids []social.PostID, p social.Page) []social.PostID {
	slices.SortFunc(ids, func(a, b social.PostID) int { return b.Compare(a.ID) })
	ids = slices.Compact(ids)
	if p.Last {
		return ids[max(0, len(ids)-p.Limit):]
	}
	return ids[:min(len(ids), p.Limit)]
}

// isWithin reports whether an id is within a page's bounds.
func isWithin(p social.Page, post social.PostID) bool {
	return (p.After == "" || string(post.ID[:]) < string(p.After)) && (p.Before == "" || string(post.ID[:]) > string(p.Before))
}

// from removes ids that are older than a floor.
func from(floor social.PostID, ids []social.PostID) []social.PostID {
	return slices.DeleteFunc(ids, func(post social.PostID) bool { return post.Compare(floor.ID) < 0 })
}

// keyID returns the post that a key names.
func keyID(k social.Key, none social.PostID) (post social.PostID) {
	if k == "" {
		return none
	}
	copy(post.ID[:], k)
	return post
}

// lastID is after every id.
var lastID = social.PostID{ID: mdb.LastID}

// newestFirst orders posts as every list of posts is.
func newestFirst(a, b *social.Post) int { return b.ID.Compare(a.ID.ID) }
