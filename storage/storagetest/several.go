package storagetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
	"plaza/social"
	"plaza/storage"
)

// RunOnSeveral runs the cases about imports, events and concurrency on several stores over one
// database, as if there were several servers: each call goes to the next store, and each store has
// a cache of people. open opens the stores on a fresh database, and registers their cleanup with t.
func RunOnSeveral(t *testing.T, open func(t *testing.T) []storage.Store) {
	t.Helper()
	RunSome(t, func(t *testing.T) storage.Store {
		t.Helper()
		stores := open(t)
		for i, store := range stores {
			stores[i] = Remembering(store)
		}
		return Several(stores...)
	}, "IdempotencyKeys", "Identities", "Invitations", "Standings", "Importer", "Deletion", "EventLog", "Concurrency", "ThreadConcurrency")
}

// Several combines several stores over one database into one, which passes each call to the next
// store.
func Several(stores ...storage.Store) storage.Store { return &several{stores: stores} }

// several passes each call to the next of its stores.
type several struct {
	stores []storage.Store
	calls  atomic.Uint64
}

func (all *several) next() storage.Store {
	return all.stores[all.calls.Add(1)%uint64(len(all.stores))]
}

func (all *several) Ads() ads.Store { return all.next().Ads() }

func (all *several) Ping(ctx context.Context) error { return all.next().Ping(ctx) }

func (all *several) Close() error {
	var errs []error
	for _, store := range all.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}

// The calls of social.Users.

func (all *several) InsertUser(ctx context.Context, u social.NewUser, e social.Event) error {
	return all.next().InsertUser(ctx, u, e)
}

func (all *several) UpdateProfile(ctx context.Context, id social.UserID, change social.ProfileChange, e social.Event) error {
	return all.next().UpdateProfile(ctx, id, change, e)
}

func (all *several) DeleteUser(ctx context.Context, id social.UserID, e social.Event) error {
	return all.next().DeleteUser(ctx, id, e)
}

func (all *several) IsHandleKept(ctx context.Context, handle string, at time.Time) (bool, error) {
	return all.next().IsHandleKept(ctx, handle, at)
}

func (all *several) IsDeleting(ctx context.Context, id social.UserID) (bool, error) {
	return all.next().IsDeleting(ctx, id)
}

func (all *several) GrantRight(ctx context.Context, id social.UserID, right social.Right, e social.Event) (bool, error) {
	return all.next().GrantRight(ctx, id, right, e)
}

func (all *several) RevokeRight(ctx context.Context, id social.UserID, right social.Right, e social.Event) (bool, error) {
	return all.next().RevokeRight(ctx, id, right, e)
}

func (all *several) UsersWithRights(ctx context.Context) ([]*social.User, error) {
	return all.next().UsersWithRights(ctx)
}

func (all *several) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	return all.next().Users(ctx, ids)
}

func (all *several) UsersByHandle(ctx context.Context, handles []string) (map[string]*social.User, error) {
	return all.next().UsersByHandle(ctx, handles)
}

func (all *several) Description() storage.Description { return all.next().Description() }

func (all *several) KeepEvents(ctx context.Context, retention time.Duration) error {
	return all.next().KeepEvents(ctx, retention)
}

func (all *several) HasUsers(ctx context.Context) (bool, error) { return all.next().HasUsers(ctx) }

func (all *several) UsersNamed(ctx context.Context, prefix string, p social.Page) ([]*social.User, error) {
	return all.next().UsersNamed(ctx, prefix, p)
}

func (all *several) PasswordHash(ctx context.Context, handle string) (social.UserID, string, error) {
	return all.next().PasswordHash(ctx, handle)
}

// The calls of social.Properties.

func (all *several) InsertProperty(ctx context.Context, p *social.Property, e social.Event) error {
	return all.next().InsertProperty(ctx, p, e)
}

func (all *several) UpdateProperty(ctx context.Context, p *social.Property, e social.Event) error {
	return all.next().UpdateProperty(ctx, p, e)
}

func (all *several) DeleteProperty(ctx context.Context, id social.PropertyID, e social.Event) error {
	return all.next().DeleteProperty(ctx, id, e)
}

func (all *several) Properties(ctx context.Context) ([]*social.Property, error) {
	return all.next().Properties(ctx)
}

func (all *several) SetProfileValue(ctx context.Context, user social.UserID, v social.ProfileValue, e social.Event) error {
	return all.next().SetProfileValue(ctx, user, v, e)
}

