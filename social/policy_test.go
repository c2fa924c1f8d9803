package social_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

var (
	author  = social.UserID{ID: id.New()}
	owner   = social.UserID{ID: id.New()}
	viewer  = social.UserID{ID: id.New()}
	anyone  = social.UserID{}
	family  = social.CircleID{ID: id.New()}
	friends = social.CircleID{ID: id.New()}
)

// TestCanSeePost covers every case of the audience rule in the design.
func TestCanSeePost(t *testing.T) {
	stranger := social.Relation{}
	inFamily := social.Relation{Circles: []social.CircleID{family}}
	blocks := social.Relation{Blocks: true, Circles: []social.CircleID{family}}
	blockedBy := social.Relation{BlockedBy: true, Circles: []social.CircleID{family}}
	mutes := social.Relation{Mutes: true, Circles: []social.CircleID{family}}
	for _, c := range []struct {
		audience social.Audience
		relation social.Relation
		who      string
		stranger bool // sees it, with that relation, without being its author or its wall's owner
	}{
		{social.Audience{Kind: social.AudiencePublic}, stranger, "a stranger", true},
		{social.Audience{Kind: social.AudiencePublic}, mutes, "a user who mutes the author", true},
		{social.Audience{Kind: social.AudiencePublic}, blocks, "a user who blocks the author", false},
		{social.Audience{Kind: social.AudiencePublic}, blockedBy, "a user blocked by the author", false},
		{social.Audience{Kind: social.AudienceCircles}, stranger, "a stranger", false},
		{social.Audience{Kind: social.AudienceCircles}, inFamily, "a member", true},
		{social.Audience{Kind: social.AudienceCircles}, blocks, "a user who blocks the author", false},
		{social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{family}}, inFamily, "a member", true},
		{social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{friends, family}}, inFamily, "a member of one", true},
		{social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{friends}}, inFamily, "a member of another", false},
		{social.Audience{Kind: social.AudienceListed}, inFamily, "a member of none", false},
		{social.Audience{Kind: social.AudienceOnlyMe}, inFamily, "a member", false},
		{social.Audience{Kind: "FUTURE"}, inFamily, "an unknown kind", false},
		{social.Audience{}, inFamily, "no kind", false},
	} {
		post := &social.Post{Author: author, WallOwner: owner, Audience: c.audience}
		name := fmt.Sprintf("%s for %s", c.audience.Kind, c.who)
		if got := social.CanSeePost(viewer, post, c.relation); got != c.stranger {
			t.Errorf("%s: seen %v, want %v", name, got, c.stranger)
		}
		if !social.CanSeePost(author, post, social.Relation{}) {
			t.Errorf("%s: its author does not see it", name)
		}
		blocked := c.relation.Blocks || c.relation.BlockedBy
		if got := social.CanSeePost(owner, post, c.relation); got == blocked {
			t.Errorf("%s: the wall's owner sees it: %v, with a block: %v", name, got, blocked)
		}
		if got, want := social.CanSeePost(anyone, post, social.Relation{}), c.audience.Kind == social.AudiencePublic; got != want {
			t.Errorf("%s: a signed-out viewer sees it: %v, want %v", name, got, want)
		}
	}
}

// TestOnWall: a block by the wall's owner removes posts from the wall; a mute or a block by their
// author does not.
func TestOnWall(t *testing.T) {
	post := &social.Post{Author: author, WallOwner: owner, Audience: social.Audience{Kind: social.AudiencePublic}}
	for _, c := range []struct {
		toAuthor, ownerToAuthor social.Relation
		want                    bool
	}{
		{social.Relation{}, social.Relation{}, true},
		{social.Relation{}, social.Relation{Blocks: true}, false},
		{social.Relation{}, social.Relation{BlockedBy: true}, true},
		{social.Relation{}, social.Relation{Mutes: true}, true},
		{social.Relation{BlockedBy: true}, social.Relation{}, false},
	} {
		if got := social.OnWall(viewer, post, c.toAuthor, c.ownerToAuthor); got != c.want {
			t.Errorf("%+v: on the wall %v, want %v", c, got, c.want)
		}
	}
}

