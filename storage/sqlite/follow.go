package sqlite

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	countMembers  = sqldb.Define(`UPDATE circles SET members_count = members_count + ? WHERE id = ?`)
	uncountMember = sqldb.Define(`UPDATE circles SET members_count = members_count - 1
		WHERE id IN (SELECT circle FROM circle_members WHERE member = ? AND owner = ?)`)
	deleteMemberships = sqldb.Define(`DELETE FROM circle_members WHERE member = ? AND owner = ?`)
	countFollowers    = sqldb.Define(`UPDATE users SET followers_count = followers_count + ? WHERE id = ?`)
	countFollowing    = sqldb.Define(`UPDATE users SET following_count = following_count + ? WHERE id = ?`)
	insertFollow      = sqldb.Define(`INSERT INTO follows (follower, followed, edge) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteFollow      = sqldb.Define(`DELETE FROM follows WHERE follower = ?1 AND followed = ?2
		AND NOT EXISTS (SELECT 1 FROM circle_members WHERE member = ?2 AND owner = ?1)`)
	someFollowers = sqldb.Define(`SELECT follower FROM follows INDEXED BY follows_by_followed WHERE followed = ? LIMIT ?`)
	someFollowed  = sqldb.Define(`SELECT followed FROM follows INDEXED BY follows_by_follower WHERE follower = ? LIMIT ?`)
)

// Unfollow implements social.Circles.
func (s *Store) Unfollow(ctx context.Context, owner, member social.UserID, e social.Event) (unfollowed bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		unfollowed, err = leaveAll(tx, owner, member)
		if err != nil || !unfollowed {
			return err
		}
		return tx.AppendWith(social.BothChanged(owner, member), e)
	})
	return unfollowed && err == nil, err
}

// leaveAll removes the member from all of the owner's circles, and reports whether there was a follow.
func leaveAll(tx *eventlog.Tx, owner, member social.UserID) (bool, error) {
	if _, err := tx.Exec(uncountMember, member.Bytes(), owner.Bytes()); err != nil {
		return false, err
	}
	if _, err := tx.Exec(deleteMemberships, member.Bytes(), owner.Bytes()); err != nil {
		return false, err
	}
	counts := newCounts()
	ended, err := endFollow(tx, owner, member, counts)
	if err != nil {
		return false, err
	}
	return ended, counts.store(tx)
}

// beginFollow stores the follow unless it exists.
func beginFollow(tx *eventlog.Tx, owner, member social.UserID, edge social.EdgeID, counts *counts) error {
	rows, err := tx.Exec(insertFollow, owner.Bytes(), member.Bytes(), edge.Bytes())
	if err == nil && rows > 0 {
		counts.following[owner]++
		counts.followers[member]++
	}
	return err
}

// endFollow removes the follow unless the member is still in one of the owner's circles.
func endFollow(tx *eventlog.Tx, owner, member social.UserID, counts *counts) (bool, error) {
	rows, err := tx.Exec(deleteFollow, owner.Bytes(), member.Bytes())
	if err != nil || rows == 0 {
		return false, err
	}
	counts.following[owner]--
	counts.followers[member]--
	tx.Changes.Pairs = append(tx.Changes.Pairs, social.Pair{Viewer: owner, Other: member})
	return true, nil
}

// counts adds up the changes of counts, so that each count is stored once, however large an import
// is.
type counts struct {
	followers, following map[social.UserID]int
	members              map[social.CircleID]int
}

func newCounts() *counts {
	return &counts{map[social.UserID]int{}, map[social.UserID]int{}, map[social.CircleID]int{}}
}

func (c *counts) store(tx *eventlog.Tx) error {
	tx.Changes.Users = slices.AppendSeq(tx.Changes.Users, maps.Keys(c.followers))
	tx.Changes.Users = slices.AppendSeq(tx.Changes.Users, maps.Keys(c.following))
	if err := storeCounts(tx, countFollowers, c.followers); err != nil {
		return err
	}
	if err := storeCounts(tx, countFollowing, c.following); err != nil {
		return err
	}
	return storeCounts(tx, countMembers, c.members)
}

func storeCounts[K interface {
	comparable
	sqldb.ID
}](tx *eventlog.Tx, st *sqldb.Statement, changes map[K]int) error {
	for of, by := range changes {
		if _, err := tx.Exec(st, by, of.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// cutFollows ends some of the user's follows in both directions, as Unfollow does. Like all these
// removals, it reports whether there may be more.
func cutFollows(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	followers, err := sqldb.All(tx, someFollowers, scanUserID, user.Bytes(), sqldb.Batch)
	if err != nil {
		return false, err
	}
	for _, follower := range followers {
		if _, err := leaveAll(tx, follower, user); err != nil {
			return false, err
		}
	}
	followed, err := sqldb.All(tx, someFollowed, scanUserID, user.Bytes(), sqldb.Batch)
	if err != nil {
		return false, err
	}
	for _, other := range followed {
		if _, err := leaveAll(tx, user, other); err != nil {
			return false, err
		}
	}
	return max(len(followers), len(followed)) == sqldb.Batch, nil
}

func scanUserID(scan sqldb.Scan) (user social.UserID, err error) {
	err = scan(sqldb.Into(&user.ID))
	return user, err
}
