package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plaza/social"
)

// This file is the model of the product for the model test: the rules of the design's section "What
// things mean", in maps and loops. It shares no code with the rules of package social, because it
// checks them. People, circles, posts and comments are identified by their indexes in the model's
// slices; signedOut is -1.

const signedOut = -1

// model is the state of one history.
type model struct {
	now      time.Time
	people   []*modelPerson
	circles  []*modelCircle
	posts    []*modelPost
	comments []*modelComment
	follows  []arc // oldest first, as are the others
	blocks   []arc
	mutes    []arc
}

type modelPerson struct {
	id     social.UserID
	handle string
	policy social.WallPolicy
	gone   bool // deleted the account
}

type modelCircle struct {
	id      social.CircleID
	owner   int
	name    string
	builtIn bool
	gone    bool
	members []int // in the order in which they were added
}

func (c *modelCircle) has(member int) bool { return slices.Contains(c.members, member) }

func (c *modelCircle) add(member int) {
	if !c.has(member) {
		c.members = append(c.members, member)
	}
}

func (c *modelCircle) remove(member int) {
	c.members = slices.DeleteFunc(c.members, func(m int) bool { return m == member })
}

type modelPost struct {
	id            social.PostID
	author, owner int
	kind          social.AudienceKind
	listed        []int
	content       social.Content
	versions      []modelVersion // oldest first
	gone          bool
	reactions     map[int]social.ReactionKind
	votes         map[int]int
	replies       social.ReplyKind
	repliers      []int // the circles that may reply, if it lists some
	order         social.CommentOrder
	muters        map[int]bool
}

// modelVersion is a post's content before an edit, and its audience.
type modelVersion struct {
	content  social.Content
	kind     social.AudienceKind
	listed   []int
	replaced time.Time
}

type modelComment struct {
	id            social.CommentID
	slug          string
	tree          social.Key
	post          int
	parent        int // -1: none
	depth         int
	author        int
	text          string
	edited        bool
	deleted, gone bool // a tombstone; or removed completely
}

// arc is a directed relation between two people.
type arc struct{ from, to int }

func with(arcs []arc, a arc) []arc {
	if slices.Contains(arcs, a) {
		return arcs
	}
	return append(arcs, a)
}

func without(arcs []arc, a arc) []arc {
	return slices.DeleteFunc(arcs, func(other arc) bool { return other == a })
}

// exists reports whether two people are visible to each other: neither blocks the other, and
// neither has deleted their account.
func (m *model) exists(viewer, other int) bool {
	return !m.people[other].gone && (viewer == signedOut || !m.people[viewer].gone) && !slices.Contains(m.blocks, arc{viewer, other}) && !slices.Contains(m.blocks, arc{other, viewer})
}

func (m *model) followsNow(from, to int) bool { return slices.Contains(m.follows, arc{from, to}) }

func (m *model) mutesNow(from, to int) bool { return slices.Contains(m.mutes, arc{from, to}) }

// settle derives the follows from the circles: A follows B while B is in one of A's circles.
func (m *model) settle() {
	inCircle := map[arc]bool{}
	for _, c := range m.circles {
		for _, member := range c.members {
			if !c.gone {
				inCircle[arc{c.owner, member}] = true
			}
		}
	}
	m.follows = slices.DeleteFunc(m.follows, func(a arc) bool { return !inCircle[a] })
	for from := range m.people { // an operation begins one follow at most
		for to := range m.people {
			if inCircle[arc{from, to}] {
				m.follows = with(m.follows, arc{from, to})
			}
		}
	}
}

// sees is the audience rule.
func (m *model) sees(viewer int, p *modelPost) bool {
	switch {
	case p.gone:
		return false
	case viewer != signedOut && viewer == p.author:
		return true
	case !m.exists(viewer, p.author):
		return false
	case viewer != signedOut && viewer == p.owner:
		return true
	case p.kind == social.AudiencePublic:
		return true
	case p.kind == social.AudienceCircles:
		return m.followsNow(p.author, viewer)
	case p.kind == social.AudienceListed:
		return m.isListed(viewer, p)
	}
	return false
}

func (m *model) isListed(viewer int, p *modelPost) bool { return m.isInAny(viewer, p.listed) }

func (m *model) isInAny(viewer int, circles []int) bool {
	for _, i := range circles {
		if c := m.circles[i]; !c.gone && c.has(viewer) {
			return true
		}
	}
	return false
}

// history describes the earlier versions of a post that the viewer sees, and would have seen.
func (m *model) history(viewer int, p *modelPost) []string {
	var seen []string
	for _, v := range p.versions {
		then := *p
		then.kind, then.listed = v.kind, v.listed
		if m.sees(viewer, p) && m.sees(viewer, &then) {
			seen = append(seen, versionText(v.content, v.kind, v.listed, v.replaced))
		}
	}
	return seen
}

// seesComment reports whether a comment is visible to the viewer.
func (m *model) seesComment(viewer int, c *modelComment) bool {
	if c.gone || !m.sees(viewer, m.posts[c.post]) {
		return false
	}
	return c.deleted || m.exists(viewer, c.author)
}

