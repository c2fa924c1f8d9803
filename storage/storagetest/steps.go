package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"plaza/fault"
	"plaza/social"
	"plaza/social/network"
)

// step is one operation of a history, in plain values: which one, who does it, and the numbers from
// which it derives its arguments. The same steps give the same history, and fewer or smaller
// numbers a simpler one: rapid can shrink them.
type step struct {
	Do      string
	Who     int
	X, Y, Z int
}

// operation is an action of people. It runs in the service and in the model, and compares the
// results.
type operation struct {
	name   string
	weight int
	run    func(h *history, s step)
}

// operations are listed with the simplest first: rapid shrinks towards it.
func operations() []operation {
	return []operation{
		{"follow", 8, (*history).follow},
		{"post", 10, (*history).createPost},
		{"comment", 14, (*history).addComment},
		{"compare", 6, (*history).compareSome},
		{"converse", 3, (*history).converse},
		{"unfollow", 3, (*history).unfollow},
		{"create circle", 4, (*history).createCircle},
		{"add to circle", 8, (*history).addToCircle},
		{"remove from circle", 4, (*history).removeFromCircle},
		{"delete circle", 1, (*history).deleteCircle},
		{"rename circle", 1, (*history).renameCircle},
		{"block", 3, (*history).block},
		{"unblock", 3, (*history).unblock},
		{"mute", 3, (*history).mute},
		{"unmute", 2, (*history).unmute},
		{"wall policy", 2, (*history).setWallPolicy},
		{"audience", 4, (*history).setAudience},
		{"edit post", 3, (*history).editPost},
		{"delete post", 2, (*history).deletePost},
		{"edit comment", 3, (*history).editComment},
		{"delete comment", 6, (*history).deleteComment},
		{"reply policy", 3, (*history).setReplies},
		{"comment order", 1, (*history).setOrder},
		{"mute thread", 3, (*history).muteThread},
		{"unmute thread", 1, (*history).unmuteThread},
		{"erase comments", 1, (*history).eraseComments},
		{"react", 5, (*history).react},
		{"unreact", 2, (*history).unreact},
		{"vote", 5, (*history).vote},
		{"time passes", 1, (*history).timePasses},
		{"sign up", 1, (*history).signUp},
		{"delete account", 1, (*history).deleteAccount},
	}
}

// steps draws one step.
func steps(known []operation) *rapid.Generator[step] {
	var names []string // the beginning is drawn more often, so every operation is there
	for round := range 20 {
		for _, o := range known {
			if o.weight > round {
				names = append(names, o.name)
			}
		}
	}
	number := rapid.IntRange(0, 59)
	return rapid.Custom(func(t *rapid.T) step {
		return step{
			Do: rapid.SampledFrom(names).Draw(t, "do"), Who: number.Draw(t, "who"),
			X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Z: number.Draw(t, "z"),
		}
	})
}

// The codes with which an operation may end.
const (
	fine       = fault.Code("")
	notFound   = fault.CodeNotFound
	notAllowed = fault.CodeNotAllowed
	invalid    = fault.CodeInvalid
)

// ends compares an operation's result with the expected one, and reports whether it changed
// anything. If the model allows several results, there are several codes.
func (h *history) ends(err error, codes ...fault.Code) bool {
	h.t.Helper()
	got := fine
	var refusal *fault.Error
	switch {
	case errors.As(err, &refusal):
		got = refusal.Code
	case err != nil:
		h.t.Fatalf("an internal error: %v", err)
	}
	if !slices.Contains(codes, got) {
		h.t.Fatalf("the service answers %q (%v), the model %q", got, err, codes)
	}
	return got == fine
}

// hides checks that hidden objects are indistinguishable from missing ones: when the call ended
// with NOT_FOUND, the same call with an id that was never used must end with the same error.
func (h *history) hides(err error, never func() error) {
	h.t.Helper()
	var refusal, same *fault.Error
	if !errors.As(err, &refusal) || refusal.Code != notFound {
		return
	}
	if again := never(); !errors.As(again, &same) || *same != *refusal {
		h.t.Fatalf("the service answers %v for a hidden object, and %v for one that never existed", err, again)
	}
}

// Arguments that are derived from numbers.

func (h *history) personAt(n int) int { return n % len(h.m.people) }