func (all *several) ClearProfileValue(ctx context.Context, user social.UserID, property social.PropertyID, e social.Event) (bool, error) {
	return all.next().ClearProfileValue(ctx, user, property, e)
}

func (all *several) Profiles(ctx context.Context, users []social.UserID) (map[social.UserID]*social.Profile, error) {
	return all.next().Profiles(ctx, users)
}

func (all *several) FindProfiles(ctx context.Context, where []social.PropertyCondition, after *social.ProfilePoint, limit int) ([]*social.Profile, error) {
	return all.next().FindProfiles(ctx, where, after, limit)
}

func (all *several) FindProfilesOf(ctx context.Context, users []social.UserID, where []social.PropertyCondition) ([]*social.Profile, error) {
	return all.next().FindProfilesOf(ctx, users, where)
}

func (all *several) SetPassword(ctx context.Context, change social.PasswordChange) error {
	return all.next().SetPassword(ctx, change)
}

// The calls of social.Sessions and social.Identities.

func (all *several) SessionsOf(ctx context.Context, user social.UserID, now time.Time) ([]social.Session, error) {
	return all.next().SessionsOf(ctx, user, now)
}

func (all *several) InsertSession(ctx context.Context, s social.Session) error {
	return all.next().InsertSession(ctx, s)
}

func (all *several) InsertAccessToken(ctx context.Context, t social.Session, maximum int) error {
	return all.next().InsertAccessToken(ctx, t, maximum)
}

func (all *several) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	return all.next().Session(ctx, tokenHash, now)
}

func (all *several) LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error) {
	return all.next().LiveSessions(ctx, tokenHashes, now)
}

func (all *several) DeleteSession(ctx context.Context, tokenHash [32]byte, e social.Event) error {
	return all.next().DeleteSession(ctx, tokenHash, e)
}

func (all *several) EndSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	return all.next().EndSessions(ctx, user, keep, which)
}

func (all *several) Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error) {
	return all.next().Identities(ctx, keys)
}

func (all *several) EndIdentities(ctx context.Context, user social.UserID, issuedUpTo time.Time) error {
	return all.next().EndIdentities(ctx, user, issuedUpTo)
}

func (all *several) ReadmitIdentity(ctx context.Context, key [32]byte) error {
	return all.next().ReadmitIdentity(ctx, key)
}

// The calls of social.Invitations.

func (all *several) InsertInvitation(ctx context.Context, i social.Invitation, maximum int) error {
	return all.next().InsertInvitation(ctx, i, maximum)
}

func (all *several) Invitation(ctx context.Context, which social.InvitationID, now time.Time) (social.Invitation, error) {
	return all.next().Invitation(ctx, which, now)
}

func (all *several) InvitationsBy(ctx context.Context, inviter social.UserID, now time.Time) ([]social.Invitation, error) {
	return all.next().InvitationsBy(ctx, inviter, now)
}

func (all *several) DeleteInvitation(ctx context.Context, which social.InvitationID, kind social.InvitationKind) error {
	return all.next().DeleteInvitation(ctx, which, kind)
}

// The calls of social.Emails.

func (all *several) Email(ctx context.Context, user social.UserID) (social.Email, error) {
	return all.next().Email(ctx, user)
}

func (all *several) UsersWithEmail(ctx context.Context, key string, limit int) ([]social.UserID, error) {
	return all.next().UsersWithEmail(ctx, key, limit)
}

func (all *several) SetEmail(ctx context.Context, user social.UserID, pending string, m social.Mail) error {
	return all.next().SetEmail(ctx, user, pending, m)
}

func (all *several) RemoveEmail(ctx context.Context, user social.UserID) error {
	return all.next().RemoveEmail(ctx, user)
}

func (all *several) ConfirmEmail(ctx context.Context, tokenHash [32]byte, now time.Time) (social.UserID, error) {
	return all.next().ConfirmEmail(ctx, tokenHash, now)
}

func (all *several) QueueMail(ctx context.Context, m social.Mail) error {
	return all.next().QueueMail(ctx, m)
}

func (all *several) TakeMail(ctx context.Context, now, until time.Time) (social.Mail, error) {
	return all.next().TakeMail(ctx, now, until)
}

func (all *several) EndMail(ctx context.Context, mail social.MailID) error {
	return all.next().EndMail(ctx, mail)
}

