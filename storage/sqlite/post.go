package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plaza/social"
)

// postColumns are the columns that scanPost reads.
const postColumns = `posts.id, posts.author, posts.wall_owner, posts.audience, posts.audience_circles, posts.type, posts.detail,
	posts.edited_at, posts.edits, posts.revision, posts.comment_count, posts.reactions, posts.votes,
	posts.replies, posts.reply_circles, posts.comment_order, posts.muters`

var (
	insertPost = define(`INSERT INTO posts (id, author, wall_owner, audience, audience_circles, type, detail, edited_at, revision, votes,
		replies, reply_circles, comment_order) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	updatePost = define(`UPDATE posts SET audience = ?, audience_circles = ?, type = ?, detail = ?, edited_at = ?, revision = ?,
		replies = ?, reply_circles = ?, comment_order = ? WHERE id = ? AND revision = ?`)
	insertVersion = define(`INSERT INTO post_versions (post, number, audience, audience_circles, type, detail, edited_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`)
	versionsByPost = define(`SELECT post, audience, audience_circles, type, detail, edited_at FROM post_versions
		WHERE post IN (SELECT unhex(value) FROM json_each(?)) ORDER BY post, number`)
	countEdit          = define(`UPDATE posts SET edits = edits + 1 WHERE id = ?`)
	deletePost         = define(`DELETE FROM posts WHERE id = ?`)
	postExists         = define(`SELECT 1 FROM posts WHERE id = ?`)
	postsByID          = define(`SELECT ` + postColumns + ` FROM posts WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	insertPostCircle   = define(`INSERT INTO post_circles (circle, post) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	deletePostCircles  = define(`DELETE FROM post_circles WHERE post = ?`)
	postVotes          = define(`SELECT votes FROM posts WHERE id = ?`)
	setPostVotes       = define(`UPDATE posts SET votes = ? WHERE id = ?`)
	vote               = define(`SELECT option FROM votes WHERE post = ? AND user = ?`)
	putVote            = define(`INSERT INTO votes (post, user, option) VALUES (?, ?, ?) ON CONFLICT (post, user) DO UPDATE SET option = excluded.option`)
	votes              = define(`SELECT post, option FROM votes WHERE post IN (SELECT unhex(value) FROM json_each(?)) AND user = ?`)
	postReactions      = define(`SELECT reactions FROM posts WHERE id = ?`)
	setPostReactions   = define(`UPDATE posts SET reactions = ? WHERE id = ?`)
	reaction           = define(`SELECT kind FROM reactions WHERE post = ? AND user = ?`)
	putReaction        = define(`INSERT INTO reactions (post, user, kind) VALUES (?, ?, ?) ON CONFLICT (post, user) DO UPDATE SET kind = excluded.kind`)
	deleteReactionStmt = define(`DELETE FROM reactions WHERE post = ? AND user = ?`)
	muteThread         = define(`INSERT INTO thread_mutes (post, user) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	unmuteThread       = define(`DELETE FROM thread_mutes WHERE post = ? AND user = ?`)
	countMuter         = define(`UPDATE posts SET muters = muters + ? WHERE id = ?`)
	mutedThreads       = define(`SELECT post, 1 FROM thread_mutes WHERE post IN (SELECT unhex(value) FROM json_each(?)) AND user = ?`)
	reactions          = define(`SELECT post, kind FROM reactions WHERE post IN (SELECT unhex(value) FROM json_each(?)) AND user = ?`)
)

// InsertPost implements social.Posts. Counts start at zero, whatever p contains.
func (s *Store) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	doc, err := encodePost(p.Audience, p.Content)
	if err != nil {
		return err
	}
	noVotes := ""
	if p.Content.Poll != nil {
		noVotes = "[" + strings.TrimSuffix(strings.Repeat("0,", len(p.Content.Poll.Options)), ",") + "]"
	}
	stored := *p
	err = s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(p.Author, social.ErrAccountGone); err != nil {
			return err
		}
		if err := w.refuseDeleted(p.WallOwner, social.ErrNotFound); err != nil {
			return err
		}
		next, err := s.nextID(w, p.ID.ID)
		if err != nil {
			return err
		}
		if p.ID.IsZero() {
			stored.ID = social.PostID{ID: next}
			e.Post = stored.ID
		}
		_, err = w.exec(insertPost, stored.ID.Bytes(), p.Author.Bytes(), p.WallOwner.Bytes(), string(p.Audience.Kind), doc.circles,
			string(doc.kind), doc.detail, moment(p.EditedAt), p.Revision, noVotes, replyKind(p), joinCircles(p.Replies.Circles), commentOrder(p))
		if err != nil {
			return err
		}
		if err := w.listPost(&stored); err != nil {
			return err
		}
		return w.append(e)
	})
	if err == nil {
		p.ID = stored.ID
	}
	return err
}

