package notifications_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/social"
	"plaza/social/notifications"
)

// village is a store, and the relations of its people: ben has replied to ada's comment on ada's
// post, and mentions ada and cyd. Nothing else can be read.
type village struct {
	notifications.Store

	ada, ben, cyd social.User
	post          social.Post
	first, reply  social.Comment
	silent        map[social.UserID][]social.NotificationKind
	stored        []*social.Notification // about the post
	relations     map[social.Pair]social.Relation
}

func newVillage() *village {
	user := func(handle string) social.User { return social.User{ID: social.UserID{ID: id.New()}, Handle: handle} }
	v := &village{ada: user("ada"), ben: user("ben"), cyd: user("cyd"), silent: map[social.UserID][]social.NotificationKind{}, relations: map[social.Pair]social.Relation{}}
	v.post = social.Post{ID: social.PostID{ID: id.New()}, Author: v.ada.ID, WallOwner: v.ada.ID, Audience: social.Audience{Kind: social.AudiencePublic}}
	v.first = social.Comment{ID: social.CommentID{ID: id.New()}, Post: v.post.ID, Author: v.ada.ID, Text: "Tea?"}
	v.reply = social.Comment{ID: social.CommentID{ID: id.New()}, Post: v.post.ID, Parent: v.first.ID, Author: v.ben.ID, Text: "@ada and @cyd: yes"}
	return v
}

func (v *village) Posts(context.Context, []social.PostID) (map[social.PostID]*social.Post, error) {
	return map[social.PostID]*social.Post{v.post.ID: &v.post}, nil
}

func (v *village) Comments(_ context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	found := map[social.CommentID]*social.Comment{}
	for _, c := range ids {
		found[c] = map[social.CommentID]*social.Comment{v.first.ID: &v.first, v.reply.ID: &v.reply}[c]
	}
	return found, nil
}

// ActsOn implements notifications.Store: ada and cyd have been notified of the reply.
func (v *village) ActsOn(_ context.Context, comments []social.CommentID) ([]social.Notice, error) {
	var acts []social.Notice
	for _, c := range comments {
		if c == v.reply.ID {
			act := social.Act{Actor: v.ben.ID, Comment: c}
			reply := social.NotificationGroup{To: v.ada.ID, Kind: social.NotifyReply, Post: v.post.ID, Comment: v.first.ID}
			mention := social.NotificationGroup{To: v.cyd.ID, Kind: social.NotifyMention, Post: v.post.ID}
			acts = append(acts, social.Notice{NotificationGroup: reply, Act: act}, social.Notice{NotificationGroup: mention, Act: act})
		}
	}
	return acts, nil
}

func (v *village) UsersByHandle(context.Context, []string) (map[string]*social.User, error) {
	return map[string]*social.User{"ada": &v.ada, "cyd": &v.cyd}, nil
}

func (v *village) SilentNotificationKinds(context.Context, []social.UserID) (map[social.UserID][]social.NotificationKind, error) {
	return v.silent, nil
}

// MutedThreads implements notifications.Store: ada mutes the thread if someone does.
func (v *village) MutedThreads(_ context.Context, mutes []social.ThreadMute) (map[social.ThreadMute]bool, error) {
	muted := map[social.ThreadMute]bool{}
	for _, m := range mutes {
		muted[m] = m.User == v.ada.ID
	}
	return muted, nil
}

func (v *village) Relations(_ context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	found := map[social.Pair]social.Relation{}
	for _, p := range pairs {
		found[p] = v.relations[p]
	}
	return found, nil
}