// actor returns person n, or the next one who has not deleted their account.
func (h *history) actor(n int) int {
	for h.m.people[h.personAt(n)].gone {
		n++
	}
	return h.personAt(n)
}

func (h *history) user(i int) social.UserID { return h.m.people[i].id }

// tellf logs the next operation, so that a failure shows the history.
func (h *history) tellf(format string, args ...any) {
	h.t.Logf("%s", fmt.Sprintf(format, args...))
}

// pickOf picks an element of a list. It returns false if the list is empty.
func pickOf[T any](list []T, n int) (index int, ok bool) {
	if len(list) == 0 {
		return 0, false
	}
	return n % len(list), true
}

// someCircle picks a circle: usually one's own, sometimes any that ever existed.
func (h *history) someCircle(who, n int) int {
	own := h.m.ownCircles(who)
	if n%7 == 6 {
		return n / 7 % len(h.m.circles)
	}
	return own[n%len(own)]
}

// circleCode returns the expected code for naming a circle.
func (h *history) circleCode(who, circle int) fault.Code {
	if c := h.m.circles[circle]; c.gone || c.owner != who {
		return notFound
	}
	return fine
}

// userCode returns the expected code for naming a user other than oneself.
func (h *history) userCode(who, other int) fault.Code {
	if who == other {
		return invalid
	}
	if !h.m.exists(who, other) {
		return notFound
	}
	return fine
}

// first returns the first code that is an error.
func first(codes ...fault.Code) fault.Code {
	for _, code := range codes {
		if code != fine {
			return code
		}
	}
	return fine
}

// The operations.

func (h *history) signUp(step) {
	h.tellf("a person signs up")
	h.newPeople(1)
}

func (h *history) follow(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	h.tellf("%d follows %d", who, other)
	err := h.service.Follow(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { return h.service.Follow(h.ctx, h.user(who), newUserID()) })
	if h.ends(err, h.userCode(who, other)) {
		h.m.circles[h.m.ownCircles(who)[0]].add(other)
		h.m.settle()
	}
}

func (h *history) unfollow(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	h.tellf("%d unfollows %d", who, other)
	err := h.service.Unfollow(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { return h.service.Unfollow(h.ctx, h.user(who), newUserID()) })
	if h.ends(err, h.userCode(who, other)) {
		h.takeOut(who, other)
	}
}

// takeOut removes a person from all circles of an owner.
func (h *history) takeOut(owner, member int) {
	for _, c := range h.m.ownCircles(owner) {
		h.m.circles[c].remove(member)
	}
	h.m.settle()
}

var circleNames = []string{"Friends", "Family", "friends", "FOLLOWING", "Ärzte", "ÄRZTE"}

// nameCode returns the expected code for naming a circle.
func (h *history) nameCode(who, circle int, name string) fault.Code {
	for _, i := range h.m.ownCircles(who) {
		if i != circle && strings.EqualFold(h.m.circles[i].name, name) {
			return fault.CodeTaken
		}
	}
	return fine
}

func (h *history) createCircle(s step) {
	who, name := h.actor(s.Who), circleNames[s.X%len(circleNames)]
	h.tellf("%d creates the circle %q", who, name)
	circle, err := h.service.CreateCircle(h.ctx, h.user(who), name)
	if h.ends(err, h.nameCode(who, -1, name)) {
		h.m.circles = append(h.m.circles, &modelCircle{id: circle.ID, owner: who, name: name})
	}
}

func (h *history) renameCircle(s step) {
	who := h.actor(s.Who)
	circle, name := h.someCircle(who, s.X), circleNames[s.Y%len(circleNames)]
	h.tellf("%d renames circle %d to %q", who, circle, name)
	err := h.service.RenameCircle(h.ctx, h.user(who), h.m.circles[circle].id, name)
	h.hides(err, func() error { return h.service.RenameCircle(h.ctx, h.user(who), newCircleID(), name) })
	if h.ends(err, first(h.circleCode(who, circle), h.nameCode(who, circle, name))) {
		h.m.circles[circle].name = name
	}
}

func (h *history) deleteCircle(s step) {
	who := h.actor(s.Who)
	circle := h.someCircle(who, s.X)
	code := h.circleCode(who, circle)
	if code == fine && h.m.circles[circle].builtIn {
		code = notAllowed
	}
	h.tellf("%d deletes circle %d", who, circle)
	err := h.service.DeleteCircle(h.ctx, h.user(who), h.m.circles[circle].id)
	h.hides(err, func() error { return h.service.DeleteCircle(h.ctx, h.user(who), newCircleID()) })
	if h.ends(err, code) {
		h.m.circles[circle].gone = true
		h.m.settle()
	}
}

