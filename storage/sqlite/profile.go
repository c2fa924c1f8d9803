package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const propertyColumns = `id, key, label, type, choices, searchable, visibility`

var (
	insertProperty = sqldb.Define(`INSERT INTO properties (` + propertyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	updateProperty = sqldb.Define(`UPDATE properties SET label = ?, choices = ?, searchable = ?, visibility = ? WHERE id = ?`)
	deleteProperty = sqldb.Define(`DELETE FROM properties WHERE id = ?`)
	visibilityNow  = sqldb.Define(`SELECT coalesce((SELECT visibility FROM profile_values WHERE user = ? AND property = properties.id), visibility)
		FROM properties WHERE id = ?`)
	allProperties = sqldb.Define(`SELECT ` + propertyColumns + ` FROM properties ORDER BY id`)

	putProfileValue = sqldb.Define(`INSERT INTO profile_values (user, property, visibility, value, text) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user, property) DO UPDATE SET visibility = excluded.visibility, value = excluded.value, text = excluded.text`)
	someProfileValues = sqldb.Define(`DELETE FROM profile_values WHERE (user, property) IN (
		SELECT user, property FROM profile_values WHERE user = ? LIMIT ?)`)
	clearProfileValue = sqldb.Define(`DELETE FROM profile_values WHERE user = ? AND property = ?`)
	profileValues     = sqldb.Define(`SELECT property, visibility, value, text FROM profile_values WHERE user = ?`)
	profilesByValue   = sqldb.Define(`SELECT value, user FROM profile_values
		WHERE property = ?1 AND visibility = 'PUBLIC' AND value BETWEEN ?2 AND ?3 AND (value, user) > (?4, ?5) ORDER BY value, user`)
)

// InsertProperty implements social.Properties.
func (s *Store) InsertProperty(ctx context.Context, p *social.Property, e social.Event) error {
	choices, err := json.Marshal(append([]string{}, p.Choices...))
	if err != nil {
		return err
	}
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		_, err := tx.Exec(insertProperty, p.ID.Bytes(), p.Key, p.Label, string(p.Type), string(choices), p.Searchable, string(p.Visibility))
		if err != nil {
			return sqldb.Taken(err)
		}
		return tx.Append(e)
	})
}

// UpdateProperty implements social.Properties.
func (s *Store) UpdateProperty(ctx context.Context, p *social.Property, e social.Event) error {
	choices, err := json.Marshal(append([]string{}, p.Choices...))
	if err != nil {
		return err
	}
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(updateProperty, p.Label, string(choices), p.Searchable, string(p.Visibility), p.ID.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

// DeleteProperty implements social.Properties.
func (s *Store) DeleteProperty(ctx context.Context, id social.PropertyID, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(deleteProperty, id.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

// Properties implements social.Properties.
func (s *Store) Properties(ctx context.Context) ([]*social.Property, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Property, error) {
		return sqldb.All(tx, allProperties, func(scan sqldb.Scan) (*social.Property, error) {
			var p social.Property
			var choices string
			if err := scan(sqldb.Into(&p.ID.ID), &p.Key, &p.Label, &p.Type, &choices, &p.Searchable, &p.Visibility); err != nil {
				return nil, err
			}
			return &p, json.Unmarshal([]byte(choices), &p.Choices)
		})
	})
}

// SetProfileValue implements social.Properties.
func (s *Store) SetProfileValue(ctx context.Context, user social.UserID, v social.ProfileValue, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := refuseDeleted(tx, user, social.ErrAccountGone); err != nil {
			return err
		}
		var now social.Visibility
		if err := sqldb.Known(tx.Row(visibilityNow, []any{&now}, user.Bytes(), v.Property.Bytes())); err != nil {
			return err
		}
		v.Visibility = cmp.Or(v.Visibility, now)
		text := sql.NullString{String: v.Value.Text, Valid: v.Value != v.Sought}
		if _, err := tx.Exec(putProfileValue, user.Bytes(), v.Property.Bytes(), string(v.Visibility), stored(v.Sought), text); err != nil {
			return err
		}
		return tx.Append(e)
	})
}

func stored(v social.PropertyValue) any {
	if v.IsNumber {
		return v.Number
	}
	return v.Text
}

// ClearProfileValue implements social.Properties.
func (s *Store) ClearProfileValue(ctx context.Context, user social.UserID, property social.PropertyID, e social.Event) (cleared bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(clearProfileValue, user.Bytes(), property.Bytes())
		if cleared = rows > 0; err != nil || !cleared {
			return err
		}
		return tx.Append(e)
	})
	return cleared && err == nil, err
}

