package threads

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// replyCount is the number of new comments that reply to a parent.
type replyCount struct {
	post   social.PostID
	parent social.CommentID
	n      int
}

// repliesOf counts the replies among new comments by their parents.
func repliesOf(comments []Document) []replyCount {
	var counts []replyCount
	at := map[replyCount]int{}
	for i := range comments {
		of := replyCount{post: comments[i].Post, parent: comments[i].Parent}
		if of.parent.IsZero() {
			continue
		}
		if _, ok := at[of]; !ok {
			at[of] = len(counts)
			counts = append(counts, of)
		}
		counts[at[of]].n++
	}
	return counts
}

// addReplies adds to the counts of all parents in an array of comments, with one update of the
// document that match finds.
func addReplies(match bson.D, array string, counts []replyCount) *mongo.UpdateOneModel {
	add, filters := bson.D{}, make([]any, len(counts))
	for i, c := range counts {
		name := fmt.Sprint("p", i)
		filters[i] = mdb.Doc(name+"._id", c.parent)
		add = append(add, bson.E{Key: fmt.Sprintf("%s.$[%s].replies", array, name), Value: c.n})
	}
	return mongo.NewUpdateOneModel().SetFilter(match).SetUpdate(mdb.Doc("$inc", add)).SetArrayFilters(filters)
}
