package mongodb

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

// postDoc is a document of posts. It holds everything that a feed shows of a post, its newest
// comments included.
type postDoc struct {
	ID        social.PostID     `bson:"_id"`
	Version   int               `bson:"v"`
	Seq       social.PostID     `bson:"seq"` // the id again: see indexes
	Author    social.UserID     `bson:"author"`
	WallOwner social.UserID     `bson:"wallOwner"`
	Audience  audience.Document `bson:"audience"`
	Inbox     []bson.Binary     `bson:"inbox,omitempty"` // whose Incoming it is in: see inboxOf

	ReplyKind    social.ReplyKind    `bson:"replyKind,omitempty"` // absent: everyone
	ReplyCircles []social.CircleID   `bson:"replyCircles,omitempty"`
	CommentOrder social.CommentOrder `bson:"commentOrder,omitempty"` // absent: oldest first
	Muters       int                 `bson:"muters,omitempty"`       // how many threadMutes there are

	Type           social.PostType    `bson:"type"`
	Detail         detailDoc          `bson:"detail"`
	EditedAt       time.Time          `bson:"editedAt,omitempty"`
	Edits          int                `bson:"edits,omitempty"` // how many postVersions there are
	Revision       int                `bson:"revision"`
	Changes        int                `bson:"changes"`         // every change that an answer shows is counted
	ThreadRevision int                `bson:"threadRevision"`  // every change of the thread is counted
	Homes          []string           `bson:"homes,omitempty"` // the layouts that hold the thread, if it is not only in the one that is read
	CommentCount   int                `bson:"commentCount"`
	Latest         []threads.Document `bson:"latest"`
	Reactions      reactionCounts     `bson:"reactions,omitempty"`
	Votes          []int              `bson:"votes,omitempty"`
}

func (d *postDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seq":
		r.ID(v, &d.Seq.ID)
	case "author":
		r.ID(v, &d.Author.ID)
	case "wallOwner":
		r.ID(v, &d.WallOwner.ID)
	case "audience":
		r.Inner(v, &d.Audience)
	case "type":
		mdb.ReadText(r, v, &d.Type)
	case "detail":
		r.Inner(v, &d.Detail)
	default:
		d.setRest(r, field, v)
	}
}

func (d *postDoc) setRest(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "editedAt":
		r.Time(v, &d.EditedAt)
	case "edits":
		r.Int(v, &d.Edits)
	case "revision":
		r.Int(v, &d.Revision)
	case "threadRevision":
		r.Int(v, &d.ThreadRevision)
	case "changes":
		r.Int(v, &d.Changes)
	case "commentCount":
		r.Int(v, &d.CommentCount)
	case "latest":
		mdb.ReadDocuments(r, v, &d.Latest)
	case "reactions":
		d.Reactions = reactionCounts{}
		r.Inner(v, d.Reactions)
	case "votes":
		mdb.ReadArray(r, v, &d.Votes, (*mdb.Reader).Int)
	case "inbox":
		mdb.ReadArray(r, v, &d.Inbox, (*mdb.Reader).Binary)
	case "homes":
		mdb.ReadArray(r, v, &d.Homes, (*mdb.Reader).Text)
	default:
		d.setSettings(r, field, v)
	}
}

func (d *postDoc) setSettings(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "replyKind":
		mdb.ReadText(r, v, &d.ReplyKind)
	case "replyCircles":
		mdb.ReadIDs(r, v, &d.ReplyCircles)
	case "commentOrder":
		mdb.ReadText(r, v, &d.CommentOrder)
	case "muters":
		r.Int(v, &d.Muters)
	}
}

func (d *postDoc) Evolve() error {
	d.Detail.evolve(d.Type)
	err := known("posts", d.Version)
	d.Version = postsVersion
	return err
}

// reactionCounts may hold zeros.
type reactionCounts map[social.ReactionKind]int

func (c reactionCounts) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	var n int
	r.Int(v, &n)
	c[social.ReactionKind(field)] = n
}

// versionDoc is a document of postVersions: the content of a post before an edit. It is stored
// apart from the post, because posts are read often and old versions rarely.
type versionDoc struct {
	Version  int               `bson:"v"`
	Post     social.PostID     `bson:"post"`
	Number   int               `bson:"number"` // the post's revision that replaced this version
	Audience audience.Document `bson:"audience"`
	Type     social.PostType   `bson:"type"`
	Detail   detailDoc         `bson:"detail"`
	EditedAt time.Time         `bson:"editedAt"`
}

func (d *versionDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "v":
		r.Int(v, &d.Version)
	case "post":
		r.ID(v, &d.Post.ID)
	case "number":
		r.Int(v, &d.Number)
	case "audience":
		r.Inner(v, &d.Audience)
	case "type":
		mdb.ReadText(r, v, &d.Type)
	case "detail":
		r.Inner(v, &d.Detail)
	case "editedAt":
		r.Time(v, &d.EditedAt)
	}
}

func (d *versionDoc) Evolve() error {
	d.Detail.evolve(d.Type)
	err := known("postVersions", d.Version)
	d.Version = postContentVersion
	return err
}

// detailDoc is the content of a post of any type. Each type uses some of the fields.
type detailDoc struct {
	Text      string    `bson:"text,omitempty"`
	URL       string    `bson:"url,omitempty"`
	Title     string    `bson:"title,omitempty"`
	Image     *imageDoc `bson:"image,omitempty"` // of a photo, and of a check-in that has one; in version 1 a photo's fields were beside its caption
	Caption   string    `bson:"caption,omitempty"`
	Width     int       `bson:"width,omitempty"`  // until version 1
	Height    int       `bson:"height,omitempty"` // until version 1
	Place     string    `bson:"place,omitempty"`
	Latitude  float64   `bson:"latitude,omitempty"`
	Longitude float64   `bson:"longitude,omitempty"`
	Question  string    `bson:"question,omitempty"`
	Options   []string  `bson:"options,omitempty"`
	ClosesAt  time.Time `bson:"closesAt,omitempty"`
}

func (d *detailDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "text":
		r.Text(v, &d.Text)
	case "image":
		d.Image = &imageDoc{}
		r.Inner(v, d.Image)
	case "url":
		r.Text(v, &d.URL)
	case "title":
		r.Text(v, &d.Title)
	case "caption":
		r.Text(v, &d.Caption)
	case "width":
		r.Int(v, &d.Width)
	case "height":
		r.Int(v, &d.Height)
	case "place":
		r.Text(v, &d.Place)
	case "latitude":
		r.Float(v, &d.Latitude)
	case "longitude":
		r.Float(v, &d.Longitude)
	case "question":
		r.Text(v, &d.Question)
	case "options":
		mdb.ReadArray(r, v, &d.Options, (*mdb.Reader).Text)
	case "closesAt":
		r.Time(v, &d.ClosesAt)
	}
}

func (d *detailDoc) evolve(t social.PostType) {
	if t == social.TypePhoto && d.Image == nil {
		d.Image = &imageDoc{URL: d.URL, Width: d.Width, Height: d.Height}
		d.URL, d.Width, d.Height = "", 0, 0
	}
}

// imageDoc is an image with its size and its alternative text.
type imageDoc struct {
	URL    string `bson:"url"`
	Alt    string `bson:"alt,omitempty"`
	Width  int    `bson:"width,omitempty"`
	Height int    `bson:"height,omitempty"`
}

func (d *imageDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "url":
		r.Text(v, &d.URL)
	case "alt":
		r.Text(v, &d.Alt)
	case "width":
		r.Int(v, &d.Width)
	case "height":
		r.Int(v, &d.Height)
	}
}
