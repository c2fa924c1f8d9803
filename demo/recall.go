package demo

import (
	"context"
	"slices"

	"plaza/social"
)

// recall finds, once, what the life of an earlier server run has left.
func (l *Life) recall(ctx context.Context) error {
	if l.recalled {
		return nil
	}
	clear(l.posted)
	clear(l.said)
	for _, author := range castHandles() {
		if err := l.recallPosts(ctx, l.stage.user(author)); err != nil {
			return err
		}
	}
	for _, thread := range l.stage.threads() {
		if err := l.recallTalk(ctx, thread); err != nil {
			return err
		}
	}
	l.recalled = true
	return nil
}

// recallPosts finds the posts of scenes on their authors' walls, and makes their pictures show.
func (l *Life) recallPosts(ctx context.Context, author social.UserID) error {
	viewer := l.social.Viewer(author)
	return social.EachEntry(social.Page{Limit: social.MaxPageSize}, func(p social.Page) (social.Slice[*social.Post], error) {
		return viewer.OwnWall(ctx, social.ViewAll, p)
	}, func(p *social.Post) error {
		if !l.isScene(p) {
			return nil
		}
		l.posted[p.Content.Text()] = append(l.posted[p.Content.Text()], p.ID)
		return l.stage.rehangPhoto(ctx, p)
	})
}

func (l *Life) isScene(p *social.Post) bool {
	return slices.ContainsFunc(scenes, func(s scene) bool {
		return p.Author == l.stage.user(s.by) && p.WallOwner == p.Author &&
			p.Content.Type() == s.content.Type() && p.Content.Text() == s.content.Text()
	})
}

func (l *Life) recallTalk(ctx context.Context, thread social.PostID) error {
	viewer := l.social.Viewer(social.UserID{})
	return social.EachEntry(social.Page{Limit: social.MaxPageSize}, func(p social.Page) (social.Slice[*social.Comment], error) {
		list := social.List[social.Thread]{Of: social.Thread{Post: thread, Order: social.OrderNewest}, Page: p}
		threads, err := viewer.Threads(ctx, []social.List[social.Thread]{list})
		return threads[list], err
	}, func(c *social.Comment) error {
		if l.isLine(c, talk) {
			l.said[c.Text] = append(l.said[c.Text], c.ID)
		}
		return nil
	})
}