// UpdatePost implements social.Posts.
func (s *Store) UpdatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	doc, err := encodePost(p.Audience, p.Content)
	if err != nil {
		return err
	}
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(updatePost, string(p.Audience.Kind), doc.circles, string(doc.kind), doc.detail, moment(p.EditedAt),
			p.Revision, replyKind(p), joinCircles(p.Replies.Circles), commentOrder(p), p.ID.Bytes(), p.Revision-1)
		if err != nil {
			return err
		}
		if rows == 0 {
			return w.conflict(p.ID)
		}
		if err := w.keepVersion(p, replaced); err != nil {
			return err
		}
		if _, err := w.exec(deletePostCircles, p.ID.Bytes()); err != nil {
			return err
		}
		if err := w.listPost(p); err != nil {
			return err
		}
		return w.append(e)
	})
}

// keepVersion appends the version that an update has replaced, if any. Its number is the update's
// revision, which grows by one each time.
func (w *work) keepVersion(p *social.Post, replaced *social.Version) error {
	if replaced == nil {
		return nil
	}
	doc, err := encodePost(replaced.Audience, replaced.Content)
	if err != nil {
		return err
	}
	_, err = w.exec(insertVersion, p.ID.Bytes(), p.Revision, string(replaced.Audience.Kind), doc.circles, string(doc.kind), doc.detail,
		moment(replaced.EditedAt))
	if err != nil {
		return err
	}
	_, err = w.exec(countEdit, p.ID.Bytes())
	return err
}

// Histories implements social.Posts.
func (s *Store) Histories(ctx context.Context, posts []social.PostID) (map[social.PostID][]social.Version, error) {
	return read(ctx, s, func(w *work) (map[social.PostID][]social.Version, error) {
		histories := map[social.PostID][]social.Version{}
		err := w.each(versionsByPost, func(scan scan) (bool, error) {
			post, version, err := scanVersion(scan)
			histories[post] = append(histories[post], version)
			return true, err
		}, hexList(posts))
		return histories, err
	})
}

func scanVersion(scan scan) (post social.PostID, v social.Version, err error) {
	var circles, detail []byte
	var kind social.PostType
	var edited int64
	if err := scan(into(&post.ID), &v.Audience.Kind, &circles, &kind, &detail, &edited); err != nil {
		return post, v, err
	}
	v.EditedAt = momentOf(edited)
	if v.Audience.Circles, err = splitCircles(circles); err != nil {
		return post, v, err
	}
	v.Content, err = decodeContent(kind, detail)
	return post, v, err
}

// conflict explains why no row had the expected revision: it returns social.ErrNotFound or
// social.ErrConflict.
func (w *work) conflict(post social.PostID) error {
	if err := w.requirePost(post); err != nil {
		return err
	}
	return social.ErrConflict
}

func (w *work) requirePost(post social.PostID) error {
	return known(w.exists(postExists, post.Bytes()))
}