func (h *history) addToCircle(s step) {
	who, other := h.actor(s.Who), h.personAt(s.Y)
	circle := h.someCircle(who, s.X)
	h.tellf("%d adds %d to circle %d", who, other, circle)
	code := first(h.circleCode(who, circle), h.userCode(who, other))
	if who == other {
		code = invalid
	}
	id := h.m.circles[circle].id
	err := h.service.AddToCircle(h.ctx, h.user(who), id, h.user(other))
	h.hides(err, func() error {
		if h.circleCode(who, circle) == fine {
			return h.service.AddToCircle(h.ctx, h.user(who), id, newUserID())
		}
		return h.service.AddToCircle(h.ctx, h.user(who), newCircleID(), h.user(other))
	})
	if h.ends(err, code) {
		h.m.circles[circle].add(other)
		h.m.settle()
	}
}

func (h *history) removeFromCircle(s step) {
	who, other := h.actor(s.Who), h.personAt(s.Y)
	circle := h.someCircle(who, s.X)
	h.tellf("%d removes %d from circle %d", who, other, circle)
	code := h.circleCode(who, circle)
	if code == fine && !h.m.exists(who, other) {
		code = notFound
	}
	id := h.m.circles[circle].id
	err := h.service.RemoveFromCircle(h.ctx, h.user(who), id, h.user(other))
	h.hides(err, func() error {
		if h.circleCode(who, circle) == fine {
			return h.service.RemoveFromCircle(h.ctx, h.user(who), id, newUserID())
		}
		return h.service.RemoveFromCircle(h.ctx, h.user(who), newCircleID(), h.user(other))
	})
	if h.ends(err, code) {
		h.m.circles[circle].remove(other)
		h.m.settle()
	}
}

func (h *history) block(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	h.tellf("%d blocks %d", who, other)
	code := h.userCode(who, other)
	if slices.Contains(h.m.blocks, arc{who, other}) { // already blocked: nothing changes
		code = fine
	}
	_, err := h.service.Block(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { _, err := h.service.Block(h.ctx, h.user(who), newUserID()); return err })
	if h.ends(err, code) {
		h.m.blocks = with(h.m.blocks, arc{who, other})
		h.takeOut(who, other)
		h.takeOut(other, who)
	}
}

func (h *history) unblock(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	if blocks := ofOne(h.m.blocks, who); len(blocks) > 0 && s.Y%4 != 0 {
		other = blocks[s.X%len(blocks)].to
	}
	h.tellf("%d unblocks %d", who, other)
	code := h.userCode(who, other)
	if slices.Contains(h.m.blocks, arc{who, other}) {
		code = fine
	}
	err := h.service.Unblock(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { return h.service.Unblock(h.ctx, h.user(who), newUserID()) })
	if h.ends(err, code) {
		h.m.blocks = without(h.m.blocks, arc{who, other})
	}
}

// ofOne returns the arcs that begin at one person.
func ofOne(arcs []arc, from int) []arc {
	return slices.DeleteFunc(slices.Clone(arcs), func(a arc) bool { return a.from != from })
}

func (h *history) mute(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	h.tellf("%d mutes %d", who, other)
	err := h.service.Mute(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { return h.service.Mute(h.ctx, h.user(who), newUserID()) })
	if h.ends(err, h.userCode(who, other)) {
		h.m.mutes = with(h.m.mutes, arc{who, other})
	}
}

func (h *history) unmute(s step) {
	who, other := h.actor(s.Who), h.personAt(s.X)
	if mutes := ofOne(h.m.mutes, who); len(mutes) > 0 && s.Y%4 != 0 {
		other = mutes[s.X%len(mutes)].to
	}
	h.tellf("%d unmutes %d", who, other)
	err := h.service.Unmute(h.ctx, h.user(who), h.user(other))
	h.hides(err, func() error { return h.service.Unmute(h.ctx, h.user(who), newUserID()) })
	if h.ends(err, h.userCode(who, other)) {
		h.m.mutes = without(h.m.mutes, arc{who, other})
	}
}

