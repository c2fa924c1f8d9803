package export

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

const (
	// pageSize is how many entries one read returns; fullPageSize is how many posts, which have up
	// to social.MaxEdits versions each.
	pageSize     = 200
	fullPageSize = 20
)

// all returns the lists in the order of an export. Tags are part of cursors, so they stay.
func (s *Service) all() []list {
	isText := func(string) bool { return true }
	return []list{
		{'u', "profile", isText, once(s.profile)},
		{'e', "email", isText, once(s.emails)},
		{'y', "property", isText, once(s.properties)},
		{'n', "notificationSetting", isText, once(s.settings)},
		{'s', "session", isText, once(s.sessions)},
		{'t', "accessToken", isText, once(s.accessTokens)},
		{'i', "invitation", isID, once(s.invitations)},
		{'c', "circle", isID, s.circles},
		{'m', "circleMember", isIDs, s.members},
		{'f', "follow", isID, s.follows},
		{'q', "mute", isID, s.mutes},
		{'b', "block", isID, s.blocks},
		{'p', "post", isID, s.posts},
		{'k', "comment", isID, s.comments},
		{'r', "reaction", isID, s.reactions},
		{'v', "vote", isID, s.votes},
		{'h', "threadMute", isID, s.threadMutes},
		{'d', "decision", isID, s.decisions},
		{'o', "report", isReportKey, s.reports},
		{'a', "adSeen", isText, once(s.adsSeen)},
	}
}

func isID(key string) bool { return len(key) == len(id.ID{}) }

func isIDs(key string) bool { return len(key) == 2*len(id.ID{}) }

func isReportKey(key string) bool { return len(key) == momentSize+len(id.ID{}) }

func keyOf(of id.ID) social.Key { return social.Key(of.Bytes()) }

// once makes a list of something small that is read as a whole. It sorts the entries by their keys,
// so that an export can continue behind each of them.
func once(read func(context.Context, social.UserID) ([]entry, error)) func(context.Context, social.UserID, social.Key) ([]entry, error) {
	return func(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
		entries, err := read(ctx, user)
		entries = slices.DeleteFunc(entries, func(e entry) bool { return e.key <= after })
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		return entries, err
	}
}

func (s *Service) profile(ctx context.Context, user social.UserID) ([]entry, error) {
	found, err := s.store.Users(ctx, []social.UserID{user})
	if err != nil {
		return nil, err
	}
	u := found[user]
	if u == nil {
		return nil, fault.NotFound("", "user")
	}
	return []entry{{keyOf(user.ID), newProfile(u)}}, nil
}

func (s *Service) emails(ctx context.Context, user social.UserID) (entries []entry, err error) {
	stored, err := s.store.Email(ctx, user)
	if stored.Address != "" {
		entries = append(entries, entry{"1", email{stored.Address, true}})
	}
	if stored.Pending != "" {
		entries = append(entries, entry{"2", email{stored.Pending, false}})
	}
	return entries, err
}

func (s *Service) properties(ctx context.Context, user social.UserID) ([]entry, error) {
	defined, err := s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	profiles, err := s.store.Profiles(ctx, []social.UserID{user})
	if err != nil || profiles[user] == nil {
		return nil, err
	}
	var entries []entry
	for _, p := range defined {
		if v, has := profiles[user].Value(p.ID); has {
			entries = append(entries, entry{social.Key(p.Key), newProperty(p, v)})
		}
	}
	return entries, nil
}

func (s *Service) settings(ctx context.Context, user social.UserID) ([]entry, error) {
	silent, err := s.store.SilentNotificationKinds(ctx, []social.UserID{user})
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, kind := range social.NotificationKinds {
		entries = append(entries, entry{social.Key(kind), setting{string(kind), !slices.Contains(silent[user], kind)}})
	}
	return entries, nil
}

func (s *Service) sessions(ctx context.Context, user social.UserID) ([]entry, error) {
	all, err := s.store.SessionsOf(ctx, user, s.network.Moment())
	var entries []entry
	for _, one := range all {
		if one.Grant == nil {
			entries = append(entries, entry{keyOf(one.ID().ID), newSession(one)})
		}
	}
	return entries, err
}

