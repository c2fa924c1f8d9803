// Package scalars writes and reads the schema's scalars.
package scalars

import (
	"encoding/json"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"plaza/ads"
	"plaza/fault"
	"plaza/social"
)

const dateTimeLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalDateTime writes UTC with milliseconds; the zero time is null.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	if t.IsZero() {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, t.UTC().Format(`"`+dateTimeLayout+`"`))
	})
}

// UnmarshalDateTime reads RFC 3339, with any offset and any fraction; it keeps milliseconds.
func UnmarshalDateTime(v any) (time.Time, error) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, invalid("A DateTime is a string.")
	}
	text = strings.ToUpper(text) // t and z are allowed
	if !rfc3339.MatchString(text) {
		return time.Time{}, invalid("A DateTime is written as in 2026-11-21T18:30:00Z.")
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	t = t.UTC().Truncate(time.Millisecond)
	if err != nil || t.IsZero() || t.Year() < 1 || t.Year() > 9999 { // the zero time means "none" further in
		return time.Time{}, invalid("There is no such time: a DateTime is a day of the calendar and a time from 00:00:00 to 23:59:59.999, after the start of the year 1 and before that of 10000, in UTC.")
	}
	return t, nil
}

// rfc3339 is the format. time.Parse also lets hours of one digit pass, a decimal comma, and offsets of
// a day or more.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// invalid is a mistake in an argument; the caller knows in which one.
func invalid(message string) error { return fault.Invalidf("", "%s", message) }

// MarshalInt writes an integer.
func MarshalInt(i int) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.Itoa(i)) })
}

var errInt = invalid("An Int is a whole number of 32 bits.")

// UnmarshalInt reads a whole number of 32 bits, as GraphQL's Int is.
func UnmarshalInt(v any) (int, error) {
	wide, ok := wholeNumber(v, math.MaxInt32)
	if !ok || wide < math.MinInt32 || wide > math.MaxInt32 {
		return 0, errInt
	}
	return int(wide), nil
}

// wholeNumber reads a whole number; one that comes as a float is at most so far from 0.
func wholeNumber(v any, most float64) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= most
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	default:
		return 0, false
	}
}

// MarshalMicros writes a whole number.
func MarshalMicros(m ads.Micros) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.FormatInt(int64(m), 10)) })
}

// maxExact is the largest whole number that every JSON reader takes exactly.
const maxExact = 1<<53 - 1

var errMicros = invalid("Micros are a whole number, of at most 2⁵³ − 1.")

// UnmarshalMicros reads a whole number.
func UnmarshalMicros(v any) (ads.Micros, error) {
	wide, ok := wholeNumber(v, maxExact)
	if !ok || wide < -maxExact || wide > maxExact {
		return 0, errMicros
	}
	return ads.Micros(wide), nil
}

func text(s string) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, `"`+s+`"`) })
}

func read[T any](v any, parse func(string) (T, error)) (T, error) {
	text, err := graphql.UnmarshalID(v)
	if err != nil {
		var none T
		return none, err
	}
	return parse(text)
}

// MarshalUserID writes user_….
func MarshalUserID(i social.UserID) graphql.Marshaler { return text(i.String()) }

// UnmarshalUserID reads user_….
func UnmarshalUserID(v any) (social.UserID, error) { return read(v, social.ParseUserID) }

// MarshalCircleID writes circle_….
func MarshalCircleID(i social.CircleID) graphql.Marshaler { return text(i.String()) }

// UnmarshalCircleID reads circle_….
func UnmarshalCircleID(v any) (social.CircleID, error) { return read(v, social.ParseCircleID) }

// MarshalPostID writes post_….
func MarshalPostID(i social.PostID) graphql.Marshaler { return text(i.String()) }

// UnmarshalPostID reads post_….
func UnmarshalPostID(v any) (social.PostID, error) { return read(v, social.ParsePostID) }

// MarshalCommentID writes comment_….
func MarshalCommentID(i social.CommentID) graphql.Marshaler { return text(i.String()) }

// UnmarshalCommentID reads comment_….
func UnmarshalCommentID(v any) (social.CommentID, error) { return read(v, social.ParseCommentID) }

// MarshalNotificationID writes notification_….
func MarshalNotificationID(i social.NotificationID) graphql.Marshaler { return text(i.String()) }

// UnmarshalNotificationID reads notification_….
func UnmarshalNotificationID(v any) (social.NotificationID, error) {
	return read(v, social.ParseNotificationID)
}

// MarshalPropertyValue writes a string, a number or a boolean.
func MarshalPropertyValue(v any) graphql.Marshaler { return graphql.MarshalAny(v) }

// UnmarshalPropertyValue reads what social.Property.Parse takes: a string, an int64, a float64 or a
// bool.
func UnmarshalPropertyValue(v any) (any, error) {
	switch v := v.(type) {
	case string, bool, int64, float64:
		return v, nil
	case int:
		return int64(v), nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		if n, err := v.Float64(); err == nil {
			return n, nil
		}
	}
	return nil, invalid("A PropertyValue is a string, a finite number, or true or false.")
}

// MarshalAdvertiserID writes advertiser_….
func MarshalAdvertiserID(i ads.AdvertiserID) graphql.Marshaler { return text(i.String()) }

// UnmarshalAdvertiserID reads advertiser_….
func UnmarshalAdvertiserID(v any) (ads.AdvertiserID, error) { return read(v, ads.ParseAdvertiserID) }

// MarshalCampaignID writes campaign_….
func MarshalCampaignID(i ads.CampaignID) graphql.Marshaler { return text(i.String()) }

// UnmarshalCampaignID reads campaign_….
func UnmarshalCampaignID(v any) (ads.CampaignID, error) { return read(v, ads.ParseCampaignID) }

// MarshalUnitID writes ad_….
func MarshalUnitID(i ads.UnitID) graphql.Marshaler { return text(i.String()) }

// UnmarshalUnitID reads ad_….
func UnmarshalUnitID(v any) (ads.UnitID, error) { return read(v, ads.ParseUnitID) }