func (all *several) IssueMailToken(ctx context.Context, t social.MailToken, most int, now time.Time) (bool, error) {
	return all.next().IssueMailToken(ctx, t, most, now)
}

func (all *several) MailToken(ctx context.Context, hash [32]byte, kind social.MailKind, now time.Time) (social.MailToken, error) {
	return all.next().MailToken(ctx, hash, kind, now)
}

func (all *several) UseSession(ctx context.Context, tokenHash [32]byte, at, expires time.Time) error {
	return all.next().UseSession(ctx, tokenHash, at, expires)
}

// The call of social.ChangeLog.

func (all *several) Changes(ctx context.Context, since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	return all.next().Changes(ctx, since)
}

// The calls of social.Standings.

func (all *several) Leave(ctx context.Context, user social.UserID, at time.Time, e social.Event) error {
	return all.next().Leave(ctx, user, at, e)
}

func (all *several) Return(ctx context.Context, user social.UserID, e social.Event) (bool, error) {
	return all.next().Return(ctx, user, e)
}

// The calls of social.Circles.

func (all *several) InsertCircle(ctx context.Context, c *social.Circle, maximum int, e social.Event) error {
	return all.next().InsertCircle(ctx, c, maximum, e)
}

func (all *several) RenameCircle(ctx context.Context, id social.CircleID, name string, e social.Event) error {
	return all.next().RenameCircle(ctx, id, name, e)
}

func (all *several) DeleteCircle(ctx context.Context, id social.CircleID, e social.Event) error {
	return all.next().DeleteCircle(ctx, id, e)
}

func (all *several) Circles(ctx context.Context, ids []social.CircleID) (map[social.CircleID]*social.Circle, error) {
	return all.next().Circles(ctx, ids)
}

func (all *several) CirclesOf(ctx context.Context, owner social.UserID, p social.Page) ([]*social.Circle, error) {
	return all.next().CirclesOf(ctx, owner, p)
}

func (all *several) Members(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]][]social.Edge, error) {
	return all.next().Members(ctx, lists)
}

func (all *several) AddToCircle(ctx context.Context, m social.Membership, edge social.EdgeID, e social.Event) (bool, error) {
	return all.next().AddToCircle(ctx, m, edge, e)
}

func (all *several) RemoveFromCircle(ctx context.Context, m social.Membership, e social.Event) (bool, error) {
	return all.next().RemoveFromCircle(ctx, m, e)
}

func (all *several) Unfollow(ctx context.Context, owner, member social.UserID, e social.Event) (bool, error) {
	return all.next().Unfollow(ctx, owner, member, e)
}

// The calls of social.Graph.

func (all *several) Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error) {
	return all.next().Relations(ctx, pairs)
}

func (all *several) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	return all.next().People(ctx, viewer, ids)
}

func (all *several) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return all.next().Followers(ctx, lists)
}

func (all *several) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error) {
	return all.next().Following(ctx, lists)
}

func (all *several) Blocked(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return all.next().Blocked(ctx, from, p)
}

func (all *several) Muted(ctx context.Context, from social.UserID, p social.Page) ([]social.Edge, error) {
	return all.next().Muted(ctx, from, p)
}

func (all *several) Block(ctx context.Context, block social.Edge, e social.Event) (bool, error) {
	return all.next().Block(ctx, block, e)
}

func (all *several) Unblock(ctx context.Context, from, to social.UserID, e social.Event) (bool, error) {
	return all.next().Unblock(ctx, from, to, e)
}

func (all *several) Mute(ctx context.Context, mute social.Edge, e social.Event) (bool, error) {
	return all.next().Mute(ctx, mute, e)
}

func (all *several) Unmute(ctx context.Context, from, to social.UserID, e social.Event) (bool, error) {
	return all.next().Unmute(ctx, from, to, e)
}

// The calls of social.Posts.

func (all *several) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	return all.next().InsertPost(ctx, p, e)
}

func (all *several) UpdatePost(ctx context.Context, p *social.Post, replaced *social.Version, e social.Event) error {
	return all.next().UpdatePost(ctx, p, replaced, e)
}

func (all *several) Histories(ctx context.Context, posts []social.PostID) (map[social.PostID][]social.Version, error) {
	return all.next().Histories(ctx, posts)
}

func (all *several) DeletePost(ctx context.Context, id social.PostID, e social.Event) error {
	return all.next().DeletePost(ctx, id, e)
}

func (all *several) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	return all.next().Posts(ctx, ids)
}

