package storagetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

// timed is a list that is ordered by time, read through the service.
type timed[T any] struct {
	w      *world
	name   string
	read   func(context.Context, social.Page) (social.Slice[T], error)
	narrow func(social.TimeRange, social.Page) (social.Page, error)
	at     func(T) time.Time
}

// check reads ranges of the list, page by page in both directions. Each range contains what was
// created from its start on and before its end.
func (l *timed[T]) check() {
	l.w.t.Helper()
	whole, err := l.read(l.w.ctx, social.Page{Limit: 100})
	l.w.ok(err, "%s", l.name)
	if len(whole.Items) < 10 {
		l.w.t.Fatalf("%s has %d entries", l.name, len(whole.Items))
	}
	for _, r := range l.ranges(whole.Items) {
		var want []social.Key
		for i, item := range whole.Items {
			if at := l.at(item); (r.Since == nil || !at.Before(*r.Since)) && (r.Until == nil || at.Before(*r.Until)) {
				want = append(want, whole.Keys[i])
			}
		}
		for _, backward := range []bool{false, true} {
			size := 2 + l.w.dice.IntN(7)
			l.w.same(l.walk(r, size, backward), want, "%s %s in pages of %d (backward: %t)", l.name, shownRange(r), size, backward)
		}
	}
}

// ranges returns ranges that begin and end at entries, or a millisecond before or after them. Some
// are open, and some are before or after all entries.
func (l *timed[T]) ranges(items []T) []social.TimeRange {
	moment := func() *time.Time {
		at := l.at(items[l.w.dice.IntN(len(items))]).Add(time.Duration(l.w.dice.IntN(3)-1) * time.Millisecond)
		return &at
	}
	first, last := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	epoch, since, until := time.UnixMilli(0), moment(), moment()
	if !since.Before(*until) {
		later := since.Add(time.Millisecond)
		until, since = &later, until
	}
	return []social.TimeRange{
		{Since: since, Until: until}, {Since: moment()}, {Until: moment()}, {Since: &first, Until: &last}, {Since: &last}, {Until: &epoch}, {},
	}
}

func (l *timed[T]) walk(r social.TimeRange, size int, backward bool) (keys []social.Key) {
	l.w.t.Helper()
	for {
		p := social.Page{Limit: size, Last: backward}
		switch {
		case len(keys) > 0 && backward:
			p.Before = keys[0]
		case len(keys) > 0:
			p.After = keys[len(keys)-1]
		}
		p, err := l.narrow(r, p)
		l.w.ok(err, "%s", l.name)
		slice, err := l.read(l.w.ctx, p)
		l.w.ok(err, "%s", l.name)
		if backward {
			keys = append(slices.Clone(slice.Keys), keys...)
		} else {
			keys = append(keys, slice.Keys...)
		}
		if !slice.More || len(keys) > 1_000 {
			return keys
		}
	}
}

func shownRange(r social.TimeRange) string {
	show := func(t *time.Time) string {
		if t == nil {
			return "…"
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint("from ", show(r.Since), " to ", show(r.Until))
}

// later returns a time up to three milliseconds later.
func (w *world) later(at time.Time) time.Time {
	return at.Add(time.Duration(w.dice.IntN(4)) * time.Millisecond)
}

// longAgo is when the entries of these tests begin: all of them are imported, at the end of a
// month.
var longAgo = time.Date(2024, 2, 29, 23, 59, 59, 960e6, time.UTC)

func feedsHaveRangesOfTime(w *world) {
	people := w.users(3)
	ada, ben, cem := people[0], people[1], people[2]
	w.followAll(ada, []person{ben, cem})
	w.follow(ben, ada)
	for i, at := 0, longAgo; i < 45; i, at = i+1, w.later(at) {
		p := to(social.AudienceCircles, statusBy(people[1+i%2]))
		p.ID = social.PostID{ID: id.At(at)}
		if i%3 > 0 {
			p.WallOwner = ada.ID
		}
		w.insert(p)
		if i == 25 {
			w.ok(settle(w.ctx, w.Store), "background work")
		}
	}
	v := network.New(w.Store, network.Options{}).Viewer(ada.ID)
	of := func(user person, read sliceRead[social.UserID, *social.Post]) func(context.Context, social.Page) (social.Slice[*social.Post], error) {
		return func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
			list := social.List[social.UserID]{Of: user.ID, Page: p}
			found, err := read(ctx, []social.List[social.UserID]{list})
			return found[list], err
		}
	}
	pushed := map[string]func(context.Context, social.Page) (social.Slice[*social.Post], error){"news": v.News, "incoming": v.Incoming}
	for name, read := range pushed {
		name += " while posts wait to be pushed"
		(&timed[*social.Post]{w, name, read, social.TimeRange.Narrow, (*social.Post).CreatedAt}).check()
	}
	w.ok(settle(w.ctx, w.Store), "background work")
	for name, read := range map[string]func(context.Context, social.Page) (social.Slice[*social.Post], error){
		"news": v.News, "incoming": v.Incoming, "the wall": of(ada, v.Walls), "posts by ben": of(ben, v.PostsBy),
		"the own wall": func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
			return v.OwnWall(ctx, social.ViewFollowed, p)
		},
	} {
		(&timed[*social.Post]{w, name, read, social.TimeRange.Narrow, (*social.Post).CreatedAt}).check()
	}
}

func threadsHaveRangesOfTime(w *world) {
	ada := w.user()
	post := w.status(ada)
	var root *social.Comment
	for i, at := 0, longAgo; i < 45; i, at = i+1, w.later(at) {
		c := commentWithID(social.CommentID{ID: id.At(at)}, post, root, ada)
		w.ok(w.insertComment(c), "InsertComment")
		if root == nil {
			root = c
		}
	}
	v := network.New(w.Store, network.Options{}).Viewer(ada.ID)
	for name, thread := range map[string]social.Thread{
		"oldest first": {Post: post.ID, Order: social.OrderOldest}, "newest first": {Post: post.ID, Order: social.OrderNewest},
		"replies": {Post: post.ID, Order: social.OrderOldest, Parent: root.ID},
	} {
		read := func(ctx context.Context, p social.Page) (social.Slice[*social.Comment], error) {
			list := social.List[social.Thread]{Of: thread, Page: p}
			found, err := v.Threads(ctx, []social.List[social.Thread]{list})
			return found[list], err
		}
		(&timed[*social.Comment]{w, name, read, thread.Narrow, (*social.Comment).CreatedAt}).check()
	}
	byAda := func(ctx context.Context, p social.Page) (social.Slice[*social.Comment], error) {
		list := social.List[social.UserID]{Of: ada.ID, Page: p}
		found, _, err := v.CommentsBy(ctx, []social.List[social.UserID]{list})
		return found[list], err
	}
	(&timed[*social.Comment]{w, "comments by ada", byAda, social.TimeRange.Narrow, (*social.Comment).CreatedAt}).check()
	tree := social.Thread{Post: post.ID, Order: social.OrderThreaded}
	for field, r := range map[string]social.TimeRange{"since": {Since: &longAgo}, "until": {Until: &longAgo}} {
		_, err := tree.Narrow(r, social.Page{Limit: 1})
		w.same(err, fault.Invalidf(field, "A range of time needs an order by time: give order: OLDEST or order: NEWEST."), "the error of a tree's range")
	}
}