// TestCanSeeVersion: those who see the post now and would have seen it then see the version.
func TestCanSeeVersion(t *testing.T) {
	public := social.Audience{Kind: social.AudiencePublic}
	toCircles := social.Audience{Kind: social.AudienceCircles}
	toFamily := social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{family}}
	toFriends := social.Audience{Kind: social.AudienceListed, Circles: []social.CircleID{friends}}
	onlyMe := social.Audience{Kind: social.AudienceOnlyMe}
	stranger := social.Relation{}
	inFamily := social.Relation{Circles: []social.CircleID{family}}
	blocked := social.Relation{BlockedBy: true, Circles: []social.CircleID{family}}
	for _, c := range []struct {
		name                      string
		now, then                 social.Audience
		relation                  social.Relation
		another, owner, signedOut bool
	}{
		{"public always", public, public, stranger, true, true, true},
		{"a draft that became public", public, onlyMe, inFamily, false, true, false},
		{"for circles, then public, to a member", public, toCircles, inFamily, true, true, false},
		{"for circles, then public, to a stranger", public, toCircles, stranger, false, true, false},
		{"for one circle, then public, to a member", public, toFamily, inFamily, true, true, false},
		{"for another circle, then public", public, toFriends, inFamily, false, true, false},
		{"for another circle, then for this one", toFamily, toFriends, inFamily, false, true, false},
		{"public, then for another circle", toFriends, public, inFamily, false, true, false},
		{"public, then a draft", onlyMe, public, inFamily, false, true, false},
		{"public always, with a block", public, public, blocked, false, false, true},
		{"without an audience, then public", public, social.Audience{}, inFamily, false, true, false},
	} {
		post := &social.Post{Author: author, WallOwner: owner, Audience: c.now}
		version := &social.Version{Audience: c.then}
		for who, want := range map[social.UserID]bool{viewer: c.another, owner: c.owner} {
			if got := social.CanSeeVersion(who, post, version, c.relation); got != want {
				t.Errorf("%s: seen %v, want %v (the wall's owner: %v)", c.name, got, want, who == owner)
			}
		}
		if !social.CanSeeVersion(author, post, version, social.Relation{}) {
			t.Errorf("%s: its author does not see it", c.name)
		}
		if got := social.CanSeeVersion(anyone, post, version, social.Relation{}); got != c.signedOut {
			t.Errorf("%s: a signed-out viewer sees it: %v, want %v", c.name, got, c.signedOut)
		}
		if post.Audience.Kind != c.now.Kind {
			t.Errorf("%s: asking has changed the post", c.name)
		}
	}
}

// TestCanComment covers every case of the reply policy.
func TestCanComment(t *testing.T) {
	stranger := social.Relation{}
	inFamily := social.Relation{Circles: []social.CircleID{family}}
	for _, c := range []struct {
		replies  social.ReplyPolicy
		relation social.Relation
		who      string
		want     bool
	}{
		{social.ReplyPolicy{Kind: social.RepliesEveryone}, stranger, "a stranger", true},
		{social.ReplyPolicy{Kind: social.RepliesCircles}, stranger, "a stranger", false},
		{social.ReplyPolicy{Kind: social.RepliesCircles}, inFamily, "a member", true},
		{social.ReplyPolicy{Kind: social.RepliesCircles}, social.Relation{Follows: true}, "a follower", false},
		{social.ReplyPolicy{Kind: social.RepliesListed, Circles: []social.CircleID{friends, family}}, inFamily, "a member of one", true},
		{social.ReplyPolicy{Kind: social.RepliesListed, Circles: []social.CircleID{friends}}, inFamily, "a member of another", false},
		{social.ReplyPolicy{Kind: social.RepliesListed}, inFamily, "a member of none", false},
		{social.ReplyPolicy{Kind: social.RepliesNobody}, inFamily, "a member", false},
		{social.ReplyPolicy{Kind: "FUTURE"}, inFamily, "an unknown kind", false},
		{social.ReplyPolicy{}, inFamily, "no kind", false},
	} {
		post := &social.Post{Author: author, WallOwner: owner, Replies: c.replies}
		name := fmt.Sprintf("%s for %s", c.replies.Kind, c.who)
		for _, who := range []social.UserID{viewer, owner} { // a wall's owner has no privilege
			if got := social.CanComment(who, post, c.relation); got != c.want {
				t.Errorf("%s: may comment %v, want %v", name, got, c.want)
			}
		}
		top := &social.Comment{}
		top.SetID(social.CommentID{ID: id.New()})
		if got := social.CanReply(viewer, top, post, c.relation, 2); got != c.want {
			t.Errorf("%s: may reply to a comment %v, want %v", name, got, c.want)
		}
		if social.CanReply(author, top, post, c.relation, 1) || social.CanReply(author, &social.Comment{Deleted: true}, post, c.relation, 2) {
			t.Errorf("%s: there may be replies where there can be none", name)
		}
		if !social.CanComment(author, post, social.Relation{}) || social.CanComment(anyone, post, social.Relation{}) {
			t.Errorf("%s: its author may not comment, or a signed-out viewer may", name)
		}
		if social.CanSeeReplyPolicy(viewer, post) || social.CanSeeReplyPolicy(owner, post) || !social.CanSeeReplyPolicy(author, post) {
			t.Errorf("%s: the reply policy is visible to others than the author", name)
		}
	}
}