func (all *several) PublicAuthors(ctx context.Context, newest int) ([]social.UserID, error) {
	return all.next().PublicAuthors(ctx, newest)
}

func (all *several) PutVote(ctx context.Context, post social.PostID, user social.UserID, option int, e social.Event) error {
	return all.next().PutVote(ctx, post, user, option, e)
}

func (all *several) Votes(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]int, error) {
	return all.next().Votes(ctx, user, posts)
}

func (all *several) Voters(ctx context.Context, post social.PostID, limit int) ([]social.UserID, error) {
	return all.next().Voters(ctx, post, limit)
}

func (all *several) ClosePolls(ctx context.Context, limit int) (int, error) {
	return all.next().ClosePolls(ctx, limit)
}

func (all *several) PutReaction(ctx context.Context, post social.PostID, user social.UserID, kind social.ReactionKind, e social.Event) error {
	return all.next().PutReaction(ctx, post, user, kind, e)
}

func (all *several) DeleteReaction(ctx context.Context, post social.PostID, user social.UserID, e social.Event) error {
	return all.next().DeleteReaction(ctx, post, user, e)
}

func (all *several) Reactions(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	return all.next().Reactions(ctx, user, posts)
}

func (all *several) MuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return all.next().MuteThread(ctx, post, user, e)
}

func (all *several) UnmuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (bool, error) {
	return all.next().UnmuteThread(ctx, post, user, e)
}

func (all *several) MutedThreads(ctx context.Context, mutes []social.ThreadMute) (map[social.ThreadMute]bool, error) {
	return all.next().MutedThreads(ctx, mutes)
}

// The calls of social.Marks.

func (all *several) ReactionsBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[social.ReactionKind], error) {
	return all.next().ReactionsBy(ctx, user, after, limit)
}

func (all *several) VotesBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[int], error) {
	return all.next().VotesBy(ctx, user, after, limit)
}

func (all *several) ThreadsMutedBy(ctx context.Context, user social.UserID, after social.PostID, limit int) ([]social.Mark[bool], error) {
	return all.next().ThreadsMutedBy(ctx, user, after, limit)
}

// The calls of social.Feeds.

func (all *several) Wall(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return all.next().Wall(ctx, lists)
}

func (all *several) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return all.next().PostsBy(ctx, lists)
}

func (all *several) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return all.next().News(ctx, viewer, p)
}

func (all *several) Incoming(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return all.next().Incoming(ctx, viewer, p)
}

// The calls of social.Comments.

func (all *several) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	return all.next().CommentsBy(ctx, lists)
}

func (all *several) EraseComments(ctx context.Context, user social.UserID, upTo social.CommentID, e social.Event) (int, error) {
	return all.next().EraseComments(ctx, user, upTo, e)
}

func (all *several) CommentErasure(ctx context.Context, user social.UserID) (social.Erasure, error) {
	return all.next().CommentErasure(ctx, user)
}

func (all *several) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	return all.next().InsertComment(ctx, c, e)
}

func (all *several) EditComment(ctx context.Context, id social.CommentID, text string, at time.Time, e social.Event) error {
	return all.next().EditComment(ctx, id, text, at, e)
}

func (all *several) DeleteComment(ctx context.Context, id social.CommentID, e social.Event) error {
	return all.next().DeleteComment(ctx, id, e)
}

func (all *several) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return all.next().Comments(ctx, ids)
}

func (all *several) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	return all.next().CommentsBySlug(ctx, links)
}

func (all *several) Thread(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	return all.next().Thread(ctx, lists)
}

func (all *several) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	return all.next().LatestComments(ctx, posts, without, n)
}

// The calls of social.Cases.

func (all *several) Report(ctx context.Context, r social.Report, maximum int) (bool, error) {
	return all.next().Report(ctx, r, maximum)
}

func (all *several) ReportsBy(ctx context.Context, reporter social.UserID, after social.ReportPosition, limit int) ([]social.Report, error) {
	return all.next().ReportsBy(ctx, reporter, after, limit)
}

func (all *several) Cases(ctx context.Context, ids []social.CaseID) (map[social.CaseID]*social.Case, error) {
	return all.next().Cases(ctx, ids)
}

func (all *several) CasesIn(ctx context.Context, state social.CaseState, p social.Page) ([]*social.Case, error) {
	return all.next().CasesIn(ctx, state, p)
}

func (all *several) NewestReports(ctx context.Context, cases []*social.Case, n int) (map[social.CaseID][]social.Report, error) {
	return all.next().NewestReports(ctx, cases, n)
}

