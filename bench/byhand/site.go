// Package byhand is a site's news, threads, posts and comments as a developer would write them with
// MongoDB's driver alone: without sessions, rules, GraphQL, events or retries. It is the baseline
// that Plaza's own pages are compared with.
//
// It has the cheapest design that we know: a list of post ids for each reader, and posts that embed
// their author and latest comments. A comment embeds its author, too. [Site.Normalise] stores a
// thread without that: then a new name shows at once, as in Plaza.
package byhand

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

// Site stores its data in a database. Ids are texts.
type Site struct {
	lists, posts, comments *mongo.Collection

	// A thread with only the ids of authors, and the authors.
	normalised, authors *mongo.Collection

	people map[social.UserID]author
}

// author is a person as posts and comments embed them.
type author struct {
	ID        string `bson:"_id" json:"id"`
	Handle    string `bson:"handle,omitempty" json:"handle"`
	Name      string `bson:"name,omitempty" json:"name"`
	AvatarURL string `bson:"avatarUrl,omitempty" json:"avatarUrl"`
}

// Post is a document, and an entry of the news.
type Post struct {
	ID           string     `bson:"_id" json:"id"`
	Type         string     `bson:"type" json:"__typename"`
	Text         string     `bson:"text" json:"text"`
	CreatedAt    time.Time  `bson:"createdAt" json:"createdAt"`
	EditedAt     *time.Time `bson:"editedAt,omitempty" json:"editedAt"`
	CommentCount int        `bson:"commentCount" json:"commentCount"`
	Author       author     `bson:"author" json:"author"`
	Latest       []preview  `bson:"latest" json:"latestComments"`
}

// previews is the number of comments that a post embeds.
const previews = 3

// preview is a comment as its post embeds it.
type preview struct {
	ID        string    `bson:"_id" json:"id"`
	Text      string    `bson:"text" json:"text"`
	CreatedAt time.Time `bson:"createdAt" json:"createdAt"`
	Author    struct {
		Handle string `bson:"handle" json:"handle"`
		Name   string `bson:"name" json:"name"`
	} `bson:"author" json:"author"`
}

// Comment is a document, and an entry of a thread.
type Comment struct {
	ID        string    `bson:"_id" json:"id"`
	Post      string    `bson:"post" json:"-"`
	Slug      string    `bson:"slug" json:"slug"`
	Depth     int       `bson:"depth" json:"depth"`
	Text      string    `bson:"text" json:"text"`
	CreatedAt time.Time `bson:"createdAt" json:"createdAt"`
	IsDeleted bool      `bson:"isDeleted" json:"isDeleted"`
	Author    author    `bson:"author" json:"author"`
}

// list is a reader's news, newest first.
type list struct {
	Reader string   `bson:"_id"`
	Posts  []string `bson:"posts"`
}

// Open creates the collections and the index in a database that is empty, for posts and comments by
// some people.
func Open(ctx context.Context, db *mongo.Database, people []social.User) (*Site, error) {
	s := &Site{
		people: map[social.UserID]author{}, lists: db.Collection("lists"), posts: db.Collection("posts"), comments: db.Collection("comments"),
		normalised: db.Collection("normalisedComments"), authors: db.Collection("authors"),
	}
	for _, u := range people {
		s.people[u.ID] = author{ID: u.ID.String(), Handle: u.Handle, Name: u.Name, AvatarURL: u.AvatarURL}
	}
	for _, c := range []*mongo.Collection{s.comments, s.normalised} {
		if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "post", Value: 1}, {Key: "_id", Value: 1}}}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Keep stores the ids of the posts in a reader's news, newest first.
func (s *Site) Keep(ctx context.Context, reader social.UserID, posts []string) error {
	if posts == nil {
		posts = []string{} // $in needs an array
	}
	_, err := s.lists.InsertOne(ctx, list{reader.String(), posts})
	return err
}

// Publish stores a text post.
func (s *Site) Publish(ctx context.Context, p *social.Post) error {
	_, err := s.posts.InsertOne(ctx, Post{
		ID: p.ID.String(), Type: "StatusPost", Text: p.Content.Status.Text, CreatedAt: p.CreatedAt(), Author: s.people[p.Author], Latest: []preview{},
	})
	return err
}