// TestHiddenComments: for everyone but its author, a hidden comment is what a deleted one is.
func TestHiddenComments(t *testing.T) {
	t.Parallel()
	post := &social.Post{Author: owner, WallOwner: owner, Audience: social.Audience{Kind: social.AudiencePublic}, Replies: social.ReplyPolicy{Kind: social.RepliesEveryone}}
	hidden := &social.Comment{ID: social.CommentID{ID: id.New()}, Author: author, Text: "rude", EditedAt: time.UnixMilli(1), Replies: 2, Hidden: true}
	alone := *hidden
	alone.Replies = 0
	tombstone := &social.Comment{ID: hidden.ID, Replies: 2, Deleted: true}
	for name, who := range map[string]social.UserID{"a viewer": viewer, "the owner of the wall": owner, "someone signed out": anyone} {
		if seen := social.CommentSeen(who, hidden); *seen != *tombstone {
			t.Errorf("%s sees %+v", name, seen)
		}
		if !social.CanSeeComment(who, hidden, social.Relation{Blocks: true}) || social.CanSeeComment(who, &alone, social.Relation{}) {
			t.Errorf("%s sees no tombstone above replies, or one above none", name)
		}
		if social.CanReadComment(who, hidden, social.Relation{}) {
			t.Errorf("%s reads it", name)
		}
	}
	if seen := social.CommentSeen(author, hidden); *seen != *hidden || !social.CanSeeComment(author, &alone, social.Relation{}) || !social.CanReadComment(author, hidden, social.Relation{}) {
		t.Errorf("its author sees %+v", seen)
	}
	if !social.CanDeleteComment(author, hidden, post) || social.CanEditComment(author, hidden, post) || social.CanReply(author, hidden, post, social.Relation{}, 9) {
		t.Error("its author may do something else with it than deleting it")
	}
	for _, who := range []social.UserID{author, viewer} {
		group := social.NotificationGroup{To: who, Kind: social.NotifyComment, Post: post.ID}
		if social.InNotification(group, social.Act{Actor: author, Comment: hidden.ID}, post, hidden, nil, false) {
			t.Error("someone is notified of it")
		}
	}
	if social.InPreview(hidden, social.Relation{}) {
		t.Error("it is in previews")
	}
	posts := &social.Post{Author: author, Audience: social.Audience{Kind: social.AudienceHidden}, Replies: social.ReplyPolicy{Kind: social.RepliesEveryone}}
	if social.CanComment(author, posts, social.Relation{}) || social.CanEditComment(author, &social.Comment{Author: author}, posts) {
		t.Error("the author of a hidden post may write comments on it")
	}
}

func TestSuggestions(t *testing.T) {
	for name, r := range map[string]social.Relation{
		"followed": {Follows: true}, "muted": {Mutes: true}, "blocked": {Blocks: true}, "blocking": {BlockedBy: true},
		"deleted": {Gone: true}, "away": {Away: true},
	} {
		if social.IsSuggested(viewer, author, r) {
			t.Errorf("someone who is %s is suggested", name)
		}
	}
	if social.IsSuggested(viewer, viewer, social.Relation{}) {
		t.Error("a user is suggested to themselves")
	}
	for _, r := range []social.Relation{{}, {Circles: []social.CircleID{family}}} {
		if !social.IsSuggested(viewer, author, r) {
			t.Errorf("someone with the relation %+v is not suggested", r)
		}
	}
}

