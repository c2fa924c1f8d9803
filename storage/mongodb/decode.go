package mongodb

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
)

// What is read in numbers is decoded by hand: a news page holds some 2,000 values, and the driver's decoder takes about
// four times as long for them, and 4 KB for each document. Writing goes through the struct tags; a test compares the two.

// document is a stored document that reads itself.
type document interface {
	// set takes one field. Fields that it does not know it leaves out. Neither slice may be kept.
	set(r *reading, field []byte, v bsoncore.Value)
}

// reading reads a document, and keeps the first error.
type reading struct {
	field []byte
	err   error
}

// readDocument sets all fields of d.
func readDocument(raw []byte, d document) error {
	var r reading
	r.document(raw, d)
	return r.err
}

func (r *reading) document(raw []byte, d document) {
	r.elements(raw, func(field []byte, v bsoncore.Value) {
		if v.Type != bsoncore.TypeNull {
			d.set(r, field, v)
		}
	})
	if e, ok := d.(evolving); ok && r.err == nil {
		r.err = e.evolve()
	}
}

// elements calls do with each element of a document, or of an array.
func (r *reading) elements(raw []byte, do func(field []byte, v bsoncore.Value)) {
	length, rest, ok := bsoncore.ReadLength(raw)
	ok = ok && int(length) == len(raw)
	for ok && len(rest) > 1 {
		var v bsoncore.Value
		if r.field, v, rest, ok = readElement(rest); ok {
			do(r.field, v)
		}
	}
	if !ok || len(rest) != 1 || rest[0] != 0 {
		r.failf("is malformed")
	}
}

// readElement takes the first element off. Its name stays bytes, which switch compares as they lie there: to make a text of each, or to
// look it up, takes as long as all the rest.
func readElement(raw []byte) (field []byte, v bsoncore.Value, rest []byte, ok bool) {
	t, rest, ok := bsoncore.ReadType(raw)
	if ok {
		field, rest, ok = bsoncore.ReadKeyBytes(rest)
	}
	if ok {
		v, rest, ok = bsoncore.ReadValue(rest, t)
	}
	return field, v, rest, ok
}

func (r *reading) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("field %q %s", r.field, fmt.Sprintf(format, args...))
	}
}

// check reports a value of another type than is due.
func (r *reading) check(ok bool, v bsoncore.Value) bool {
	if !ok {
		r.failf("is a %v", v.Type)
	}
	return ok
}

func (r *reading) id(v bsoncore.Value, to *id.ID) {
	_, data, ok := v.BinaryOK()
	if r.check(ok && len(data) == len(to), v) {
		copy(to[:], data)
	}
}

func (r *reading) binary(v bsoncore.Value, to *bson.Binary) {
	subtype, data, ok := v.BinaryOK()
	if r.check(ok, v) {
		*to = bson.Binary{Subtype: subtype, Data: append([]byte(nil), data...)}
	}
}

func (r *reading) text(v bsoncore.Value, to *string) {
	text, ok := v.StringValueOK()
	if r.check(ok, v) {
		*to = text
	}
}

// readText is text for the domain's named string types.
func readText[T ~string](r *reading, v bsoncore.Value, to *T) {
	text, ok := v.StringValueOK()
	if r.check(ok, v) {
		*to = T(text)
	}
}

func (r *reading) int(v bsoncore.Value, to *int) {
	n, ok := v.AsInt64OK()
	if r.check(ok, v) {
		*to = int(n)
	}
}

func (r *reading) micros(v bsoncore.Value, to *ads.Micros) {
	n, ok := v.AsInt64OK()
	if r.check(ok, v) {
		*to = ads.Micros(n)
	}
}

func (r *reading) float(v bsoncore.Value, to *float64) {
	f, ok := v.DoubleOK()
	if r.check(ok, v) {
		*to = f
	}
}

func (r *reading) bool(v bsoncore.Value, to *bool) {
	b, ok := v.BooleanOK()
	if r.check(ok, v) {
		*to = b
	}
}

