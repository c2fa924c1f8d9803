package demo

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"plaza/fault"
	"plaza/social"
	"plaza/social/network"
)

const (
	// pace is the time between two acts of the life.
	pace = 3 * time.Second
	// mostKept is how many posts of one scene, and comments of one line of the talk, may stay
	// because visitors have joined in.
	mostKept = 5
)

// Life is the community's activity while a server runs: its people post, comment and react, cycling
// through the scenes of scenes.go, and talk in a thread of the two weeks before.
//
// It does not grow: before a scene is posted again, its previous post is deleted, and so is a line
// of the talk. Posts and comments that visitors have replied or reacted to remain, up to mostKept
// of each; after that, the scene or line is skipped. What visitors have written is never changed. A
// Life is not safe for concurrent use.
type Life struct {
	stage  *stage
	social *network.Service
	acts   []act
	turn   int

	recalled bool
	posted   map[string][]social.PostID    // by the scene's text: its posts
	said     map[string][]social.CommentID // by the line's text: its comments in the talk
	post     social.PostID                 // of the current scene; zero if that is left out
	comment  social.CommentID              // the latest of the scene
}

// act is one action of a person.
type act func(ctx context.Context, l *Life) error

// Life returns the activity of the community, whose people act through the service.
func (c *Community) Life(service *network.Service) *Life {
	return &Life{stage: c.stage, social: service, acts: acts(), posted: map[string][]social.PostID{}, said: map[string][]social.CommentID{}}
}

// Threads returns the posts that people talk on, best first: they use the first that still exists.
func (c *Community) Threads() []social.PostID { return c.stage.threads() }

// Run runs until ctx ends: one act every few seconds while there are visitors.
func (l *Life) Run(ctx context.Context, watched func() bool, logger *slog.Logger) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !watched() {
			continue
		}
		if err := l.step(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "an act of the demo's community failed", "error", err)
		}
	}
}

// step does the next act. It skips acts that visitors have made impossible by deleting a post or
// blocking its author.
func (l *Life) step(ctx context.Context) error {
	if err := l.recall(ctx); err != nil {
		return err
	}
	next := l.acts[l.turn%len(l.acts)]
	l.turn++
	err := next(ctx, l)
	if impossible(err) {
		return nil
	}
	return err
}

func impossible(err error) bool {
	_, one := errors.AsType[*fault.Error](err)
	_, several := errors.AsType[fault.Errors](err)
	return one || several
}

// acts returns a round of the life: all scenes, with the talk between their parts.
func acts() []act {
	var all []act
	talked := 0
	add := func(next act) {
		all = append(all, next)
		if len(all)%3 == 2 {
			all = append(all, talk[talked%len(talk)].talk)
			talked++
		}
	}
	for _, s := range scenes {
		add(s.publish)
		for _, line := range s.lines {
			add(line.act)
		}
		add(greet(s.by))
	}
	return all
}

// publish posts the scene, unless visitors keep enough of its posts alive.
func (s scene) publish(ctx context.Context, l *Life) error {
	l.post, l.comment = social.PostID{}, social.CommentID{}
	text := s.content.Text()
	kept, err := l.withdraw(ctx, l.posted[text])
	l.posted[text] = kept
	if err != nil || len(kept) >= mostKept {
		return err
	}
	made, err := l.social.CreatePost(ctx, l.stage.user(s.by), network.NewPost{
		Content: l.stage.hung(s.content), Audience: social.Audience{Kind: social.AudiencePublic},
	})
	if err != nil {
		return err
	}
	l.post, l.posted[text] = made.ID, append(kept, made.ID)
	return nil
}

// act adds the line to the current scene.
func (n line) act(ctx context.Context, l *Life) error {
	who := l.stage.user(n.by)
	switch {
	case l.post.IsZero():
		return nil
	case n.reaction != "":
		return l.social.React(ctx, who, l.post, n.reaction)
	}
	in := network.NewComment{Post: l.post, Text: n.text}
	if n.reply {
		in.Parent = l.comment
	}
	made, err := l.social.AddComment(ctx, who, in)
	if err == nil {
		l.comment = made.ID
	}
	return err
}