// mayReply reports whether a person may reply to a post that they see.
func (m *model) mayReply(who int, p *modelPost) bool {
	switch {
	case who == signedOut:
		return false
	case who == p.author, p.replies == social.RepliesEveryone:
		return true
	case p.replies == social.RepliesCircles:
		return m.followsNow(p.author, who)
	case p.replies == social.RepliesListed:
		return m.isInAny(who, p.repliers)
	}
	return false
}

// commentsBy lists a person's live comments, newest first.
func (m *model) commentsBy(author int) []*modelComment {
	var by []*modelComment
	for _, c := range slices.Backward(m.comments) {
		if c.author == author && !c.deleted && !c.gone {
			by = append(by, c)
		}
	}
	return by
}

// forget removes everything a person did. Posts by others on their wall move to their authors'
// walls.
func (m *model) forget(who int) {
	isOf := func(a arc) bool { return a.from == who || a.to == who }
	m.blocks, m.mutes = slices.DeleteFunc(m.blocks, isOf), slices.DeleteFunc(m.mutes, isOf)
	for _, c := range m.circles {
		c.gone = c.gone || c.owner == who
		c.remove(who)
	}
	m.settle()
	for _, p := range m.posts {
		p.gone = p.gone || p.author == who
		if p.owner == who {
			p.owner = p.author
		}
		delete(p.reactions, who)
		delete(p.votes, who)
		delete(p.muters, who)
	}
	for _, c := range m.commentsBy(who) {
		c.deleted = true
		m.prune(slices.Index(m.comments, c))
	}
}

// The feeds.

func (m *model) inNews(viewer int, p *modelPost) bool {
	mine := viewer == p.author
	return viewer != signedOut && m.sees(viewer, p) && (mine || m.followsNow(viewer, p.author) && !m.mutesNow(viewer, p.author))
}

func (m *model) inIncoming(viewer int, p *modelPost) bool {
	if viewer == signedOut || viewer == p.author || !m.sees(viewer, p) || m.mutesNow(viewer, p.author) {
		return false
	}
	toCircles := p.kind == social.AudienceCircles && m.followsNow(p.author, viewer)
	toListed := p.kind == social.AudienceListed && m.isListed(viewer, p)
	return p.owner == viewer || toCircles || toListed
}

// onWall reports whether a viewer sees a post on a wall. Visitors see everything visible, except
// posts by people that the owner blocks; the owner sees what is neither blocked nor muted.
func (m *model) onWall(viewer, owner int, p *modelPost) bool {
	if p.owner != owner || !m.sees(viewer, p) {
		return false
	}
	if viewer != owner {
		return !slices.Contains(m.blocks, arc{owner, p.author})
	}
	return !m.mutesNow(viewer, p.author)
}

// onFollowedWall reports whether a post is in the owner's view FOLLOWED of their own wall.
func (m *model) onFollowedWall(owner int, p *modelPost) bool {
	return m.onWall(owner, owner, p) && (p.author == owner || m.followsNow(owner, p.author))
}

// mayPostOn reports whether a person may post on a wall.
func (m *model) mayPostOn(author, owner int) bool {
	if author == owner {
		return true
	}
	if author == signedOut || !m.exists(author, owner) || m.mutesNow(owner, author) {
		return false
	}
	policy := m.people[owner].policy
	return policy == social.WallEveryone || policy == social.WallFollowed && m.followsNow(owner, author)
}

// thread lists what is left of a post's comments, oldest first.
func (m *model) thread(post int) []*modelComment {
	return slices.DeleteFunc(slices.Clone(m.comments), func(c *modelComment) bool { return c.post != post || c.gone })
}

// inTreeOrder sorts comments depth first, siblings by time, by walking the tree.
func (m *model) inTreeOrder(post, parent int) []*modelComment {
	var ordered []*modelComment
	for i, c := range m.comments {
		if c.post == post && c.parent == parent && !c.gone {
			ordered = append(ordered, c)
			ordered = append(ordered, m.inTreeOrder(post, i)...)
		}
	}
	return ordered
}

func (m *model) replies(comment int) int {
	n := 0
	for _, c := range m.comments {
		if c.parent == comment && !c.gone {
			n++
		}
	}
	return n
}

func (m *model) commentCount(post int) int {
	n := 0
	for _, c := range m.thread(post) {
		if !c.deleted {
			n++
		}
	}
	return n
}

// preview returns the last three comments of a post that the viewer may see and does not mute.
func (m *model) preview(viewer, post int) []*modelComment {
	if m.posts[post].muters[viewer] {
		return nil
	}
	shown := slices.DeleteFunc(m.thread(post), func(c *modelComment) bool {
		return c.deleted || !m.seesComment(viewer, c) || m.mutesNow(viewer, c.author)
	})
	return last(shown, 3)
}

// prune removes tombstones without replies, from a comment upwards.
func (m *model) prune(comment int) {
	for comment >= 0 && m.comments[comment].deleted && m.replies(comment) == 0 {
		m.comments[comment].gone = true
		comment = m.comments[comment].parent
	}
}