func (r *reading) time(v bsoncore.Value, to *time.Time) {
	ms, ok := v.DateTimeOK()
	if r.check(ok, v) {
		*to = time.UnixMilli(ms).UTC()
	}
}

// readArray reads each element of an array.
func readArray[T any](r *reading, v bsoncore.Value, to *[]T, read func(*reading, bsoncore.Value, *T)) {
	if !r.check(v.Type == bsoncore.TypeArray, v) {
		return
	}
	n := 0
	r.elements(v.Data, func([]byte, bsoncore.Value) { n++ })
	all := make([]T, 0, n)
	r.elements(v.Data, func(_ []byte, v bsoncore.Value) {
		all = append(all, *new(T))
		read(r, v, &all[len(all)-1])
	})
	*to = all
}

// readDocuments reads an array of documents.
func readDocuments[D any, P interface {
	*D
	document
}](r *reading, v bsoncore.Value, to *[]D) {
	readArray(r, v, to, func(r *reading, v bsoncore.Value, d *D) { r.inner(v, P(d)) })
}

func (r *reading) inner(v bsoncore.Value, d document) {
	raw, ok := v.DocumentOK()
	if r.check(ok, v) {
		r.document(raw, d)
	}
}

func (r *reading) circles(v bsoncore.Value, to *[]social.CircleID) {
	readArray(r, v, to, func(r *reading, v bsoncore.Value, c *social.CircleID) { r.id(v, &c.ID) })
}

// readAll reads what is left of a cursor, and closes it.
func readAll[D any](ctx context.Context, cursor *mongo.Cursor, expect int) ([]D, error) {
	defer cursor.Close(context.WithoutCancel(ctx))
	var docs []D
	for cursor.Next(ctx) {
		if docs == nil {
			docs = make([]D, 0, min(expect, cursor.RemainingBatchLength()+1))
		}
		docs = append(docs, *new(D))
		if err := readCurrent(cursor, &docs[len(docs)-1]); err != nil {
			return nil, err
		}
	}
	return docs, cursor.Err()
}

// readCurrent leaves documents that don't read themselves to the driver.
func readCurrent(cursor *mongo.Cursor, to any) error {
	if d, ok := to.(document); ok {
		return readDocument(cursor.Current, d)
	}
	return cursor.Decode(to)
}

// valueList is a list of values for $in, written without reflection where it is one of ids or keys.
func valueList[V any](values []V) any {
	switch v := any(values).(type) {
	case []social.UserID:
		return idList(v)
	case []social.PostID:
		return idList(v)
	case []social.CommentID:
		return idList(v)
	case []social.CircleID:
		return idList(v)
	case []bson.Binary:
		return binaryList(len(v), func(list []byte, i int) []byte { return bsoncore.AppendBinary(list, v[i].Subtype, v[i].Data) })
	}
	return values
}

func idList[V ~struct{ id.ID }](ids []V) bson.RawValue {
	return binaryList(len(ids), func(list []byte, i int) []byte {
		raw := struct{ id.ID }(ids[i])
		return bsoncore.AppendBinary(list, bson.TypeBinaryUUID, raw.ID[:])
	})
}

// binaryList is an array of n binary values, each of which add appends.
func binaryList(n int, add func(list []byte, i int) []byte) bson.RawValue {
	const usual = 50 // bytes of an element, at most, with its index
	start, list := bsoncore.AppendArrayStart(make([]byte, 0, 5+n*usual))
	for i := range n {
		list = append(strconv.AppendInt(append(list, byte(bsoncore.TypeBinary)), int64(i), 10), 0)
		list = add(list, i)
	}
	list, _ = bsoncore.AppendArrayEnd(list, start) // it can't fail: start is where it started
	return bson.RawValue{Type: bson.TypeArray, Value: list}
}