// TestSignedOutIsNoAuthor guards against the zero id: a signed-out viewer is not the author of a
// post without one.
func TestSignedOutIsNoAuthor(t *testing.T) {
	post := &social.Post{Audience: social.Audience{Kind: social.AudienceOnlyMe}, Replies: social.ReplyPolicy{Kind: social.RepliesEveryone}}
	comment := &social.Comment{}
	if social.CanSeePost(anyone, post, social.Relation{}) || social.CanEditPost(anyone, post) || social.CanDeletePost(anyone, post) ||
		social.CanEditComment(anyone, comment, post) || social.CanDeleteComment(anyone, comment, post) || social.CanComment(anyone, post, social.Relation{}) ||
		social.CanPostOnWall(&social.User{WallPolicy: social.WallEveryone, ID: owner}, anyone, social.Relation{}) {
		t.Error("a signed-out viewer has a right that needs an account")
	}
}

func TestFeeds(t *testing.T) {
	circles := []social.CircleID{family}
	public, toCircles := social.Audience{Kind: social.AudiencePublic}, social.Audience{Kind: social.AudienceCircles}
	for _, c := range []struct {
		name                              string
		post                              social.Post
		relation                          social.Relation
		news, incoming, followedView, all bool
	}{
		{"own", social.Post{Author: viewer, WallOwner: viewer}, social.Relation{}, true, false, true, true},
		{"followed", social.Post{Author: author, WallOwner: author, Audience: public}, social.Relation{Follows: true}, true, false, true, true},
		{"followed and muted", social.Post{Author: author, WallOwner: author, Audience: public}, social.Relation{Follows: true, Mutes: true}, false, false, false, false},
		{"followed, but hidden", social.Post{Author: author, WallOwner: author, Audience: toCircles}, social.Relation{Follows: true}, false, false, false, false},
		{"to circles, not followed", social.Post{Author: author, WallOwner: author, Audience: toCircles}, social.Relation{Circles: circles}, false, true, false, true},
		{"on the viewer's wall", social.Post{Author: author, WallOwner: viewer, Audience: public}, social.Relation{}, false, true, false, true},
		{"secret on the viewer's wall", social.Post{Author: author, WallOwner: viewer, Audience: social.Audience{Kind: social.AudienceOnlyMe}}, social.Relation{}, false, true, false, true},
		{"on the viewer's wall, muted", social.Post{Author: author, WallOwner: viewer, Audience: public}, social.Relation{Mutes: true}, false, false, false, false},
		{"on the viewer's wall, blocked", social.Post{Author: author, WallOwner: viewer, Audience: public}, social.Relation{BlockedBy: true}, false, false, false, false},
		{"public by a stranger", social.Post{Author: author, WallOwner: author, Audience: public}, social.Relation{}, false, false, false, true},
	} {
		if got := social.InNews(viewer, &c.post, c.relation); got != c.news {
			t.Errorf("%s: in news %v, want %v", c.name, got, c.news)
		}
		if got := social.InIncoming(viewer, &c.post, c.relation); got != c.incoming {
			t.Errorf("%s: in incoming %v, want %v", c.name, got, c.incoming)
		}
		if got := social.InWallView(social.ViewFollowed, viewer, &c.post, c.relation); got != c.followedView {
			t.Errorf("%s: in FOLLOWED %v, want %v", c.name, got, c.followedView)
		}
		if got := social.InWallView(social.ViewAll, viewer, &c.post, c.relation); got != c.all {
			t.Errorf("%s: in ALL %v, want %v", c.name, got, c.all)
		}
	}
}

func TestCanPostOnWall(t *testing.T) {
	for _, c := range []struct {
		policy          social.WallPolicy
		ownersView      social.Relation
		stranger, owner bool
	}{
		{social.WallEveryone, social.Relation{}, true, true},
		{social.WallEveryone, social.Relation{Mutes: true}, false, true},
		{social.WallEveryone, social.Relation{Blocks: true}, false, true},
		{social.WallEveryone, social.Relation{BlockedBy: true}, false, true},
		{social.WallFollowed, social.Relation{}, false, true},
		{social.WallFollowed, social.Relation{Follows: true}, true, true},
		{social.WallFollowed, social.Relation{Follows: true, Mutes: true}, false, true},
		{social.WallNobody, social.Relation{Follows: true}, false, true},
		{"", social.Relation{Follows: true}, false, true},
	} {
		wall := &social.User{ID: owner, WallPolicy: c.policy}
		if got := social.CanPostOnWall(wall, author, c.ownersView); got != c.stranger {
			t.Errorf("%q %+v: another may post %v, want %v", c.policy, c.ownersView, got, c.stranger)
		}
		if got := social.CanPostOnWall(wall, owner, social.Relation{}); got != c.owner {
			t.Errorf("%q: the owner may post %v, want %v", c.policy, got, c.owner)
		}
	}
}