// Profiles implements social.Properties.
func (s *Store) Profiles(ctx context.Context, users []social.UserID) (map[social.UserID]*social.Profile, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.UserID]*social.Profile, error) {
		profiles := make(map[social.UserID]*social.Profile, len(users))
		for _, user := range users {
			if profiles[user] != nil {
				continue
			}
			p, err := readProfile(tx, user)
			if err != nil {
				return nil, err
			}
			if len(p.Values) > 0 {
				profiles[user] = p
			}
		}
		return profiles, nil
	})
}

func readProfile(tx sqldb.Reader, user social.UserID) (*social.Profile, error) {
	values, err := sqldb.All(tx, profileValues, func(scan sqldb.Scan) (social.ProfileValue, error) {
		var v social.ProfileValue
		var text sql.NullString
		if err := scan(sqldb.Into(&v.Property.ID), &v.Visibility, valueScanner{&v.Sought}, &text); err != nil {
			return v, err
		}
		v.Value = v.Sought
		if text.Valid {
			v.Value = social.TextValue(text.String)
		}
		return v, nil
	}, user.Bytes())
	return &social.Profile{User: user, Values: values}, err
}

// valueScanner scans a value that is either a text or a number.
type valueScanner struct{ to *social.PropertyValue }

var errNoValue = errors.New("neither a text nor a number")

// Scan implements sql.Scanner.
func (s valueScanner) Scan(column any) error {
	switch v := column.(type) {
	case string:
		*s.to = social.TextValue(v)
	case float64:
		*s.to = social.NumberValue(v)
	case int64:
		*s.to = social.NumberValue(float64(v))
	default:
		return errNoValue
	}
	return nil
}

// FindProfiles implements social.Properties. The first condition walks the index; the others are
// checked for each profile.
func (s *Store) FindProfiles(ctx context.Context, where []social.PropertyCondition, after *social.ProfilePoint, limit int) ([]*social.Profile, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Profile, error) {
		var profiles []*social.Profile
		for _, in := range where[0].Intervals {
			if len(profiles) == limit {
				break
			}
			some, err := findBetween(tx, where, in, after, limit-len(profiles))
			if err != nil {
				return nil, err
			}
			profiles = append(profiles, some...)
		}
		return profiles, nil
	})
}

func findBetween(tx sqldb.Reader, where []social.PropertyCondition, in social.Interval, after *social.ProfilePoint, limit int) ([]*social.Profile, error) {
	behind, user := stored(in.Min), []byte{} // sorts before all users with the lowest value
	if after != nil {
		behind, user = stored(after.Value), after.User.Bytes()
	}
	var profiles []*social.Profile
	err := tx.Each(profilesByValue, func(scan sqldb.Scan) (bool, error) {
		var at social.ProfilePoint
		if err := scan(valueScanner{&at.Value}, sqldb.Into(&at.User.ID)); err != nil {
			return false, err
		}
		p, err := readProfile(tx, at.User)
		if err == nil && holds(where, p, social.VisibleToAll) {
			profiles = append(profiles, p)
		}
		return len(profiles) < limit, err
	}, where[0].Property.Bytes(), stored(in.Min), stored(in.Max), behind, user)
	return profiles, err
}

// holds reports whether a profile meets all conditions with values of these visibilities.
func holds(where []social.PropertyCondition, p *social.Profile, visibilities ...social.Visibility) bool {
	for i := range where {
		value, ok := p.Value(where[i].Property)
		if !ok || !slices.Contains(visibilities, value.Visibility) || !where[i].Holds(value.Sought) {
			return false
		}
	}
	return true
}

// FindProfilesOf implements social.Properties.
func (s *Store) FindProfilesOf(ctx context.Context, users []social.UserID, where []social.PropertyCondition) ([]*social.Profile, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Profile, error) {
		var profiles []*social.Profile
		for _, user := range users {
			p, err := readProfile(tx, user)
			if err != nil {
				return nil, err
			}
			if holds(where, p, social.VisibleToAll, social.VisibleToCircles) {
				profiles = append(profiles, p)
			}
		}
		return profiles, nil
	})
}

// deleteProfileOf removes some of the values of a deleted user's profile.
func deleteProfileOf(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return sqldb.DeleteSome(tx.Tx, user, someProfileValues)
}