func (d *userDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.ID.ID)
	case "v":
		r.int(v, &d.Version)
	case "handle":
		r.text(v, &d.Handle)
	case "name":
		r.text(v, &d.Name)
	case "nameOrder":
		r.text(v, &d.NameOrder)
	case "bio":
		r.text(v, &d.Bio)
	case "avatarUrl":
		r.text(v, &d.AvatarURL)
	case "wallPolicy":
		readText(r, v, &d.WallPolicy)
	case "followers":
		r.int(v, &d.Followers)
	case "following":
		r.int(v, &d.Following)
	case "rights":
		readArray(r, v, &d.Rights, readText[social.Right])
	}
}

func (d *profileDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.User.ID)
	case "v":
		r.int(v, &d.Version)
	case "properties":
		readDocuments(r, v, &d.Properties)
	}
}

func (d *profileValueDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "k":
		r.id(v, &d.Property.ID)
	case "a":
		readText(r, v, &d.Visibility)
	case "v":
		if n, ok := v.DoubleOK(); ok {
			d.Value = n
			return
		}
		var text string
		r.text(v, &text)
		d.Value = text
	case "t":
		r.text(v, &d.Text)
	}
}

func (d *sessionDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.binary(v, &d.TokenHash)
	case "v":
		r.int(v, &d.Version)
	case "user":
		r.id(v, &d.User.ID)
	case "expiresAt":
		r.time(v, &d.ExpiresAt)
	}
}

func (d *circleDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.ID.ID)
	case "v":
		r.int(v, &d.Version)
	case "owner":
		r.id(v, &d.Owner.ID)
	case "name":
		r.text(v, &d.Name)
	case "nameKey":
		r.text(v, &d.NameKey)
	case "isDefault":
		r.bool(v, &d.IsDefault)
	case "members":
		r.int(v, &d.Members)
	}
}

func (d *edgeDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.binary(v, &d.ID)
	case "v":
		r.int(v, &d.Version)
	case "owner":
		r.id(v, &d.Owner.ID)
	case "other":
		r.id(v, &d.Other.ID)
	case "follow":
		r.id(v, &d.Follow.ID)
	case "circles":
		r.circles(v, &d.Circles)
	case "mute":
		r.id(v, &d.Mute.ID)
	case "block":
		r.id(v, &d.Block.ID)
	case "blockedBy":
		r.bool(v, &d.BlockedBy)
	case "gone":
		r.bool(v, &d.Gone)
	}
}

func (d *postDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.ID.ID)
	case "v":
		r.int(v, &d.Version)
	case "seq":
		r.id(v, &d.Seq.ID)
	case "author":
		r.id(v, &d.Author.ID)
	case "wallOwner":
		r.id(v, &d.WallOwner.ID)
	case "audience":
		r.inner(v, &d.Audience)
	case "type":
		readText(r, v, &d.Type)
	case "detail":
		r.inner(v, &d.Detail)
	default:
		d.setRest(r, field, v)
	}
}

func (d *postDoc) setRest(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "editedAt":
		r.time(v, &d.EditedAt)
	case "edits":
		r.int(v, &d.Edits)
	case "revision":
		r.int(v, &d.Revision)
	case "threadRevision":
		r.int(v, &d.ThreadRevision)
	case "changes":
		r.int(v, &d.Changes)
	case "commentCount":
		r.int(v, &d.CommentCount)
	case "latest":
		readDocuments(r, v, &d.Latest)
	case "reactions":
		d.Reactions = reactionCounts{}
		r.inner(v, d.Reactions)
	case "votes":
		readArray(r, v, &d.Votes, (*reading).int)
	case "inbox":
		readArray(r, v, &d.Inbox, (*reading).binary)
	case "homes":
		readArray(r, v, &d.Homes, (*reading).text)
	default:
		d.setSettings(r, field, v)
	}
}