func (h *history) setWallPolicy(s step) {
	who := h.actor(s.Who)
	policy := []social.WallPolicy{social.WallEveryone, social.WallFollowed, social.WallNobody}[s.X%3]
	h.tellf("%d opens the wall to %s", who, policy)
	if h.ends(h.service.UpdateProfile(h.ctx, h.user(who), social.ProfileChange{WallPolicy: &policy}), fine) {
		h.m.people[who].policy = policy
	}
}

// audience derives an audience from numbers, and returns the expected code for naming its circles.
func (h *history) audience(who, x, y int) (kind social.AudienceKind, listed []int, code fault.Code) {
	kinds := []social.AudienceKind{social.AudiencePublic, social.AudienceCircles, social.AudienceListed, social.AudienceOnlyMe}
	kind = kinds[x%4]
	if kind != social.AudienceListed {
		return kind, nil, fine
	}
	own := h.m.ownCircles(who)
	listed = []int{own[y%len(own)]}
	if y%3 == 0 {
		listed = append(listed, h.someCircle(who, y+1))
	}
	for _, circle := range listed {
		code = first(code, h.circleCode(who, circle))
	}
	return kind, listed, code
}

// allOwn reports whether all the circles exist and belong to the owner.
func (h *history) allOwn(who int, circles []int) bool {
	return !slices.ContainsFunc(circles, func(circle int) bool { return h.circleCode(who, circle) != fine })
}

func (h *history) audienceOf(kind social.AudienceKind, listed []int) social.Audience {
	a := social.Audience{Kind: kind}
	for _, circle := range listed {
		a.Circles = append(a.Circles, h.m.circles[circle].id)
	}
	return a
}

// content derives a content from numbers.
func (h *history) content(kind, n int) social.Content {
	text := fmt.Sprint("text ", n)
	switch kind % 6 {
	case 0:
		return social.Content{Status: &social.Status{Text: text}}
	case 1:
		return social.Content{Photo: &social.Photo{URL: "https://example.org/p", Caption: text, Width: n, Height: 1}}
	case 2:
		return social.Content{Link: &social.Link{URL: "https://example.org/" + strconv.Itoa(n), Title: text}}
	case 3:
		checkin := &social.Checkin{Place: "Plaza", Latitude: float64(n%90) + 0.1, Longitude: -0.25, Text: text}
		if n%2 == 0 {
			checkin.Photo = &social.Picture{URL: "https://example.org/p", Alt: text, Width: n}
		}
		return social.Content{Checkin: checkin}
	default:
		poll := &social.Poll{Question: text + "?", Options: []string{"a", "b", "c"}[:2+n%2]}
		if n%3 > 0 {
			poll.ClosesAt = h.m.now.Add(time.Duration(n%3) * time.Hour)
		}
		return social.Content{Poll: poll}
	}
}

func (h *history) createPost(s step) {
	who := h.actor(s.Who)
	owner := who
	if s.Z%3 > 0 {
		owner = h.personAt(s.Z)
	}
	kind, listed, code := h.audience(who, s.X, s.Y)
	switch {
	case code != fine || h.m.mayPostOn(who, owner):
	case !h.m.exists(who, owner):
		code = notFound
	default:
		code = notAllowed
	}
	content := h.content(s.Y+s.Z, len(h.m.posts))
	h.tellf("%d posts on %d's wall for %s %v: %s", who, owner, kind, listed, contentText(content))
	in := network.NewPost{Content: content, Audience: h.audienceOf(kind, listed), WallOwner: h.user(owner)}
	if who == owner && s.X%2 == 0 {
		in.WallOwner = social.UserID{}
	}
	p, err := h.service.CreatePost(h.ctx, h.user(who), in)
	h.hides(err, func() error {
		if kind == social.AudienceListed && !h.allOwn(who, listed) {
			in.Audience.Circles = []social.CircleID{newCircleID()}
		} else {
			in.WallOwner = newUserID()
		}
		_, err := h.service.CreatePost(h.ctx, h.user(who), in)
		return err
	})
	if h.ends(err, code) {
		h.m.posts = append(h.m.posts, &modelPost{
			id: p.ID, author: who, owner: owner, kind: kind, listed: listed, content: content,
			reactions: map[int]social.ReactionKind{}, votes: map[int]int{},
			replies: social.RepliesEveryone, order: social.OrderOldest, muters: map[int]bool{},
		})
	}
}