// listPost adds the post to the circles that may see it, for Incoming.
func (w *work) listPost(p *social.Post) error {
	if p.Audience.Kind != social.AudienceListed {
		return nil
	}
	for _, circle := range p.Audience.Circles {
		if _, err := w.exec(insertPostCircle, circle.Bytes(), p.ID.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// DeletePost implements social.Posts. Foreign keys also remove versions, comments, reactions and
// votes.
func (s *Store) DeletePost(ctx context.Context, id social.PostID, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(deletePost, id.Bytes())
		if err := changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return w.append(e)
	})
}

// Posts implements social.Posts.
func (s *Store) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	return read(ctx, s, func(w *work) (map[social.PostID]*social.Post, error) {
		posts, err := w.posts(ids)
		if err != nil {
			return nil, err
		}
		found := make(map[social.PostID]*social.Post, len(posts))
		for _, p := range posts {
			found[p.ID] = p
		}
		return found, nil
	})
}

// posts reads posts by id, in no particular order, with their latest comments.
func (w *work) posts(ids []social.PostID) ([]*social.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	posts, err := all(w, postsByID, scanPost, hexList(ids))
	if err != nil {
		return nil, err
	}
	return posts, w.fillLatest(posts)
}

// fillLatest reads the newest comments of all posts that have any, in one statement.
func (w *work) fillLatest(posts []*social.Post) error {
	var talked []social.PostID
	for _, p := range posts {
		if p.CommentCount > 0 {
			talked = append(talked, p.ID)
		}
	}
	latest, err := w.latestComments(talked, nil, social.PreviewSize)
	if err != nil {
		return err
	}
	for _, p := range posts {
		p.Latest = latest[p.ID]
	}
	return nil
}

func scanPost(scan scan) (*social.Post, error) {
	p := &social.Post{}
	var circles, detail, reactions, votes, replyCircles []byte
	var kind social.PostType
	var edited int64
	err := scan(into(&p.ID.ID), into(&p.Author.ID), into(&p.WallOwner.ID), &p.Audience.Kind, &circles, &kind, &detail, &edited,
		&p.Edits, &p.Revision, &p.CommentCount, &reactions, &votes, &p.Replies.Kind, &replyCircles, &p.Order, &p.Muters)
	if err != nil {
		return nil, err
	}
	p.EditedAt = momentOf(edited)
	if p.Audience.Circles, err = splitCircles(circles); err != nil {
		return nil, err
	}
	if p.Replies.Circles, err = splitCircles(replyCircles); err != nil {
		return nil, err
	}
	if p.Content, err = decodeContent(kind, detail); err != nil {
		return nil, err
	}
	if err := unmarshal(reactions, &p.Reactions); err != nil {
		return nil, err
	}
	return p, unmarshal(votes, &p.Votes)
}

// unmarshal reads a JSON column. An empty column leaves to unchanged.
func unmarshal(column []byte, to any) error {
	if len(column) == 0 {
		return nil
	}
	return json.Unmarshal(column, to)
}

// PutVote implements social.Posts. There is only one writing connection, so reading the counts and
// storing them again is exact.
func (s *Store) PutVote(ctx context.Context, post social.PostID, user social.UserID, option int, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(user, social.ErrAccountGone); err != nil {
			return err
		}
		var stored []byte
		var counts []int
		if err := known(w.row(postVotes, []any{&stored}, post.Bytes())); err != nil {
			return err
		}
		if err := unmarshal(stored, &counts); err != nil {
			return err
		}
		if option < 0 || option >= len(counts) {
			return fmt.Errorf("a vote for option %d of %d", option, len(counts))
		}
		var earlier int
		voted, err := w.row(vote, []any{&earlier}, post.Bytes(), user.Bytes())
		if err != nil || voted && earlier == option {
			return err
		}
		if voted {
			counts[earlier]--
		}
		counts[option]++
		return w.storeChoice(setPostVotes, counts, putVote, post, user, option, e)
	})
}

// storeChoice stores a post's new counts, the user's choice, and the event.
func (w *work) storeChoice(set *statement, counts any, put *statement, post social.PostID, user social.UserID, choice any, e social.Event) error {
	stored, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	if _, err := w.exec(set, string(stored), post.Bytes()); err != nil {
		return err
	}
	if _, err := w.exec(put, post.Bytes(), user.Bytes(), choice); err != nil {
		return err
	}
	return w.append(e)
}

