package notifications

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// Settings reads which kinds of notifications a user gets, in the order of
// [social.NotificationKinds].
func (s *Service) Settings(ctx context.Context, user social.UserID) ([]*social.NotificationSetting, error) {
	silent, err := s.store.SilentNotificationKinds(ctx, []social.UserID{user})
	if err != nil {
		return nil, err
	}
	settings := make([]*social.NotificationSetting, len(social.NotificationKinds))
	for i, kind := range social.NotificationKinds {
		settings[i] = &social.NotificationSetting{Kind: kind, Enabled: !slices.Contains(silent[user], kind)}
	}
	return settings, nil
}

// SetSetting turns a kind of notifications on or off for a user. Acts of a kind that is off are not
// stored; notifications that are already stored remain.
func (s *Service) SetSetting(ctx context.Context, user social.UserID, setting social.NotificationSetting) error {
	return s.store.SetNotificationKind(ctx, user, setting.Kind, setting.Enabled)
}

// wanted selects the notices that recipients get. The notices of each event are in order of
// preference: each recipient gets the first one of a kind that they have not turned off. An act
// that was undone or lost always counts: it may be from before the kind was turned off.
func (s *Service) wanted(ctx context.Context, events [][]social.Notice) ([]social.Notice, error) {
	silent, err := s.silentKinds(ctx, events)
	if err != nil {
		return nil, err
	}
	var wanted []social.Notice
	for _, notices := range events {
		first := len(wanted)
		for _, n := range notices {
			isSilent := n.IsNew() && slices.Contains(silent[n.To], n.Kind)
			if !isSilent && !slices.ContainsFunc(wanted[first:], func(better social.Notice) bool { return better.To == n.To }) {
				wanted = append(wanted, n)
			}
		}
	}
	return wanted, nil
}

// silentKinds reads the kinds that recipients have turned off, in one batch.
func (s *Service) silentKinds(ctx context.Context, events [][]social.Notice) (map[social.UserID][]social.NotificationKind, error) {
	recipients := map[social.UserID]bool{}
	for _, notices := range events {
		for _, n := range notices {
			if n.IsNew() {
				recipients[n.To] = true
			}
		}
	}
	if len(recipients) == 0 {
		return nil, nil
	}
	return s.store.SilentNotificationKinds(ctx, slices.Collect(maps.Keys(recipients)))
}