// seenCode returns the expected code for naming a post.
func (h *history) seenCode(who int, p *modelPost) fault.Code {
	if !h.m.sees(who, p) {
		return notFound
	}
	return fine
}

// ownPostCode returns the expected code for changing a post.
func (h *history) ownPostCode(who int, p *modelPost) fault.Code {
	if code := h.seenCode(who, p); code != fine || who == p.author {
		return code
	}
	return notAllowed
}

// somePost picks a post, and usually its author as the person who changes it.
func (h *history) somePost(s step) (who, post int, ok bool) {
	post, ok = pickOf(h.m.posts, s.X)
	who = h.actor(s.Who)
	if ok && s.Who%4 > 0 {
		who = h.actor(h.m.posts[post].author)
	}
	return who, post, ok
}

func (h *history) setAudience(s step) {
	who, post, ok := h.somePost(s)
	if !ok {
		return
	}
	p := h.m.posts[post]
	kind, listed, code := h.audience(who, s.Y, s.Z)
	h.tellf("%d shows post %d to %s %v", who, post, kind, listed)
	audience := h.audienceOf(kind, listed)
	_, err := h.service.SetAudience(h.ctx, h.user(who), p.id, audience)
	if h.ownPostCode(who, p) == notFound { // otherwise a circle was not found, and the error lists all mistakes
		h.hides(err, func() error { _, err := h.service.SetAudience(h.ctx, h.user(who), newPostID(), audience); return err })
	}
	if h.ends(err, first(code, h.ownPostCode(who, p))) {
		p.kind, p.listed = kind, listed
	}
}

func (h *history) editPost(s step) {
	who, post, ok := h.somePost(s)
	if !ok {
		return
	}
	p := h.m.posts[post]
	content := h.edited(p.content, s)
	code := h.ownPostCode(who, p)
	if code == fine && !mayBecome(p.content, content) {
		code = invalid
	}
	h.tellf("%d edits post %d to %s", who, post, contentText(content))
	kept := content
	if poll := content.Poll; poll != nil && p.content.Poll != nil {
		kept.Poll = &social.Poll{Question: poll.Question, Options: poll.Options, ClosesAt: p.content.Poll.ClosesAt}
	}
	_, err := h.service.EditPost(h.ctx, h.user(who), p.id, content)
	h.hides(err, func() error { _, err := h.service.EditPost(h.ctx, h.user(who), newPostID(), content); return err })
	if h.ends(err, code) {
		p.versions = append(p.versions, modelVersion{p.content, p.kind, p.listed, h.m.now})
		p.content = kept
	}
}

// edited returns another content of the same type, or rarely of another.
func (h *history) edited(old social.Content, s step) social.Content {
	if s.Y%8 == 7 {
		return h.content(s.Y, s.Z)
	}
	for kind := range 6 {
		if content := h.content(kind, 60+s.Z); typeOf(content) == typeOf(old) {
			if old.Poll != nil {
				content.Poll.Options = old.Poll.Options
				if s.Y%4 > 0 {
					content.Poll.ClosesAt = []time.Time{{}, old.Poll.ClosesAt}[s.Y%2] // omitted, or repeated
				}
			}
			return content
		}
	}
	return old
}

// mayBecome reports whether an edit keeps what it must not change: a post's type, a poll's options,
// and its closing time if the edit contains one.
func mayBecome(before, after social.Content) bool {
	if before.Poll != nil && after.Poll != nil {
		closes := after.Poll.ClosesAt
		return slices.Equal(before.Poll.Options, after.Poll.Options) && (closes.IsZero() || closes.Equal(before.Poll.ClosesAt))
	}
	return typeOf(before) == typeOf(after)
}

func typeOf(c social.Content) string { return strings.Fields(contentText(c))[0] }

func (h *history) deletePost(s step) {
	who, post, ok := h.somePost(s)
	if !ok {
		return
	}
	p := h.m.posts[post]
	code := h.ownPostCode(who, p)
	if code == notAllowed && who == p.owner {
		code = fine
	}
	h.tellf("%d deletes post %d", who, post)
	err := h.service.DeletePost(h.ctx, h.user(who), p.id)
	h.hides(err, func() error { return h.service.DeletePost(h.ctx, h.user(who), newPostID()) })
	if h.ends(err, code) {
		p.gone = true
	}
}