// TestCanReport: everyone signed in reports what others wrote.
func TestCanReport(t *testing.T) {
	for _, c := range []struct {
		viewer, author social.UserID
		want           bool
	}{{viewer, author, true}, {author, author, false}, {anyone, author, false}} {
		if got := social.CanReport(c.viewer, c.author); got != c.want {
			t.Errorf("%v reports what %v wrote: %v", c.viewer, c.author, got)
		}
	}
}

// TestCanSeeReported: a moderator sees a post of any audience while there is a case on it, and only
// that post.
func TestCanSeeReported(t *testing.T) {
	reported := social.Subject{Post: social.PostID{ID: id.New()}}
	other := social.Subject{Post: social.PostID{ID: id.New()}}
	sameID := social.Subject{Comment: social.CommentID{ID: reported.Post.ID}}
	on := &social.Case{Subject: reported, Author: author}
	for _, c := range []struct {
		name    string
		viewer  social.UserID
		is      bool
		on      *social.Case
		subject social.Subject
		want    bool
	}{
		{"a moderator", viewer, true, on, reported, true},
		{"anyone else", viewer, false, on, reported, false},
		{"a moderator, without a case", viewer, true, nil, reported, false},
		{"a moderator, by the case on another post", viewer, true, on, other, false},
		{"a moderator, by the case on something else", viewer, true, on, sameID, false},
		{"a moderator who wrote it", author, true, on, reported, false},
		{"someone who is signed out", anyone, true, on, reported, false},
	} {
		if got := social.CanSeeReported(c.viewer, c.is, c.on, c.subject); got != c.want {
			t.Errorf("%s sees what was reported: %v", c.name, got)
		}
		if c.on != nil && c.subject == reported && social.CanSeeCase(c.viewer, c.is, c.on) != c.want {
			t.Errorf("%s sees the case: %v", c.name, !c.want)
		}
	}
}

// TestHiddenPosts: what moderators have hidden is seen by its author alone, who can't change it.
func TestHiddenPosts(t *testing.T) {
	post := &social.Post{Author: author, WallOwner: owner, Audience: social.Audience{Kind: social.AudienceHidden}}
	follower := social.Relation{Follows: true, Circles: []social.CircleID{family}}
	for name, who := range map[string]social.UserID{"a follower": viewer, "the owner of the wall": owner, "someone signed out": anyone} {
		if social.CanSeePost(who, post, follower) || social.InFeed(who, post, follower) || social.InIncoming(who, post, follower) || social.InWallView(social.ViewAll, who, post, follower) {
			t.Errorf("%s sees it", name)
		}
	}
	if !social.CanSeePost(author, post, social.Relation{}) || !social.CanDeletePost(author, post) || !social.CanSeeReplyPolicy(author, post) {
		t.Error("the author does not see it, or can't delete it")
	}
	if social.CanEditPost(author, post) {
		t.Error("the author can change it")
	}
}

// TestStandings: what each standing means, before and after a suspension ends by itself.
func TestStandings(t *testing.T) {
	now := time.Now()
	suspended := social.Standing{Sanction: social.SanctionSuspended, Until: now, Reason: "x"}
	banned := social.Standing{Sanction: social.SanctionBanned, Reason: "x"}
	for _, c := range []struct {
		name                     string
		is                       social.Standing
		at                       time.Time
		kind                     social.StandingKind
		isAway, signsIn, changes bool
	}{
		{"active", social.Standing{}, now, social.StandingActive, false, true, true},
		{"suspended", suspended, now.Add(-time.Millisecond), social.StandingSuspended, false, true, false},
		{"suspended until now", suspended, now, social.StandingActive, false, true, true},
		{"banned", banned, now, social.StandingBanned, true, false, false},
		{"deactivated", social.Standing{Left: true}, now, social.StandingDeactivated, true, true, false},
		{"deactivated while suspended", social.Standing{Sanction: social.SanctionSuspended, Until: now, Left: true}, now.Add(-time.Hour), social.StandingDeactivated, true, true, false},
		{"banned after deactivation", social.Standing{Sanction: social.SanctionBanned, Left: true}, now, social.StandingBanned, true, false, false},
	} {
		if got := c.is.At(c.at); got != c.kind {
			t.Errorf("%s is %s", c.name, got)
		}
		if got := []bool{social.IsAway(c.is), social.CanSignIn(c.is), social.CanChange(c.is, c.at)}; !slices.Equal(got, []bool{c.isAway, c.signsIn, c.changes}) {
			t.Errorf("%s: away, may sign in, may change: %v", c.name, got)
		}
	}
}