// TestOneNoticeOfEachEvent: a reply concerns ada in three ways, and she gets the first notice that
// she wants; what she or cyd does not see now, they get no notice of.
func TestOneNoticeOfEachEvent(t *testing.T) {
	t.Parallel()
	type kinds map[string]social.NotificationKind // by recipient
	for name, c := range map[string]struct {
		given func(*village)
		want  kinds
	}{
		"the reply comes first": {func(*village) {}, kinds{"ada": social.NotifyReply, "cyd": social.NotifyMention}},
		"then the comment": {
			func(v *village) { v.silent[v.ada.ID] = []social.NotificationKind{social.NotifyReply} },
			kinds{"ada": social.NotifyComment, "cyd": social.NotifyMention},
		},
		"then the mention": {
			func(v *village) {
				v.silent[v.ada.ID] = []social.NotificationKind{social.NotifyComment, social.NotifyReply}
			},
			kinds{"ada": social.NotifyMention, "cyd": social.NotifyMention},
		},
		"all is turned off": {
			func(v *village) { v.silent[v.cyd.ID] = social.NotificationKinds },
			kinds{"ada": social.NotifyReply},
		},
		"the thread is muted": {func(v *village) { v.post.Muters = 1 }, kinds{"cyd": social.NotifyMention}},
		"the actor is muted": {
			func(v *village) {
				v.relations[social.Pair{Viewer: v.ada.ID, Other: v.ben.ID}] = social.Relation{Mutes: true}
			},
			kinds{"cyd": social.NotifyMention},
		},
		"the actor is away, and may come back": {
			func(v *village) {
				v.relations[social.Pair{Viewer: v.ada.ID, Other: v.ben.ID}] = social.Relation{Away: true}
			},
			kinds{"ada": social.NotifyReply, "cyd": social.NotifyMention},
		},
		"the author of the post blocks": {
			func(v *village) {
				v.relations[social.Pair{Viewer: v.cyd.ID, Other: v.ada.ID}] = social.Relation{BlockedBy: true}
			},
			kinds{"ada": social.NotifyReply},
		},
		"the post is for few":    {func(v *village) { v.post.Audience.Kind = social.AudienceOnlyMe }, kinds{"ada": social.NotifyReply}},
		"the comment is deleted": {func(v *village) { v.reply.Deleted = true }, kinds{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVillage()
			c.given(v)
			added := social.Event{Kind: social.EventCommentAdded, Actor: v.ben.ID, Post: v.post.ID, Comment: v.reply.ID}
			notices, err := notifications.New(v, v).NoticesOf(t.Context(), []social.Event{added})
			if err != nil {
				t.Fatal(err)
			}
			got := kinds{}
			for _, n := range notices {
				handle := map[social.UserID]string{v.ada.ID: "ada", v.ben.ID: "ben", v.cyd.ID: "cyd"}[n.To]
				if got[handle] != "" || n.Actor != v.ben.ID || n.Act.Comment != v.reply.ID {
					t.Errorf("%s gets a second notice, or a wrong one: %+v", handle, n)
				}
				got[handle] = n.Kind
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("who is notified of what (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommentsReadTogetherAreSeveralActs: the comments of one person that the notifier reads at once
// are acts of their own. A reaction that was changed is one act.
func TestCommentsReadTogetherAreSeveralActs(t *testing.T) {
	t.Parallel()
	v := newVillage()
	v.reply.Parent = social.CommentID{}
	v.first.Author = v.ben.ID
	added := func(c *social.Comment) social.Event {
		return social.Event{Kind: social.EventCommentAdded, Actor: v.ben.ID, Post: v.post.ID, Comment: c.ID}
	}
	reacted := social.Event{Kind: social.EventReactionAdded, Actor: v.ben.ID, Post: v.post.ID}
	notices, err := notifications.New(v, v).NoticesOf(t.Context(), []social.Event{added(&v.first), reacted, added(&v.reply), reacted})
	if err != nil {
		t.Fatal(err)
	}
	var got []social.CommentID
	for _, n := range notices {
		if n.To == v.ada.ID {
			got = append(got, n.Act.Comment)
		}
	}
	if diff := cmp.Diff([]social.CommentID{v.first.ID, v.reply.ID, {}}, got); diff != "" {
		t.Errorf("what ada is notified of (-want +got):\n%s", diff)
	}
}

// TestADeletedCommentLeavesNotifications: its acts are undone, and their recipients lose them if they
// see them. A comment that is only hidden stays stored.
func TestADeletedCommentLeavesNotifications(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given    func(*village)
		ada, cyd string
	}{
		"the comment is deleted":         {given: func(v *village) { v.reply.Deleted = true }, ada: "undone, lost", cyd: "undone, lost"},
		"it is hidden":                   {given: func(v *village) { v.reply.Hidden = true }, ada: "lost", cyd: "lost"},
		"it is restored":                 {given: func(*village) {}},
		"its kind is turned off":         {given: func(v *village) { v.reply.Deleted = true; v.silent[v.ada.ID] = social.NotificationKinds }, ada: "undone, lost", cyd: "undone, lost"},
		"the thread is muted":            {given: func(v *village) { v.reply.Deleted = true; v.post.Muters = 1 }, ada: "undone", cyd: "undone, lost"},
		"it is hidden in a muted thread": {given: func(v *village) { v.reply.Hidden = true; v.post.Muters = 1 }, cyd: "lost"},
		"the post is for few": {
			given: func(v *village) { v.reply.Deleted = true; v.post.Audience.Kind = social.AudienceOnlyMe }, ada: "undone, lost", cyd: "undone",
		},
		"ada mutes ben": {
			given: func(v *village) {
				v.reply.Deleted = true
				v.relations[social.Pair{Viewer: v.ada.ID, Other: v.ben.ID}] = social.Relation{Mutes: true}
			},
			ada: "undone", cyd: "undone, lost",
		},
		"ben blocks cyd": {
			given: func(v *village) {
				v.reply.Deleted = true
				v.relations[social.Pair{Viewer: v.cyd.ID, Other: v.ben.ID}] = social.Relation{BlockedBy: true}
			},
			ada: "undone, lost", cyd: "undone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVillage()
			c.given(v)
			deleted := social.Event{Kind: social.EventCommentDeleted, Actor: v.ben.ID, Post: v.post.ID, Comment: v.reply.ID}
			notices, err := notifications.New(v, v).NoticesOf(t.Context(), []social.Event{deleted})
			if err != nil {
				t.Fatal(err)
			}
			got := map[social.UserID]string{}
			for _, n := range notices {
				got[n.To] = map[[2]bool]string{{true, true}: "undone, lost", {true, false}: "undone", {false, true}: "lost"}[[2]bool{n.Undone, n.Lost}]
			}
			if got[v.ada.ID] != c.ada || got[v.cyd.ID] != c.cyd || len(notices) != len(got) {
				t.Errorf("ada: %q, want %q; cyd: %q, want %q", got[v.ada.ID], c.ada, got[v.cyd.ID], c.cyd)
			}
		})
	}
}

// NotificationsOn implements notifications.Store.
func (v *village) NotificationsOn(_ context.Context, post social.PostID, limit int) ([]*social.Notification, error) {
	if post != v.post.ID {
		return nil, nil
	}
	return v.stored[:min(limit, len(v.stored))], nil
}

// TestADeletedPostLeavesNotifications: all notifications about it are removed, and those of their
// recipients who saw one of its acts until then lose it.
func TestADeletedPostLeavesNotifications(t *testing.T) {
	t.Parallel()
	relation := func(viewer, other func(*village) social.UserID, r social.Relation) func(*village, *social.Event) {
		return func(v *village, _ *social.Event) { v.relations[social.Pair{Viewer: viewer(v), Other: other(v)}] = r }
	}
	ada, ben, cyd := func(v *village) social.UserID { return v.ada.ID }, func(v *village) social.UserID { return v.ben.ID }, func(v *village) social.UserID { return v.cyd.ID }
	for name, c := range map[string]struct {
		given      func(*village, *social.Event)
		toAda, cyd bool // whether they lose their notification
	}{
		"all see it":                  {given: func(*village, *social.Event) {}, toAda: true, cyd: true},
		"it was for few":              {given: func(_ *village, e *social.Event) { e.Audience.Kind = social.AudienceOnlyMe }, toAda: true},
		"it was for a circle of few":  {given: func(_ *village, e *social.Event) { e.Audience.Kind = social.AudienceCircles }, toAda: true},
		"it was hidden by moderators": {given: func(_ *village, e *social.Event) { e.Audience.Kind = social.AudienceHidden }, toAda: true},
		"it was on cyd's wall": {
			given: func(v *village, e *social.Event) { e.Audience.Kind, e.Target = social.AudienceOnlyMe, v.cyd.ID }, toAda: true, cyd: true,
		},
		"it was on cyd's wall, hidden": {
			given: func(v *village, e *social.Event) { e.Audience.Kind, e.Target = social.AudienceHidden, v.cyd.ID }, toAda: true,
		},
		"the event does not say":   {given: func(_ *village, e *social.Event) { e.Author, e.Audience = social.UserID{}, social.Audience{} }},
		"ada blocks cyd":           {given: relation(cyd, ada, social.Relation{BlockedBy: true}), toAda: true},
		"ada's account is deleted": {given: relation(cyd, ada, social.Relation{Gone: true}), toAda: true},
		"ada mutes ben":            {given: relation(ada, ben, social.Relation{Mutes: true}), cyd: true},
		"ben blocks cyd":           {given: relation(cyd, ben, social.Relation{BlockedBy: true}), toAda: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVillage()
			reply := social.NotificationGroup{To: v.ada.ID, Kind: social.NotifyReply, Post: v.post.ID, Comment: v.first.ID}
			mention := social.NotificationGroup{To: v.cyd.ID, Kind: social.NotifyMention, Post: v.post.ID}
			for _, group := range []social.NotificationGroup{reply, mention} {
				act := social.Act{Actor: v.ben.ID, Comment: v.reply.ID}
				v.stored = append(v.stored, &social.Notification{NotificationGroup: group, ID: social.NotificationID{ID: id.New()}, Acts: []social.Act{act}})
			}
			e := social.Event{Kind: social.EventPostDeleted, Post: v.post.ID, Target: v.post.WallOwner, Author: v.post.Author, Audience: v.post.Audience}
			c.given(v, &e)
			notices, err := notifications.New(v, v).Removals(t.Context(), &e)
			if err != nil {
				t.Fatal(err)
			}
			want := []social.Notice{
				{NotificationGroup: reply, Removed: v.stored[0].ID, Lost: c.toAda},
				{NotificationGroup: mention, Removed: v.stored[1].ID, Lost: c.cyd},
			}
			if diff := cmp.Diff(want, notices); diff != "" {
				t.Errorf("the notices (-want +got):\n%s", diff)
			}
		})
	}
}