func (h *history) addComment(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	parent := h.someParent(post, s)
	code := h.seenCode(who, h.m.posts[post])
	if code == fine && !h.m.mayReply(who, h.m.posts[post]) {
		code = notAllowed
	}
	depth := 1
	if parent >= 0 {
		code = first(code, h.parentCode(who, post, parent))
		depth = h.m.comments[parent].depth + 1
	}
	if code == fine && depth > modelDepth {
		code = fault.CodeTooDeep
	}
	text := fmt.Sprint("comment ", len(h.m.comments))
	h.tellf("%d comments on post %d under %d: %q", who, post, parent, text)
	in := network.NewComment{Post: h.m.posts[post].id, Text: text}
	if parent >= 0 {
		in.Parent = h.m.comments[parent].id
	}
	c, err := h.service.AddComment(h.ctx, h.user(who), in)
	h.hides(err, func() error {
		if h.m.sees(who, h.m.posts[post]) {
			in.Parent = newCommentID()
		} else {
			in.Post = newPostID()
		}
		_, err := h.service.AddComment(h.ctx, h.user(who), in)
		return err
	})
	if h.ends(err, code) {
		h.m.comments = append(h.m.comments, &modelComment{
			id: c.ID, slug: c.Slug, tree: c.TreePath, post: post, parent: parent, depth: depth, author: who, text: text,
		})
	}
}

// converse adds more comments to one post than a preview contains.
func (h *history) converse(s step) {
	for i := range 4 + s.Y%7 {
		h.addComment(step{Who: s.Who + i*(1+s.Z%2), X: s.X, Y: 4*i + s.Z%2, Z: s.Z})
	}
}

// someParent picks a comment of the post to reply to, or none, or rarely any comment that ever
// existed.
func (h *history) someParent(post int, s step) int {
	if n, ok := pickOf(h.m.comments, s.Z); ok && s.Y%10 == 9 {
		return n
	}
	thread := h.m.thread(post)
	n, ok := pickOf(thread, s.Z)
	switch {
	case !ok || s.Y%4 == 0:
		return -1
	case s.Y%4 == 1: // the newest: threads become deep
		n = len(thread) - 1
	}
	return slices.Index(h.m.comments, thread[n])
}

// parentCode returns the expected code for naming a parent.
func (h *history) parentCode(who, post, parent int) fault.Code {
	c := h.m.comments[parent]
	switch {
	case !h.m.seesComment(who, c):
		return notFound
	case c.post != post:
		return invalid
	case c.deleted:
		return notFound
	}
	return fine
}

// someComment picks a comment, and usually its author.
func (h *history) someComment(s step) (who, comment int, ok bool) {
	comment, ok = pickOf(h.m.comments, s.X)
	who = h.actor(s.Who)
	if ok && s.Who%4 > 0 {
		who = h.actor(h.m.comments[comment].author)
	}
	return who, comment, ok
}

func (h *history) editComment(s step) {
	who, comment, ok := h.someComment(s)
	if !ok {
		return
	}
	c := h.m.comments[comment]
	codes := []fault.Code{fine}
	switch {
	case !h.m.seesComment(who, c):
		codes = []fault.Code{notFound}
	case c.deleted:
		codes = []fault.Code{notFound, notAllowed}
	case c.author != who:
		codes = []fault.Code{notAllowed}
	}
	text := fmt.Sprint("edited ", s.Y)
	h.tellf("%d edits comment %d to %q", who, comment, text)
	err := h.service.EditComment(h.ctx, h.user(who), c.id, text)
	h.hides(err, func() error { return h.service.EditComment(h.ctx, h.user(who), newCommentID(), text) })
	if h.ends(err, codes...) {
		c.text, c.edited = text, true
	}
}

func (h *history) deleteComment(s step) {
	who, comment, ok := h.someComment(s)
	if !ok {
		return
	}
	c := h.m.comments[comment]
	post := h.m.posts[c.post]
	code := fine
	switch {
	case !h.m.seesComment(who, c) || c.deleted:
		code = notFound
	case who != c.author && who != post.author && who != post.owner:
		code = notAllowed
	}
	h.tellf("%d deletes comment %d", who, comment)
	_, err := h.service.DeleteComment(h.ctx, h.user(who), c.id)
	h.hides(err, func() error {
		_, err := h.service.DeleteComment(h.ctx, h.user(who), newCommentID())
		return err
	})
	if h.ends(err, code) {
		c.deleted = true
		h.m.prune(comment)
	}
}