func (s *Service) accessTokens(ctx context.Context, user social.UserID) ([]entry, error) {
	all, err := s.store.SessionsOf(ctx, user, s.network.Moment())
	var entries []entry
	for _, one := range all {
		if one.Grant != nil {
			entries = append(entries, entry{keyOf(one.AccessTokenID().ID), newAccessToken(one)})
		}
	}
	return entries, err
}

func (s *Service) invitations(ctx context.Context, user social.UserID) ([]entry, error) {
	found, err := s.store.InvitationsBy(ctx, user, s.network.Moment())
	return entriesOf(found, func(i social.Invitation) entry { return entry{keyOf(i.ID.ID), newInvitation(i)} }), err
}

func (s *Service) circles(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.CirclesOf(ctx, user, social.Page{After: after, Limit: pageSize})
	return entriesOf(found, func(c *social.Circle) entry { return entry{keyOf(c.ID.ID), newCircle(c)} }), err
}

// members reads the members of the first circle behind a position that has any: a circle's id and
// the id of a membership.
func (s *Service) members(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	var circle social.CircleID
	var behind social.Key
	if after != "" {
		copy(circle.ID[:], after)
		behind = after[len(circle.ID):]
	}
	for {
		if !circle.IsZero() {
			found, err := s.membersOf(ctx, user, circle, behind)
			if err != nil || len(found) > 0 {
				return found, err
			}
		}
		next, err := s.store.CirclesOf(ctx, user, social.Page{After: circleKey(circle), Limit: 1})
		if err != nil || len(next) == 0 {
			return nil, err
		}
		circle, behind = next[0].ID, ""
	}
}

func circleKey(c social.CircleID) social.Key {
	if c.IsZero() {
		return ""
	}
	return keyOf(c.ID)
}

func (s *Service) membersOf(ctx context.Context, user social.UserID, circle social.CircleID, behind social.Key) ([]entry, error) {
	owned, err := s.store.Circles(ctx, []social.CircleID{circle})
	if err != nil || owned[circle] == nil || owned[circle].Owner != user {
		return nil, err // a forged position may name another user's circle
	}
	members := social.List[social.CircleID]{Of: circle, Page: social.Page{After: behind, Limit: pageSize}}
	found, err := s.network.Viewer(user).Members(ctx, []social.List[social.CircleID]{members})
	if err != nil {
		return nil, err
	}
	entries, err := s.people(ctx, user, found[members].Items)
	for i, e := range entries {
		member, _ := e.value.(person)
		entries[i] = entry{keyOf(circle.ID) + e.key, circleMember{circle.String(), member}}
	}
	return entries, err
}

func (s *Service) follows(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	follows := social.List[social.UserID]{Of: user, Page: social.Page{After: after, Limit: pageSize}}
	found, err := s.network.Viewer(user).Following(ctx, []social.List[social.UserID]{follows})
	if err != nil {
		return nil, err
	}
	return s.people(ctx, user, found[follows].Items)
}

