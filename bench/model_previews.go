package bench

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

const (
	previewPosts = 2_000
	saidEach     = 30 // comments on a post
)

// The acts on previews.
const (
	actPreviews = "page with previews"
	actSay      = "comment"
	actEdit     = "edit of a comment"
)

func previewsSubject() subject {
	return subject{
		name: "previews", title: "The last three comments beside each post", usual: embedded,
		designs: map[string]func(*Options, *Rival) design{
			referenced: func(o *Options, r *Rival) design { return &previews{Rival: r, o: o} },
			embedded:   func(o *Options, r *Rival) design { return &previews{Rival: r, o: o, embed: true} },
		},
		pairs: []readAndWrite{{actPreviews, actSay}, {actPreviews, actEdit}},
	}
}

// previewPost is a post, with copies of its newest comments where these are embedded.
type previewPost struct {
	ID     bson.Binary `bson:"_id"`
	Author bson.Binary `bson:"author"`
	Detail struct {
		Text string `bson:"text"`
	} `bson:"detail"`
	CommentCount int          `bson:"commentCount"`
	Latest       []commentDoc `bson:"latest,omitempty"`
}

type commentDoc struct {
	ID     bson.Binary `bson:"_id"`
	Post   bson.Binary `bson:"post"`
	Slug   string      `bson:"slug"`
	Author bson.Binary `bson:"author"`
	Text   string      `bson:"text"`
}

// previews stores threads as one document per comment, and the posts with or without copies of the
// comments that a page shows.
type previews struct {
	*Rival

	o     *Options
	embed bool
}

func (d *previews) count() int { return d.o.scaled(previewPosts, 40) }

func (d *previews) load(ctx context.Context) error {
	if err := d.index(ctx, "comments", bson.D{{Key: "post", Value: 1}, {Key: "_id", Value: 1}}); err != nil {
		return err
	}
	w := newWriter(d.o.Seed)
	comments := make([]any, 0, d.count()*saidEach)
	for i := range d.count() {
		for k := range saidEach {
			comments = append(comments, aComment(i, k, w.text()))
		}
	}
	if err := d.fill(ctx, "comments", len(comments), func(i int) any { return comments[i] }); err != nil {
		return err
	}
	return d.fill(ctx, "posts", d.count(), func(i int) any {
		p := previewPost{ID: postID(i), Author: author(i % speakers).ID, CommentCount: saidEach}
		p.Detail.Text = w.text()
		for k := saidEach - social.PreviewSize; d.embed && k < saidEach; k++ {
			p.Latest = append(p.Latest, comments[i*saidEach+k].(commentDoc)) //nolint:errcheck,forcetypeassert // they were created above
		}
		return p
	})
}

// aComment returns the n-th comment on a post.
func aComment(post, n int, text string) commentDoc {
	own := derived(began.Add(time.Duration(n)*time.Second), fmt.Sprint("reply/", post), n)
	return commentDoc{ID: uuid(own), Post: postID(post), Slug: own.String()[18:], Author: author(n % speakers).ID, Text: text}
}

func (d *previews) acts() []act {
	return []act{
		{name: actPreviews, do: d.page},
		{name: actSay, do: d.say},
		{name: actEdit, do: d.edit},
	}
}

func (d *previews) page(ctx context.Context, n int) error {
	ids := postPage(n, 0, d.count())
	if _, err := find[previewPost](ctx, d.posts(), ids); err != nil || d.embed {
		return err
	}
	return d.newest(ctx, ids)
}

// newest reads the last comments of all posts by the index, in one command, which reads the index
// once for each post.
func (d *previews) newest(ctx context.Context, posts []bson.Binary) error {
	last := func(post bson.Binary) bson.A {
		return bson.A{
			bson.D{{Key: "$match", Value: bson.D{{Key: "post", Value: post}}}},
			bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: -1}}}},
			bson.D{{Key: "$limit", Value: shownEach}},
		}
	}
	pipeline := last(posts[0])
	for _, post := range posts[1:] {
		pipeline = append(pipeline, bson.D{{Key: "$unionWith", Value: bson.D{{Key: "coll", Value: "comments"}, {Key: "pipeline", Value: last(post)}}}})
	}
	cursor, err := d.database.Collection("comments").Aggregate(ctx, pipeline)
	if err != nil {
		return err
	}
	var all []commentDoc
	if err := cursor.All(ctx, &all); err != nil {
		return err
	}
	if len(all) != shownEach*len(posts) {
		return fmt.Errorf("%d comments of %d posts", len(all), len(posts))
	}
	return nil
}

func (d *previews) say(ctx context.Context, n int) error {
	post := n % d.count()
	c := aComment(post, saidEach+n, said)
	update := bson.D{{Key: "$inc", Value: bson.D{{Key: "commentCount", Value: 1}}}}
	if d.embed {
		push := bson.D{
			{Key: "$each", Value: bson.A{c}}, {Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "$slice", Value: -social.PreviewSize},
		}
		update = append(update, bson.E{Key: "$push", Value: bson.D{{Key: "latest", Value: push}}})
	}
	return d.transact(ctx, func(ctx context.Context) error {
		if _, err := d.database.Collection("comments").InsertOne(ctx, c); err != nil {
			return err
		}
		return changeOne(ctx, d.posts(), bson.D{{Key: "_id", Value: c.Post}}, update)
	})
}

// edit changes a comment that is shown beside its post.
func (d *previews) edit(ctx context.Context, n int) error {
	c := aComment(n%d.count(), saidEach-1, fmt.Sprint(said, " Edited: ", n))
	text := bson.D{{Key: "$set", Value: bson.D{{Key: "text", Value: c.Text}}}}
	return d.transact(ctx, func(ctx context.Context) error {
		err := changeOne(ctx, d.database.Collection("comments"), bson.D{{Key: "_id", Value: c.ID}}, text)
		if err != nil || !d.embed {
			return err
		}
		copies := options.UpdateOne().SetArrayFilters([]any{bson.D{{Key: "c._id", Value: c.ID}}})
		_, err = d.posts().UpdateOne(ctx, bson.D{{Key: "_id", Value: c.Post}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "latest.$[c].text", Value: c.Text}}}}, copies)
		return err
	})
}