var replyKinds = map[social.AudienceKind]social.ReplyKind{
	social.AudiencePublic: social.RepliesEveryone, social.AudienceCircles: social.RepliesCircles,
	social.AudienceListed: social.RepliesListed, social.AudienceOnlyMe: social.RepliesNobody,
}

func (h *history) setReplies(s step) {
	who, post, ok := h.somePost(s)
	if !ok {
		return
	}
	p := h.m.posts[post]
	kind, listed, code := h.audience(who, s.Y, s.Z) // both name circles in the same way
	h.tellf("%d lets reply to post %d: %s %v", who, post, replyKinds[kind], listed)
	policy := social.ReplyPolicy{Kind: replyKinds[kind], Circles: h.audienceOf(kind, listed).Circles}
	_, err := h.service.SetReplyPolicy(h.ctx, h.user(who), p.id, policy)
	if h.ownPostCode(who, p) == notFound { // otherwise a circle was not found, and the error lists all mistakes
		h.hides(err, func() error { _, err := h.service.SetReplyPolicy(h.ctx, h.user(who), newPostID(), policy); return err })
	}
	if h.ends(err, first(code, h.ownPostCode(who, p))) {
		p.replies, p.repliers = replyKinds[kind], listed
	}
}

func (h *history) setOrder(s step) {
	who, post, ok := h.somePost(s)
	if !ok {
		return
	}
	p, order := h.m.posts[post], orders[s.Y%3]
	h.tellf("%d orders the thread of post %d: %s", who, post, order)
	_, err := h.service.SetCommentOrder(h.ctx, h.user(who), p.id, order)
	h.hides(err, func() error { _, err := h.service.SetCommentOrder(h.ctx, h.user(who), newPostID(), order); return err })
	if h.ends(err, h.ownPostCode(who, p)) {
		p.order = order
	}
}

func (h *history) muteThread(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	p := h.m.posts[post]
	h.tellf("%d mutes the thread of post %d", who, post)
	err := h.service.MuteThread(h.ctx, h.user(who), p.id)
	h.hides(err, func() error { return h.service.MuteThread(h.ctx, h.user(who), newPostID()) })
	if h.ends(err, h.seenCode(who, p)) {
		p.muters[who] = true
	}
}

func (h *history) unmuteThread(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	p := h.m.posts[post]
	h.tellf("%d unmutes the thread of post %d", who, post)
	err := h.service.UnmuteThread(h.ctx, h.user(who), p.id)
	h.hides(err, func() error { return h.service.UnmuteThread(h.ctx, h.user(who), newPostID()) })
	if h.ends(err, h.seenCode(who, p)) {
		delete(p.muters, who)
	}
}

func (h *history) eraseComments(s step) {
	who := h.actor(s.Who)
	h.tellf("%d erases all comments", who)
	remaining, err := h.service.EraseComments(h.ctx, h.user(who))
	h.ends(err, fine)
	if remaining > 0 {
		h.t.Fatalf("%d comments remain after the erasure", remaining)
	}
	for _, c := range h.m.commentsBy(who) {
		c.deleted = true
		h.m.prune(slices.Index(h.m.comments, c))
	}
}

// deleteAccount deletes a person, but never the last one. It uses the store directly, because
// checking passwords takes longer than everything else.
func (h *history) deleteAccount(s step) {
	who := h.actor(s.Who)
	if h.actor(who+1) == who {
		return
	}
	h.tellf("%d deletes the account", who)
	h.ends(h.store.DeleteUser(h.ctx, h.user(who), event(social.EventUserDeleted)), fine)
	h.m.people[who].gone = true
	h.hidesImmediately(who)
	if err := settle(h.ctx, h.store); err != nil {
		h.t.Fatal(err)
	}
	h.m.forget(who)
}