func (s *Service) mutes(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.network.Viewer(user).Muted(ctx, social.Page{After: after, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	return s.people(ctx, user, found.Items)
}

func (s *Service) blocks(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.network.Viewer(user).Blocked(ctx, social.Page{After: after, Limit: pageSize})
	return entriesOf(found.Items, func(b network.BlockedUser) entry { return entry{keyOf(b.Edge.ID.ID), newPerson(b.Edge, b.User)} }), err
}

// people makes entries of edges from the user, to people the user may see.
func (s *Service) people(ctx context.Context, user social.UserID, edges []social.Edge) ([]entry, error) {
	if len(edges) == 0 {
		return nil, nil
	}
	ids := make([]social.UserID, len(edges))
	for i, e := range edges {
		ids[i] = e.To
	}
	seen, err := s.network.Viewer(user).Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	return entriesOf(edges, func(e social.Edge) entry { return entry{keyOf(e.ID.ID), newPerson(e, seen[e.To])} }), nil
}

func (s *Service) posts(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	by := social.List[social.UserID]{Of: user, Page: social.Page{After: after, Limit: fullPageSize}}
	found, err := s.store.PostsBy(ctx, []social.List[social.UserID]{by})
	if err != nil || len(found[by]) == 0 {
		return nil, err
	}
	var edited []social.PostID
	for _, p := range found[by] {
		if p.Edits > 0 {
			edited = append(edited, p.ID)
		}
	}
	var versions map[social.PostID][]social.Version
	if len(edited) > 0 {
		if versions, err = s.store.Histories(ctx, edited); err != nil {
			return nil, err
		}
	}
	owners, err := s.wallOwners(ctx, user, found[by])
	if err != nil {
		return nil, err
	}
	return entriesOf(found[by], func(p *social.Post) entry {
		return entry{keyOf(p.ID.ID), newPost(p, owners[p.WallOwner], versions[p.ID])}
	}), nil
}

// wallOwners reads the owners of the other users' walls that posts are on, without those the user
// may not see.
func (s *Service) wallOwners(ctx context.Context, user social.UserID, posts []*social.Post) (map[social.UserID]*social.User, error) {
	var owners []social.UserID
	for _, p := range posts {
		if p.WallOwner != user && !slices.Contains(owners, p.WallOwner) {
			owners = append(owners, p.WallOwner)
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	return s.network.Viewer(user).Users(ctx, owners)
}

func (s *Service) comments(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	by := social.List[social.UserID]{Of: user, Page: social.Page{After: after, Limit: pageSize}}
	found, err := s.store.CommentsBy(ctx, []social.List[social.UserID]{by})
	return entriesOf(found[by], func(c *social.Comment) entry { return entry{keyOf(c.ID.ID), newComment(c)} }), err
}

func (s *Service) reactions(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.ReactionsBy(ctx, user, postOf(after), pageSize)
	return entriesOf(found, func(m social.Mark[social.ReactionKind]) entry {
		return entry{keyOf(m.Post.ID), reaction{m.Post.String(), string(m.Value)}}
	}), err
}

func (s *Service) votes(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.VotesBy(ctx, user, postOf(after), pageSize)
	return entriesOf(found, func(m social.Mark[int]) entry { return entry{keyOf(m.Post.ID), vote{m.Post.String(), m.Value}} }), err
}

func (s *Service) threadMutes(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.ThreadsMutedBy(ctx, user, postOf(after), pageSize)
	return entriesOf(found, func(m social.Mark[bool]) entry { return entry{keyOf(m.Post.ID), threadMute{m.Post.String()}} }), err
}

// postOf reads a key that is a post's id; the empty key is the zero id.
func postOf(key social.Key) (post social.PostID) {
	copy(post.ID[:], key)
	return post
}

func (s *Service) decisions(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.DecisionsForAuthor(ctx, user, social.Page{After: after, Limit: pageSize})
	return entriesOf(found, func(d *social.Decision) entry { return entry{keyOf(d.ID.ID), newDecision(d)} }), err
}

func (s *Service) reports(ctx context.Context, user social.UserID, after social.Key) ([]entry, error) {
	found, err := s.store.ReportsBy(ctx, user, reportPosition(after), pageSize)
	return entriesOf(found, func(r social.Report) entry { return entry{reportKey(r.Position()), newReport(&r)} }), err
}

// momentSize is the length of a moment in a key: its microseconds as a big-endian number.
const momentSize = 8

func reportKey(p social.ReportPosition) social.Key {
	return social.Key(binary.BigEndian.AppendUint64(nil, uint64(p.At.UnixMicro()))) + keyOf(p.Case.ID)
}

// reportPosition reads what reportKey wrote.
func reportPosition(key social.Key) (p social.ReportPosition) {
	if key == "" {
		return p
	}
	p.At = time.UnixMicro(int64(binary.BigEndian.Uint64([]byte(key[:momentSize])))).UTC()
	copy(p.Case.ID[:], key[momentSize:])
	return p
}

func (s *Service) adsSeen(ctx context.Context, user social.UserID) ([]entry, error) {
	found, err := s.ads.Sightings(ctx, user.String())
	return entriesOf(found, func(a Sighting) entry { return entry{a.key(), a} }), err
}

func entriesOf[T any](all []T, one func(T) entry) []entry {
	entries := make([]entry, len(all))
	for i, v := range all {
		entries[i] = one(v)
	}
	return entries
}