// Votes implements social.Posts.
func (s *Store) Votes(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]int, error) {
	return choices[int](ctx, s, votes, user, posts)
}

// choices reads the user's choice at each post.
func choices[T any](ctx context.Context, s *Store, st *statement, user social.UserID, posts []social.PostID) (map[social.PostID]T, error) {
	return read(ctx, s, func(w *work) (map[social.PostID]T, error) {
		return byKey(w, st, func(scan scan) (post social.PostID, choice T, err error) {
			err = scan(into(&post.ID), &choice)
			return post, choice, err
		}, hexList(posts), user.Bytes())
	})
}

// PutReaction implements social.Posts.
func (s *Store) PutReaction(ctx context.Context, post social.PostID, user social.UserID, kind social.ReactionKind, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(user, social.ErrAccountGone); err != nil {
			return err
		}
		counts, earlier, err := w.reactionsTo(post, user)
		if err != nil || earlier == kind {
			return err
		}
		uncount(counts, earlier)
		counts[kind]++
		return w.storeChoice(setPostReactions, counts, putReaction, post, user, string(kind), e)
	})
}

// DeleteReaction implements social.Posts. Without a reaction there is no event.
func (s *Store) DeleteReaction(ctx context.Context, post social.PostID, user social.UserID, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		counts, earlier, err := w.reactionsTo(post, user)
		if err != nil || earlier == "" {
			return err
		}
		uncount(counts, earlier)
		stored, err := json.Marshal(counts)
		if err != nil {
			return err
		}
		if _, err := w.exec(setPostReactions, string(stored), post.Bytes()); err != nil {
			return err
		}
		if _, err := w.exec(deleteReactionStmt, post.Bytes(), user.Bytes()); err != nil {
			return err
		}
		return w.append(e)
	})
}

// reactionsTo reads a post's counts and the user's own reaction, which is empty if there is none.
func (w *work) reactionsTo(post social.PostID, user social.UserID) (map[social.ReactionKind]int, social.ReactionKind, error) {
	var stored []byte
	counts := map[social.ReactionKind]int{}
	var own social.ReactionKind
	if err := known(w.row(postReactions, []any{&stored}, post.Bytes())); err != nil {
		return nil, "", err
	}
	if err := unmarshal(stored, &counts); err != nil {
		return nil, "", err
	}
	_, err := w.row(reaction, []any{&own}, post.Bytes(), user.Bytes())
	return counts, own, err
}

func uncount(counts map[social.ReactionKind]int, kind social.ReactionKind) {
	if counts[kind]--; counts[kind] <= 0 {
		delete(counts, kind)
	}
}

// Reactions implements social.Posts.
func (s *Store) Reactions(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	return choices[social.ReactionKind](ctx, s, reactions, user, posts)
}

// MuteThread implements social.Posts.
func (s *Store) MuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return s.changeThreadMute(ctx, muteThread, 1, post, user, e)
}

// UnmuteThread implements social.Posts.
func (s *Store) UnmuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return s.changeThreadMute(ctx, unmuteThread, -1, post, user, e)
}

func (s *Store) changeThreadMute(ctx context.Context, change *statement, by int, post social.PostID, user social.UserID, e social.Event) (did bool, err error) {
	err = s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(user, social.ErrAccountGone); err != nil {
			return err
		}
		if err := w.requirePost(post); err != nil {
			return err
		}
		rows, err := w.exec(change, post.Bytes(), user.Bytes())
		if did = rows > 0; err != nil || !did {
			return err
		}
		if _, err := w.exec(countMuter, by, post.Bytes()); err != nil {
			return err
		}
		return w.append(e)
	})
	return did && err == nil, err
}

// MutedThreads implements social.Posts.
func (s *Store) MutedThreads(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]bool, error) {
	return choices[bool](ctx, s, mutedThreads, user, posts)
}

// postDoc is the part of a post, or of a version, that is stored as JSON.
type postDoc struct {
	circles []byte
	kind    social.PostType
	detail  string
}

func replyKind(p *social.Post) string { return string(cmp.Or(p.Replies.Kind, social.RepliesEveryone)) }

