package notifications

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// withoutHidden drops the notices of acts that their recipients do not see now, by InNotification,
// and the losses of acts that they did not see. It keeps the acts of and for users who are away,
// because they may come back. Until then these are not shown.
func (s *Service) withoutHidden(ctx context.Context, t threadsRead, notices []social.Notice) ([]social.Notice, error) {
	relations, err := s.recipientRelations(ctx, t, notices)
	if err != nil {
		return nil, err
	}
	muted, err := s.mutedByRecipients(ctx, t, notices)
	var kept []social.Notice
	for _, n := range notices {
		mutes := muted[social.ThreadMute{Post: n.Post, User: n.To}]
		if n.IsNew() {
			if social.InNotification(n.NotificationGroup, n.Act, t.posts[n.Post], t.comments[n.Act.Comment], asIfBack(relations[n.To]), mutes) {
				kept = append(kept, n)
			}
			continue
		}
		n.Lost = n.Lost && social.LosesFromNotification(n.NotificationGroup, n.Act, t.posts[n.Post], relations[n.To], mutes)
		if n.Undone || n.Lost {
			kept = append(kept, n)
		}
	}
	return kept, err
}

// asIfBack returns relations as if all users who are away were back.
func asIfBack(relations map[social.UserID]social.Relation) map[social.UserID]social.Relation {
	back := make(map[social.UserID]social.Relation, len(relations))
	for user, relation := range relations {
		relation.Away = false
		back[user] = relation
	}
	return back
}

// recipientRelations reads the relations of recipients to the actors, and to the authors of the
// posts.
func (s *Service) recipientRelations(ctx context.Context, t threadsRead, notices []social.Notice) (map[social.UserID]map[social.UserID]social.Relation, error) {
	pairs := map[social.Pair]bool{}
	for _, n := range notices {
		pairs[social.Pair{Viewer: n.To, Other: n.Actor}] = true
		if p := t.posts[n.Post]; p != nil {
			pairs[social.Pair{Viewer: n.To, Other: p.Author}] = true
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	read, err := s.people.Relations(ctx, slices.Collect(maps.Keys(pairs)))
	relations := map[social.UserID]map[social.UserID]social.Relation{}
	for pair, relation := range read {
		if relations[pair.Viewer] == nil {
			relations[pair.Viewer] = map[social.UserID]social.Relation{}
		}
		relations[pair.Viewer][pair.Other] = relation
	}
	return relations, err
}

// mutedByRecipients reads which of the threads their recipients mute, in one batch.
func (s *Service) mutedByRecipients(ctx context.Context, t threadsRead, notices []social.Notice) (map[social.ThreadMute]bool, error) {
	mutes := map[social.ThreadMute]bool{}
	for _, n := range notices {
		if p := t.posts[n.Post]; p != nil && p.Muters > 0 { // most need no read
			mutes[social.ThreadMute{Post: p.ID, User: n.To}] = true
		}
	}
	if len(mutes) == 0 {
		return nil, nil
	}
	return s.store.MutedThreads(ctx, slices.Collect(maps.Keys(mutes)))
}