// hidesImmediately checks that a person who was just deleted, and what they wrote, is invisible to
// everyone.
func (h *history) hidesImmediately(gone int) {
	h.t.Helper()
	var posts []social.PostID
	for _, p := range h.m.posts {
		if p.author == gone {
			posts = append(posts, p.id)
		}
	}
	var comments []social.CommentID
	for _, c := range h.m.commentsBy(gone) {
		comments = append(comments, c.id)
	}
	for viewer := signedOut; viewer < len(h.m.people); viewer++ {
		if viewer != signedOut && h.m.people[viewer].gone {
			continue
		}
		v := h.service.Viewer(h.viewerID(viewer))
		a := &answers{history: h, who: viewer, v: v}
		users, err := v.Users(h.ctx, []social.UserID{h.user(gone)})
		a.ok(err, "users")
		seen, err := v.Posts(h.ctx, posts)
		a.ok(err, "posts")
		said, err := v.Comments(h.ctx, comments)
		a.ok(err, "comments")
		for id, c := range said {
			if c.Deleted { // by the background work
				delete(said, id)
			}
		}
		a.same([]int{len(users), len(seen), len(said)}, []int{0, 0, 0}, "the user, posts and comments of %d, who has gone", gone)
		_, err = v.UserByHandle(h.ctx, h.m.people[gone].handle)
		h.ends(err, notFound)
		a.isInNoList(gone)
	}
}

// isInNoList checks that a deleted person is in no list.
func (a *answers) isInNoList(gone int) {
	a.t.Helper()
	var lists []social.List[social.UserID]
	for _, person := range a.m.people {
		lists = append(lists, social.List[social.UserID]{Of: person.id, Page: everything})
	}
	followers, err := a.v.Followers(a.ctx, lists)
	a.ok(err, "followers")
	following, err := a.v.Following(a.ctx, lists)
	a.ok(err, "following")
	walls, err := a.v.Walls(a.ctx, lists)
	a.ok(err, "walls")
	of := a.user(gone)
	for _, list := range lists {
		for _, e := range slices.Concat(followers[list].Items, following[list].Items) {
			a.same(e.From != of && e.To != of, true, "whether %d, who has gone, is in no list of follows", gone)
		}
		for _, p := range walls[list].Items {
			a.same(p.Author != of && p.WallOwner != of, true, "whether no wall has posts of %d, who has gone", gone)
		}
	}
	if a.who == signedOut {
		return
	}
	for _, read := range []func(context.Context, social.Page) (social.Slice[*social.Post], error){a.v.News, a.v.Incoming} {
		feed, err := read(a.ctx, everything)
		a.ok(err, "feed")
		for _, p := range feed.Items {
			a.same(p.Author != of, true, "whether no feed has posts of %d, who has gone", gone)
		}
	}
}

func (h *history) react(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	p, kind := h.m.posts[post], []social.ReactionKind{social.ReactionLike, social.ReactionWow, social.ReactionSad}[s.Y%3]
	h.tellf("%d reacts to post %d: %s", who, post, kind)
	err := h.service.React(h.ctx, h.user(who), p.id, kind)
	h.hides(err, func() error { return h.service.React(h.ctx, h.user(who), newPostID(), kind) })
	if h.ends(err, h.seenCode(who, p)) {
		p.reactions[who] = kind
	}
}

func (h *history) unreact(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	p := h.m.posts[post]
	h.tellf("%d takes the reaction to post %d back", who, post)
	err := h.service.Unreact(h.ctx, h.user(who), p.id)
	h.hides(err, func() error { return h.service.Unreact(h.ctx, h.user(who), newPostID()) })
	if h.ends(err, h.seenCode(who, p)) {
		delete(p.reactions, who)
	}
}

func (h *history) vote(s step) {
	who := h.actor(s.Who)
	post, ok := pickOf(h.m.posts, s.X)
	if !ok {
		return
	}
	p, option := h.m.posts[post], s.Y%4-1+s.Z%2
	code := h.seenCode(who, p)
	switch poll := p.content.Poll; {
	case code != fine:
	case poll == nil, option < 0, option >= len(poll.Options):
		code = invalid
	case !poll.ClosesAt.IsZero() && !h.m.now.Before(poll.ClosesAt):
		code = fault.CodeClosed
	}
	h.tellf("%d votes in post %d for %d", who, post, option)
	err := h.service.Vote(h.ctx, h.user(who), p.id, option)
	h.hides(err, func() error { return h.service.Vote(h.ctx, h.user(who), newPostID(), option) })
	if h.ends(err, code) {
		p.votes[who] = option
	}
}

func (h *history) timePasses(step) {
	h.tellf("an hour passes")
	h.m.now = h.m.now.Add(time.Hour)
}