func commentOrder(p *social.Post) string { return string(cmp.Or(p.Order, social.OrderOldest)) }

func joinCircles(circles []social.CircleID) []byte {
	joined := []byte{}
	for _, circle := range circles {
		joined = append(joined, circle.ID.Bytes()...)
	}
	return joined
}

func encodePost(a social.Audience, c social.Content) (doc postDoc, err error) {
	doc.circles = joinCircles(a.Circles)
	kind, detail, err := encodeContent(c)
	doc.kind, doc.detail = kind, string(detail)
	return doc, err
}

// What is stored of each type of content. Their own types keep the stored names when the domain
// renames a field; the conversions below stop compiling when it adds one.
type (
	statusDetail struct {
		Text string `json:"text,omitempty"`
	}
	photoDetail struct {
		URL     string `json:"url"`
		Alt     string `json:"alt,omitempty"`
		Caption string `json:"caption,omitempty"`
		Width   int    `json:"width,omitempty"`
		Height  int    `json:"height,omitempty"`
	}
	linkDetail struct {
		URL   string `json:"url"`
		Title string `json:"title,omitempty"`
		Text  string `json:"text,omitempty"`
	}
	checkinDetail struct {
		Place     string  `json:"place"`
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Text      string  `json:"text,omitempty"`

		Photo *pictureDetail `json:"photo,omitempty"`
	}
	pictureDetail struct {
		URL    string `json:"url"`
		Alt    string `json:"alt,omitempty"`
		Width  int    `json:"width,omitempty"`
		Height int    `json:"height,omitempty"`
	}
	pollDetail struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
		ClosesAt int64    `json:"closesAt,omitempty"` // Unix microseconds
	}
)

func encodeContent(c social.Content) (social.PostType, []byte, error) {
	var kind social.PostType
	var detail any
	switch {
	case c.Status != nil:
		kind, detail = social.TypeStatus, statusDetail(*c.Status)
	case c.Photo != nil:
		kind, detail = social.TypePhoto, photoDetail(*c.Photo)
	case c.Link != nil:
		kind, detail = social.TypeLink, linkDetail(*c.Link)
	case c.Checkin != nil:
		kind, detail = social.TypeCheckin, newCheckinDetail(c.Checkin)
	case c.Poll != nil:
		kind, detail = social.TypePoll, pollDetail{c.Poll.Question, c.Poll.Options, moment(c.Poll.ClosesAt)}
	default:
		return "", nil, errors.New("a post without content")
	}
	encoded, err := encodeJSON(detail)
	return kind, encoded, err
}

func newCheckinDetail(c *social.Checkin) checkinDetail {
	return checkinDetail{Place: c.Place, Latitude: c.Latitude, Longitude: c.Longitude, Text: c.Text, Photo: (*pictureDetail)(c.Photo)}
}

// encodeJSON does not escape <, > and &.
func encodeJSON(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

func decodeContent(kind social.PostType, detail []byte) (c social.Content, err error) {
	switch kind {
	case social.TypeStatus:
		var d statusDetail
		err = json.Unmarshal(detail, &d)
		c.Status = (*social.Status)(&d)
	case social.TypePhoto:
		var d photoDetail
		err = json.Unmarshal(detail, &d)
		c.Photo = (*social.Photo)(&d)
	case social.TypeLink:
		var d linkDetail
		err = json.Unmarshal(detail, &d)
		c.Link = (*social.Link)(&d)
	case social.TypeCheckin:
		var d checkinDetail
		err = json.Unmarshal(detail, &d)
		c.Checkin = &social.Checkin{Place: d.Place, Latitude: d.Latitude, Longitude: d.Longitude, Text: d.Text, Photo: (*social.Picture)(d.Photo)}
	case social.TypePoll:
		var d pollDetail
		err = json.Unmarshal(detail, &d)
		c.Poll = &social.Poll{Question: d.Question, Options: d.Options, ClosesAt: momentOf(d.ClosesAt)}
	default:
		err = fmt.Errorf("a post of the unknown type %q", kind)
	}
	return c, err
}