// talk adds the line to the talk, unless visitors keep enough of it alive.
func (n line) talk(ctx context.Context, l *Life) error {
	kept, err := l.unsay(ctx, l.said[n.text])
	l.said[n.text] = kept
	if err != nil || len(kept) >= mostKept {
		return err
	}
	thread, err := l.thread(ctx)
	if err != nil || thread.IsZero() {
		return err
	}
	made, err := l.social.AddComment(ctx, l.stage.user(n.by), network.NewComment{Post: thread, Text: n.text})
	if err == nil {
		l.said[n.text] = append(kept, made.ID)
	}
	return err
}

// greet makes a person like the newest public post on the wall of the account that visitors use:
// usually a visitor's post.
func greet(who string) act {
	return func(ctx context.Context, l *Life) error {
		viewer := l.social.Viewer(l.stage.user(who))
		list := social.List[social.UserID]{Of: l.stage.user(handle), Page: social.Page{Limit: 1}}
		walls, err := viewer.Walls(ctx, []social.List[social.UserID]{list})
		if err != nil || len(walls[list].Items) == 0 {
			return err
		}
		return l.social.React(ctx, viewer.ID, walls[list].Items[0].ID, social.ReactionLike)
	}
}

// thread returns the post for the talk; zero if visitors have deleted all posts that are suitable.
func (l *Life) thread(ctx context.Context) (social.PostID, error) {
	all := l.stage.threads()
	there, err := l.stage.store.Posts(ctx, all)
	for _, id := range all {
		if there[id] != nil {
			return id, err
		}
	}
	return social.PostID{}, err
}

// threads returns the public posts about what ada has found, newest first.
func (s *stage) threads() []social.PostID {
	var ids []social.PostID
	for _, p := range slices.Backward(wall) {
		if slices.Contains([]string{"logbook", "raking-light", "where-first"}, p.name) {
			ids = append(ids, p.id(s))
		}
	}
	return ids
}

// withdraw deletes posts of the previous round, and returns those that visitors keep alive.
func (l *Life) withdraw(ctx context.Context, posts []social.PostID) (kept []social.PostID, err error) {
	stored, err := l.stage.store.Posts(ctx, posts)
	if err != nil {
		return posts, err
	}
	for _, id := range posts {
		p := stored[id]
		if p == nil {
			continue
		}
		ours, err := l.isOurs(ctx, p)
		if err == nil && ours {
			err = l.social.DeletePost(ctx, p.Author, id)
		}
		if err != nil && !impossible(err) {
			return posts, err
		}
		if !ours {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// isOurs reports whether a post of a scene has only the scene's replies and reactions.
func (l *Life) isOurs(ctx context.Context, p *social.Post) (bool, error) {
	i := slices.IndexFunc(scenes, func(s scene) bool { return s.content.Text() == p.Content.Text() })
	if i < 0 || p.Edits > 0 || p.CommentCount > len(scenes[i].lines) {
		return false, nil
	}
	reactions := 0
	for _, n := range p.Reactions {
		reactions += n
	}
	if reactions > scenes[i].reactions() {
		return false, nil
	}
	list := social.List[social.Thread]{
		Of: social.Thread{Post: p.ID, Order: social.OrderOldest}, Page: social.Page{Limit: len(scenes[i].lines) + 1},
	}
	thread, err := l.stage.store.Thread(ctx, []social.List[social.Thread]{list})
	return err == nil && !slices.ContainsFunc(thread[list], func(c *social.Comment) bool { return !l.isLine(c, scenes[i].lines) }), err
}

// isLine reports whether a comment is one of the lines, unchanged.
func (l *Life) isLine(c *social.Comment, lines []line) bool {
	return c.EditedAt.IsZero() && slices.ContainsFunc(lines, func(n line) bool {
		return n.text == c.Text && n.text != "" && l.stage.user(n.by) == c.Author
	})
}

// unsay deletes comments of the previous round, and returns those that visitors keep alive.
func (l *Life) unsay(ctx context.Context, comments []social.CommentID) (kept []social.CommentID, err error) {
	stored, err := l.stage.store.Comments(ctx, comments)
	if err != nil {
		return comments, err
	}
	for _, id := range comments {
		c := stored[id]
		switch {
		case c == nil || c.Deleted:
		case c.Replies > 0 || !c.EditedAt.IsZero():
			kept = append(kept, id)
		default:
			if _, err := l.social.DeleteComment(ctx, c.Author, id); err != nil && !impossible(err) {
				return comments, err
			}
		}
	}
	return kept, nil
}