// TestAwayIsUnseen: only the author sees an account that is away, and its posts.
func TestAwayIsUnseen(t *testing.T) {
	away := social.Relation{Away: true, Follows: true, Circles: []social.CircleID{family}}
	post := &social.Post{Author: author, WallOwner: owner, Audience: social.Audience{Kind: social.AudiencePublic}}
	for name, who := range map[string]social.UserID{"a follower": viewer, "the owner of the wall": owner, "someone signed out": anyone} {
		if social.CanSeePost(who, post, away) || social.InFeed(who, post, away) || social.CanSeeUser(away) ||
			social.CanSeeComment(who, &social.Comment{Author: author}, away) || social.CanSeeValue(who, author, social.VisibleToAll, away) {
			t.Errorf("%s sees something", name)
		}
	}
	if social.CanPostOnWall(&social.User{ID: owner, WallPolicy: social.WallEveryone}, author, away) {
		t.Error("the user can still post on walls")
	}
	if !social.CanSeePost(author, post, social.Relation{}) {
		t.Error("the author does not see it")
	}
}

// TestSanctions: which decisions about an account are allowed.
func TestSanctions(t *testing.T) {
	now := time.Now()
	suspended := social.Standing{Sanction: social.SanctionSuspended, Until: now.Add(time.Hour)}
	banned := social.Standing{Sanction: social.SanctionBanned}
	for _, c := range []struct {
		name   string
		is     social.Standing
		action social.Action
		until  time.Time
		want   fault.Code
	}{
		{"suspend", social.Standing{}, social.ActionSuspend, now.Add(time.Hour), ""},
		{"suspend longer", suspended, social.ActionSuspend, now.Add(2 * time.Hour), ""},
		{"suspend without an end", social.Standing{}, social.ActionSuspend, time.Time{}, fault.CodeInvalid},
		{"suspend until now", social.Standing{}, social.ActionSuspend, now, fault.CodeInvalid},
		{"suspend for longer than ten years", social.Standing{}, social.ActionSuspend, now.Add(social.MaxSuspension + 1), fault.CodeInvalid},
		{"suspend who is banned", banned, social.ActionSuspend, now.Add(time.Hour), fault.CodeConflict},
		{"ban", suspended, social.ActionBan, time.Time{}, ""},
		{"ban until", social.Standing{}, social.ActionBan, now.Add(time.Hour), fault.CodeInvalid},
		{"ban again", banned, social.ActionBan, time.Time{}, fault.CodeConflict},
		{"reinstate", suspended, social.ActionReinstate, time.Time{}, ""},
		{"reinstate who is banned", banned, social.ActionReinstate, time.Time{}, ""},
		{"reinstate who is active", social.Standing{}, social.ActionReinstate, time.Time{}, fault.CodeConflict},
		{"reinstate whose suspension has ended", social.Standing{Sanction: social.SanctionSuspended, Until: now}, social.ActionReinstate, time.Time{}, fault.CodeConflict},
	} {
		r, err := (&social.User{Standing: c.is}).Sanction(social.Decision{Action: c.action, Until: c.until, At: now}, nil)
		mistake, _ := errors.AsType[*fault.Error](err)
		if (mistake == nil) != (c.want == "") || mistake != nil && mistake.Code != c.want || err == nil && !r.Sanctions {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for right, want := range map[social.Right]bool{social.RightModerate: false, social.RightAdmin: false, social.RightManageAds: true} {
		if got := social.CanSanction(&social.User{Rights: []social.Right{right}}); got != want {
			t.Errorf("moderators decide about a user with the right %s: %v", right, got)
		}
	}
}