// The texts by which the model and the service are compared.

func (m *model) postText(i int) string {
	p := m.posts[i]
	votes := make([]int, 0, 4)
	if p.content.Poll != nil {
		votes = make([]int, len(p.content.Poll.Options))
	}
	for _, option := range p.votes {
		votes[option]++
	}
	reactions := map[social.ReactionKind]int{}
	for _, kind := range p.reactions {
		reactions[kind]++
	}
	return postText(i, p.author, p.owner, p.kind, p.content, len(p.versions), m.commentCount(i), reactions, votes) +
		settingsText(p.replies, p.repliers, p.order, len(p.muters))
}

func settingsText(replies social.ReplyKind, circles []int, order social.CommentOrder, muters int) string {
	return fmt.Sprintf(", replies for %s %v, %s, %d muters", replies, slices.Compact(slices.Sorted(slices.Values(circles))), order, muters)
}

func postText(i, author, owner int, kind social.AudienceKind, content social.Content, edits, comments int,
	reactions map[social.ReactionKind]int, votes []int,
) string {
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(reactions)) {
		counts = append(counts, fmt.Sprint(kind, reactions[kind]))
	}
	return fmt.Sprintf("post %d by %d on %d for %s: %s, %d edits, %d comments, %v, votes %v",
		i, author, owner, kind, contentText(content), edits, comments, counts, votes)
}

func versionText(content social.Content, kind social.AudienceKind, listed []int, replaced time.Time) string {
	circles := slices.Compact(slices.Sorted(slices.Values(listed)))
	return fmt.Sprintf("%s, for %s %v until %d", contentText(content), kind, circles, replaced.UnixMilli())
}

func contentText(c social.Content) string {
	switch {
	case c.Status != nil:
		return fmt.Sprintf("status %+v", *c.Status)
	case c.Photo != nil:
		return fmt.Sprintf("photo %+v", *c.Photo)
	case c.Link != nil:
		return fmt.Sprintf("link %+v", *c.Link)
	case c.Checkin != nil:
		checkin, photo := *c.Checkin, "none"
		if checkin.Photo != nil {
			photo = fmt.Sprintf("%+v", *checkin.Photo)
		}
		checkin.Photo = nil
		return fmt.Sprintf("checkin %+v, photo %s", checkin, photo)
	case c.Poll != nil:
		return fmt.Sprintf("poll %q %q until %d", c.Poll.Question, c.Poll.Options, c.Poll.ClosesAt.UnixMilli())
	}
	return "nothing"
}

func (m *model) commentText(i int) string {
	c := m.comments[i]
	author, text, edited := c.author, c.text, c.edited
	if c.deleted {
		author, text, edited = signedOut, "", false
	}
	return commentText(i, c.post, c.parent, author, text, edited, c.deleted, m.replies(i), m.path(i))
}

func commentText(i, post, parent, author int, text string, edited, deleted bool, replies int, path string) string {
	return fmt.Sprintf("comment %d on %d under %d by %d: %q, edited %t, deleted %t, %d replies, at %s",
		i, post, parent, author, text, edited, deleted, replies, path)
}

func (m *model) path(i int) string {
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(m.path(m.comments[i].parent)+"/"+m.comments[i].slug, "/")
}

func (m *model) commentTexts(comments []*modelComment) []string {
	var texts []string
	for _, c := range comments {
		texts = append(texts, m.commentText(slices.Index(m.comments, c)))
	}
	return texts
}

func (m *model) followersCount(person int) (followers, following int) {
	for _, a := range m.follows {
		if a.to == person {
			followers++
		}
		if a.from == person {
			following++
		}
	}
	return followers, following
}

// ownCircles lists a person's circles, oldest first.
func (m *model) ownCircles(owner int) []int {
	var own []int
	for i, c := range m.circles {
		if c.owner == owner && !c.gone {
			own = append(own, i)
		}
	}
	return own
}

func (m *model) circleText(i int) string {
	c := m.circles[i]
	return circleText(i, c.owner, c.name, c.builtIn, len(c.members))
}

func circleText(i, owner int, name string, builtIn bool, members int) string {
	return fmt.Sprintf("circle %d of %d: %q, built in %t, %d members", i, owner, name, builtIn, members)
}

// find returns the index of the element with the id, or -1.
func find[T any, ID comparable](list []T, id ID, idOf func(T) ID) int {
	return slices.IndexFunc(list, func(element T) bool { return idOf(element) == id })
}

func (m *model) person(id social.UserID) int {
	return find(m.people, id, func(p *modelPerson) social.UserID { return p.id })
}

func (m *model) circle(id social.CircleID) int {
	return find(m.circles, id, func(c *modelCircle) social.CircleID { return c.id })
}

func (m *model) post(id social.PostID) int {
	return find(m.posts, id, func(p *modelPost) social.PostID { return p.id })
}

func (m *model) comment(id social.CommentID) int {
	return find(m.comments, id, func(c *modelComment) social.CommentID { return c.id })
}