// The calls of social.Decisions.

func (all *several) Decide(ctx context.Context, r social.Ruling, e social.Event) error {
	return all.next().Decide(ctx, r, e)
}

func (all *several) Decisions(ctx context.Context, p social.Page) ([]*social.Decision, error) {
	return all.next().Decisions(ctx, p)
}

func (all *several) DecisionsForAuthor(ctx context.Context, author social.UserID, p social.Page) ([]*social.Decision, error) {
	return all.next().DecisionsForAuthor(ctx, author, p)
}

// The calls of social.Notifications.

func (all *several) LeaseNotifier(ctx context.Context, server string, lease time.Duration) (string, bool, error) {
	return all.next().LeaseNotifier(ctx, server, lease)
}

func (all *several) Notify(ctx context.Context, server string, lease time.Duration, position string, notices []social.Notice) error {
	return all.next().Notify(ctx, server, lease, position, notices)
}

func (all *several) LeaveNotifier(ctx context.Context, server string) error {
	return all.next().LeaveNotifier(ctx, server)
}

func (all *several) Notifications(ctx context.Context, to social.UserID, p social.Page) ([]*social.Notification, error) {
	return all.next().Notifications(ctx, to, p)
}

func (all *several) NotificationsOn(ctx context.Context, post social.PostID, limit int) ([]*social.Notification, error) {
	return all.next().NotificationsOn(ctx, post, limit)
}

func (all *several) ActsOn(ctx context.Context, comments []social.CommentID) ([]social.Notice, error) {
	return all.next().ActsOn(ctx, comments)
}

func (all *several) NotificationChanges(ctx context.Context, to social.UserID, p social.Page) ([]*social.Notification, []social.NotificationLoss, error) {
	return all.next().NotificationChanges(ctx, to, p)
}

func (all *several) UnreadNotifications(ctx context.Context, to social.UserID, limit int) ([]*social.Notification, error) {
	return all.next().UnreadNotifications(ctx, to, limit)
}

func (all *several) NotificationsByID(ctx context.Context, to social.UserID, ids []social.NotificationID) (map[social.NotificationID]*social.Notification, error) {
	return all.next().NotificationsByID(ctx, to, ids)
}

func (all *several) SetNotificationKind(ctx context.Context, user social.UserID, kind social.NotificationKind, enabled bool) error {
	return all.next().SetNotificationKind(ctx, user, kind, enabled)
}

func (all *several) SilentNotificationKinds(ctx context.Context, users []social.UserID) (map[social.UserID][]social.NotificationKind, error) {
	return all.next().SilentNotificationKinds(ctx, users)
}

func (all *several) MarkRead(ctx context.Context, to social.UserID, ids []social.NotificationID, upTo social.NotificationID) error {
	return all.next().MarkRead(ctx, to, ids, upTo)
}

// The calls of social.IdempotencyKeys.

func (all *several) BeginAttempt(ctx context.Context, a social.Attempt, lease time.Duration) ([]byte, error) {
	return all.next().BeginAttempt(ctx, a, lease)
}

func (all *several) EndAttempt(ctx context.Context, a social.Attempt, answer []byte) error {
	return all.next().EndAttempt(ctx, a, answer)
}

// The calls of social.EventLog.

func (all *several) Tail(ctx context.Context, position string) (social.EventStream, error) {
	return all.next().Tail(ctx, position)
}

// The calls of social.Worker.

func (all *several) Work(ctx context.Context) {
	var working sync.WaitGroup
	for _, store := range all.stores {
		working.Go(func() { store.Work(ctx) })
	}
	working.Wait()
}

func (all *several) Backlog(ctx context.Context) (social.Backlog, error) {
	return all.next().Backlog(ctx)
}

func (all *several) Revive(ctx context.Context) (int, error) { return all.next().Revive(ctx) }

// The calls of social.Importer.

func (all *several) ImportUsers(ctx context.Context, users []social.NewUser) (int, error) {
	return all.next().ImportUsers(ctx, users)
}

func (all *several) ImportCircles(ctx context.Context, circles []*social.Circle) (int, error) {
	return all.next().ImportCircles(ctx, circles)
}

func (all *several) ImportMemberships(ctx context.Context, memberships []social.Membership, edges []social.EdgeID) (int, error) {
	return all.next().ImportMemberships(ctx, memberships, edges)
}