// Reply stores a comment, and embeds it in its post.
func (s *Site) Reply(ctx context.Context, given *social.Comment) error {
	c := Comment{
		ID: given.ID.String(), Post: given.Post.String(), Slug: given.Slug, Depth: given.Depth(), Text: given.Text, CreatedAt: given.CreatedAt(),
		Author: s.people[given.Author],
	}
	if _, err := s.comments.InsertOne(ctx, c); err != nil {
		return err
	}
	p := preview{ID: c.ID, Text: c.Text, CreatedAt: c.CreatedAt}
	p.Author.Handle, p.Author.Name = c.Author.Handle, c.Author.Name
	_, err := s.posts.UpdateOne(ctx, bson.D{{Key: "_id", Value: c.Post}}, bson.D{
		{Key: "$inc", Value: bson.D{{Key: "commentCount", Value: 1}}},
		{Key: "$push", Value: bson.D{{Key: "latest", Value: bson.D{{Key: "$each", Value: bson.A{p}}, {Key: "$slice", Value: -previews}}}}},
	})
	return err
}

// News returns a reader's newest posts as JSON.
func (s *Site) News(ctx context.Context, reader social.UserID, first int) ([]byte, error) {
	var l list
	newest := options.FindOne().SetProjection(bson.D{{Key: "posts", Value: bson.D{{Key: "$slice", Value: first}}}})
	if err := s.lists.FindOne(ctx, bson.D{{Key: "_id", Value: reader.String()}}, newest).Decode(&l); err != nil {
		return nil, err
	}
	cursor, err := s.posts.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: l.Posts}}}})
	if err != nil {
		return nil, err
	}
	var found []Post
	if err := cursor.All(ctx, &found); err != nil {
		return nil, err
	}
	byID := make(map[string]*Post, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	page := make([]*Post, 0, len(l.Posts))
	for _, id := range l.Posts {
		if p := byID[id]; p != nil {
			page = append(page, p)
		}
	}
	return json.Marshal(page)
}

// Thread returns a post's first comments as JSON, oldest first.
func (s *Site) Thread(ctx context.Context, post social.PostID, first int) ([]byte, error) {
	found, err := oldest(ctx, s.comments, post, first)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

// oldest reads a post's first comments, or all if first is 0.
func oldest(ctx context.Context, comments *mongo.Collection, post social.PostID, first int) (found []Comment, err error) {
	order := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(first))
	cursor, err := comments.Find(ctx, bson.D{{Key: "post", Value: post.String()}}, order)
	if err != nil {
		return nil, err
	}
	err = cursor.All(ctx, &found)
	return found, err
}

// Normalise stores a post's comments again, with only the ids of their authors, and all people.
// Call it once.
func (s *Site) Normalise(ctx context.Context, post social.PostID) error {
	found, err := oldest(ctx, s.comments, post, 0)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].Author = author{ID: found[i].Author.ID}
	}
	if _, err := s.normalised.InsertMany(ctx, found); err != nil {
		return err
	}
	_, err = s.authors.InsertMany(ctx, slices.Collect(maps.Values(s.people)))
	return err
}

// NormalisedThread returns the same as [Site.Thread]: it reads the authors by their ids.
func (s *Site) NormalisedThread(ctx context.Context, post social.PostID, first int) ([]byte, error) {
	found, err := oldest(ctx, s.normalised, post, first)
	if err != nil {
		return nil, err
	}
	authors := make(map[string]author, len(found))
	for i := range found {
		authors[found[i].Author.ID] = author{}
	}
	ids := slices.Collect(maps.Keys(authors))
	cursor, err := s.authors.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return nil, err
	}
	var people []author
	if err := cursor.All(ctx, &people); err != nil {
		return nil, err
	}
	for _, a := range people {
		authors[a.ID] = a
	}
	for i := range found {
		found[i].Author = authors[found[i].Author.ID]
	}
	return json.Marshal(found)
}