func (d *postDoc) setSettings(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "replyKind":
		readText(r, v, &d.ReplyKind)
	case "replyCircles":
		r.circles(v, &d.ReplyCircles)
	case "commentOrder":
		readText(r, v, &d.CommentOrder)
	case "muters":
		r.int(v, &d.Muters)
	}
}

func (c reactionCounts) set(r *reading, field []byte, v bsoncore.Value) {
	var n int
	r.int(v, &n)
	c[social.ReactionKind(field)] = n
}

func (d *audienceDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "kind":
		readText(r, v, &d.Kind)
	case "circles":
		r.circles(v, &d.Circles)
	}
}

func (d *versionDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "v":
		r.int(v, &d.Version)
	case "post":
		r.id(v, &d.Post.ID)
	case "number":
		r.int(v, &d.Number)
	case "audience":
		r.inner(v, &d.Audience)
	case "type":
		readText(r, v, &d.Type)
	case "detail":
		r.inner(v, &d.Detail)
	case "editedAt":
		r.time(v, &d.EditedAt)
	}
}

func (d *detailDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "text":
		r.text(v, &d.Text)
	case "image":
		d.Image = &imageDoc{}
		r.inner(v, d.Image)
	case "url":
		r.text(v, &d.URL)
	case "title":
		r.text(v, &d.Title)
	case "caption":
		r.text(v, &d.Caption)
	case "width":
		r.int(v, &d.Width)
	case "height":
		r.int(v, &d.Height)
	case "place":
		r.text(v, &d.Place)
	case "latitude":
		r.float(v, &d.Latitude)
	case "longitude":
		r.float(v, &d.Longitude)
	case "question":
		r.text(v, &d.Question)
	case "options":
		readArray(r, v, &d.Options, (*reading).text)
	case "closesAt":
		r.time(v, &d.ClosesAt)
	}
}

func (d *imageDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "url":
		r.text(v, &d.URL)
	case "alt":
		r.text(v, &d.Alt)
	case "width":
		r.int(v, &d.Width)
	case "height":
		r.int(v, &d.Height)
	}
}

func (d *commentDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.ID.ID)
	case "v":
		r.int(v, &d.Version)
	case "seq":
		r.id(v, &d.Seq.ID)
	case "post":
		r.id(v, &d.Post.ID)
	case "parent":
		r.id(v, &d.Parent.ID)
	case "slug":
		r.text(v, &d.Slug)
	case "path":
		r.text(v, &d.Path)
	case "treePath":
		r.text(v, &d.TreePath)
	case "author":
		r.id(v, &d.Author.ID)
	case "text":
		r.text(v, &d.Text)
	case "editedAt":
		r.time(v, &d.EditedAt)
	case "replies":
		r.int(v, &d.Replies)
	case "deleted":
		r.bool(v, &d.Deleted)
	}
}

func (d *markDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.binary(v, &d.ID)
	case "v":
		r.int(v, &d.Version)
	case "kind":
		readText(r, v, &d.Kind)
	case "option":
		r.int(v, &d.Option)
	case "user":
		r.id(v, &d.User.ID)
	case "mutes":
		r.bool(v, &d.Mutes)
	}
}

func (l *newsListDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "ids":
		r.posts(v, &l.IDs)
	case "merged":
		readArray(r, v, &l.Merged, func(r *reading, v bsoncore.Value, u *social.UserID) { r.id(v, &u.ID) })
	case "floor":
		r.id(v, &l.Floor.ID)
	case "pushed":
		r.int(v, &l.Pushed)
	case "ready":
		r.bool(v, &l.Ready)
	case "usedAt":
		r.time(v, &l.UsedAt)
	}
}

func (d *seqDoc) set(r *reading, field []byte, v bsoncore.Value) {
	if string(field) == "seq" {
		r.id(v, &d.Seq.ID)
	}
}

func (d *otherDoc) set(r *reading, field []byte, v bsoncore.Value) {
	if string(field) == "other" {
		r.id(v, &d.Other.ID)
	}
}
