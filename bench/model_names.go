package bench

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const (
	namedPeople = 500 // the authors of all posts and comments, all with the same number of them
	namedPosts  = 10_000
	busyPosts   = 1_000 // posts and comments of one additional author
	shownEach   = 3     // comments that a post has
)

// The acts on authors' names.
const (
	actNamedPage  = "page with names"
	actComment    = "comment"
	actRename     = "rename"
	actRenameBusy = "rename, many posts"
)

func namesSubject() subject {
	return subject{
		name: "names", title: "Names and avatars of authors", usual: referenced,
		designs: map[string]func(*Options, *Rival) design{
			referenced: func(o *Options, r *Rival) design {
				return &names[bson.Binary]{Rival: r, o: o, author: func(p authorDoc) bson.Binary { return p.ID }, lookUp: r.authorsOf}
			},
			embedded: func(o *Options, r *Rival) design {
				return &names[authorDoc]{Rival: r, o: o, author: func(p authorDoc) authorDoc { return p }, copies: r.renameCopies}
			},
		},
		pairs: []readAndWrite{{actNamedPage, actRename}, {actNamedPage, actRenameBusy}, {actNamedPage, actComment}},
	}
}

// authorDoc is the part of a user that a page shows.
type authorDoc struct {
	ID        bson.Binary `bson:"_id"`
	Handle    string      `bson:"handle"`
	Name      string      `bson:"name"`
	AvatarURL string      `bson:"avatarUrl"`
}

func author(n int) authorDoc {
	p := newPerson(n).User
	return authorDoc{ID: uuid(p.ID.ID), Handle: p.Handle, Name: p.Name, AvatarURL: p.AvatarURL}
}

// namedPost is a post whose authors are ids, or copies.
type namedPost[A any] struct {
	ID     bson.Binary `bson:"_id"`
	Author A           `bson:"author"`
	Detail struct {
		Text string `bson:"text"`
	} `bson:"detail"`
	CommentCount int               `bson:"commentCount"`
	Latest       []namedComment[A] `bson:"latest"`
}

type namedComment[A any] struct {
	ID     bson.Binary `bson:"_id"`
	Slug   string      `bson:"slug"`
	Author A           `bson:"author"`
	Text   string      `bson:"text"`
}

// names stores authors in posts and in their newest comments: A is an id, or a copy.
type names[A any] struct {
	*Rival

	o      *Options
	author func(authorDoc) A
	lookUp func(ctx context.Context, posts []namedPost[A]) error         // reads the names that the posts lack; nil if they lack none
	copies func(ctx context.Context, who bson.Binary, name string) error // renames the copies; nil if there are none
}

func (d *names[A]) people() int { return d.o.scaled(namedPeople, 10) }
func (d *names[A]) usual() int  { return d.o.scaled(namedPosts, 40) }
func (d *names[A]) busy() int   { return d.o.scaled(busyPosts, 20) }

func (d *names[A]) load(ctx context.Context) error {
	prefix := "author"
	if d.copies != nil {
		prefix = "author._id"
		if err := d.index(ctx, "posts", bson.D{{Key: "latest.author._id", Value: 1}}); err != nil {
			return err
		}
	}
	if err := d.index(ctx, "posts", bson.D{{Key: prefix, Value: 1}, {Key: "_id", Value: -1}}); err != nil {
		return err
	}
	people := d.people()
	if err := d.fill(ctx, "users", people+1, func(i int) any { return author(i) }); err != nil {
		return err
	}
	w := newWriter(d.o.Seed)
	return d.fill(ctx, "posts", d.usual()+d.busy(), func(i int) any {
		p := namedPost[A]{ID: postID(i), Author: d.author(author(people)), CommentCount: shownEach}
		if i < d.usual() {
			p.Author = d.author(author(i % people))
		}
		p.Detail.Text = w.text()
		for k := range shownEach {
			p.Latest = append(p.Latest, d.comment(w.text(), i, k, (i+7*k+1)%people))
		}
		return p
	})
}

func (d *names[A]) comment(text string, post, n, by int) namedComment[A] {
	own := derived(began, fmt.Sprint("reply/", post), n)
	return namedComment[A]{ID: uuid(own), Slug: own.String()[18:], Author: d.author(author(by)), Text: text}
}

func (d *names[A]) acts() []act {
	return []act{
		{name: actNamedPage, do: d.page},
		{name: actComment, do: d.reply},
		{name: actRename, do: func(ctx context.Context, n int) error { return d.rename(ctx, n%d.people(), n) }},
		{name: actRenameBusy, most: 2, do: func(ctx context.Context, n int) error { return d.rename(ctx, d.people(), n) }},
	}
}

func (d *names[A]) page(ctx context.Context, n int) error {
	posts, err := find[namedPost[A]](ctx, d.posts(), postPage(n, 0, d.usual()))
	if err == nil && d.lookUp != nil {
		err = d.lookUp(ctx, posts)
	}
	return err
}

// authorsOf reads the users that a page shows, in one command.
func (r *Rival) authorsOf(ctx context.Context, posts []namedPost[bson.Binary]) error {
	seen, ids := map[string]bool{}, []bson.Binary(nil)
	add := func(who bson.Binary) {
		if !seen[string(who.Data)] {
			seen[string(who.Data)] = true
			ids = append(ids, who)
		}
	}
	for _, p := range posts {
		add(p.Author)
		for _, c := range p.Latest {
			add(c.Author)
		}
	}
	_, err := find[authorDoc](ctx, r.database.Collection("users"), ids)
	return err
}

// reply adds a comment to the newest ones of a post.
func (d *names[A]) reply(ctx context.Context, n int) error {
	c := d.comment(said, n%d.usual(), shownEach+n, n%d.people())
	return d.transact(ctx, func(ctx context.Context) error {
		push := bson.D{{Key: "$each", Value: bson.A{c}}, {Key: "$slice", Value: -shownEach}}
		return changeOne(ctx, d.posts(), bson.D{{Key: "_id", Value: postID(n % d.usual())}}, bson.D{
			{Key: "$inc", Value: bson.D{{Key: "commentCount", Value: 1}}},
			{Key: "$push", Value: bson.D{{Key: "latest", Value: push}}},
		})
	})
}

func (d *names[A]) rename(ctx context.Context, who, n int) error {
	user, name := author(who).ID, fmt.Sprintf("Person %d, named %d", who, n)
	err := d.transact(ctx, func(ctx context.Context) error {
		return changeOne(ctx, d.database.Collection("users"), bson.D{{Key: "_id", Value: user}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}})
	})
	if err == nil && d.copies != nil {
		err = d.copies(ctx, user, name)
	}
	return err
}

// renameCopies does the work that a rename leaves for later, if names are copied.
func (r *Rival) renameCopies(ctx context.Context, who bson.Binary, name string) error {
	for _, where := range []struct {
		field, set string
		arrays     []any
	}{
		{"author._id", "author.name", nil},
		{"latest.author._id", "latest.$[c].author.name", []any{bson.D{{Key: "c.author._id", Value: who}}}},
	} {
		_, err := r.posts().UpdateMany(ctx, bson.D{{Key: where.field, Value: who}}, bson.D{{Key: "$set", Value: bson.D{{Key: where.set, Value: name}}}},
			options.UpdateMany().SetArrayFilters(slices.Clip(where.arrays)))
		if err != nil {
			return err
		}
	}
	return nil
}
