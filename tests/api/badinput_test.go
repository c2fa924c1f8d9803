package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/ads"
	"plaza/fault"
	"plaza/graph/generated"
	"plaza/graph/model"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/transport/codes"
)

// This file sends wrong values to every argument and every input field of the schema. A field
// without cases fails the test. Each answer must be an error with a documented code that names the
// argument; nothing may change, and the log must stay clean.

// bad is a wrong value of one argument or input field.
type bad struct {
	why   string
	value any
	code  string // "" means any
	at    string // what the error names, if not the argument itself

	beside map[string]any // other fields that the input needs
}

const (
	nothing = "nothing" // for errors that must not say which argument is wrong

	unknownID = "_01h455vb4pex5vsknk084sn02q"
	zeroID    = "_00000000000000000000000000"
)

// veryLong is far above every limit, but no longer than needed, because each byte is slow under the
// race detector.
var veryLong = strings.Repeat("x", 1<<18)

func text(maxLen int) []bad {
	return append(optionalText(maxLen),
		bad{why: "empty", value: "", code: "BLANK"},
		bad{why: "white space", value: " \n\t\u00a0", code: "BLANK"})
}

func optionalText(maxLen int) []bad {
	return []bad{
		{why: "one character too long", value: strings.Repeat("é", maxLen+1), code: "TOO_LONG"},
		{why: "256 kB", value: veryLong, code: "TOO_LONG"},
		{why: "NUL", value: "a\x00b", code: "INVALID"},
		{why: "a bell", value: "a\ab", code: "INVALID"},
	}
}

func line(maxLen int) []bad { return append(text(maxLen), lines()...) }

func optionalLine(maxLen int) []bad { return append(optionalText(maxLen), lines()...) }

func lines() []bad {
	return []bad{
		{why: "two lines", value: "two\nlines", code: "INVALID"},
		{why: "two lines by U+2028", value: "two\u2028lines", code: "INVALID"},
	}
}

func address() []bad {
	cases := []bad{
		{why: "2,049 characters", value: "https://example.org/" + strings.Repeat("x", 2_029), code: "TOO_LONG"},
		{why: "256 kB", value: "https://example.org/" + veryLong, code: "TOO_LONG"},
	}
	for _, text := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "ftp://example.org/", "//example.org/",
		"example.org", "http:", "http://", "http:///path", "https://ada:secret@example.org/", "http://example.org/\x00", " http://example.org/",
		"http://exa mple.org/", "http://[::1", "https://example.org/%zz", "http://example.org:port/",
		"http://example.org/a b", `http://example.org/"onmouseover="alert(1)`, "http://example.org/<script>", `http://example.org\@evil.example/`,
	} {
		cases = append(cases, bad{why: text, value: text, code: "INVALID"})
	}
	return cases
}

func handle() []bad {
	cases := []bad{
		{why: "taken", value: "ada", code: "TAKEN"},
		{why: "taken, in another case", value: "ADA", code: "TAKEN"},
	}
	for _, text := range []string{"admin", "Support", "GRAPHQL", "_root_", "a_p_i"} {
		cases = append(cases, bad{why: "reserved: " + text, value: text, code: "RESERVED"})
	}
	for _, text := range []string{"", "a b", "ä", "a-b", "@newcomer", "newcomer\n", "new\x00comer", strings.Repeat("a", 31), veryLong, "\u212A", "n\u0435wcomer"} {
		cases = append(cases, bad{why: fmt.Sprintf("%.20q", text), value: text, code: "INVALID"})
	}
	return cases
}

func emails() []bad {
	return values("INVALID", "", "ada", "ada@", "@site.example", "ada@site.example\r\nBcc: eve@site.example", "ada@site.example\n", "a\x00da@site.example",
		"Ada <ada@site.example>", "ada@site.example, eve@site.example", "\u00e4@site.example", `"a b"@site.example`, "ada@site.example ", strings.Repeat("a", 250)+"@b.example", veryLong)
}

func password() []bad {
	return []bad{
		{why: "empty", value: "", code: "BLANK"},
		{why: "7 characters", value: "7 chars", code: "INVALID"},
		{why: "129 characters", value: strings.Repeat("é", 129), code: "TOO_LONG"},
		{why: "256 kB", value: veryLong, code: "TOO_LONG"},
		{why: "NUL", value: "long\x00enough", code: "INVALID"},
	}
}

func notAnyID(kind string) []bad {
	cases := []bad{
		{why: "unknown", value: kind + unknownID, code: "NOT_FOUND"},
		{why: "zero", value: kind + zeroID, code: "NOT_FOUND"},
	}
	return append(cases, malformedIDs(kind)...)
}

func malformedIDs(kind string) []bad {
	var cases []bad
	for _, text := range []string{
		"", "x", "42", kind, kind + "_", kind + unknownID[:26], kind + unknownID + "q", strings.ToUpper(kind + unknownID), kind + "_8" + unknownID[2:],
		" " + kind + unknownID, kind + unknownID + "\x00", kind + unknownID[:26] + "\n", kind + "_" + veryLong, "cat" + unknownID, "dad" + unknownID,
	} {
		cases = append(cases, bad{why: fmt.Sprintf("malformed: %.40q", text), value: text, code: "INVALID"})
	}
	for _, other := range []string{"user", "circle", "post", "comment"} {
		if other != kind {
			cases = append(cases, bad{why: "a " + other + "'s", value: other + unknownID, code: "INVALID"})
		}
	}
	return cases
}

func values(code string, all ...any) []bad {
	var cases []bad
	for _, value := range all {
		cases = append(cases, bad{why: shown(value), value: value, code: code})
	}
	return cases
}

func shown(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%.60q", text)
	}
	return fmt.Sprintf("%T %.40v", value, value)
}

func badTimes() []bad {
	return append(values("INVALID", "2020-01-01T00:00:00Z", "1970-01-01T00:00:00Z"), noTimes()...)
}

// noTimes returns values that are not times.
func noTimes() []bad {
	return values("BAD_USER_INPUT",
		"", "tomorrow", "0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00", "2999-13-01T00:00:00Z", "2999-02-30T00:00:00Z", "2999-01-01", "2999-01-01T00:00:00", "10000-01-01T00:00:00Z",
		"2999-01-01T0:00:00Z", "2999-01-01T00:00:00,5Z", "2999-01-01T00:00:00+24:00", "2999-01-01T00:00:00+00:60",
		"2999-01-01T00:00:00Z\x00", veryLong, 5, true, []any{}, map[string]any{})
}

// badSubjects are not ids of what others wrote; own is the code for what ada wrote herself.
func (w *world) badSubjects(own string) []bad {
	cases := values(own, w.ids["post"], w.ids["comment"], w.ids["ada"])
	for _, kind := range []string{"post", "comment", "user"} {
		for _, c := range notAnyID(kind) {
			if !strings.HasPrefix(c.why, "a ") { // the id of another kind
				cases = append(cases, c)
			}
		}
	}
	return append(cases, values("INVALID", "circle"+unknownID, w.ids["circle"])...)
}

// inputFields returns the wrong values of each leaf of each input, by coordinate. Wrong types are
// not listed here.
func (w *world) inputFields() map[string][]bad {
	user := func(more ...bad) []bad {
		return append(append(notAnyID("user"), bad{why: "blocked by her", value: w.ids["fay"], code: "NOT_FOUND"}), more...)
	}
	self := bad{why: "oneself", value: w.ids["ada"], code: "INVALID"}
	circle := func(more ...bad) []bad {
		return append(append(notAnyID("circle"), bad{why: "another user's", value: w.ids["bobCircle"], code: "NOT_FOUND"}), more...)
	}
	post := func(more ...bad) []bad {
		return append(append(notAnyID("post"), bad{why: "hidden", value: w.ids["hidden"], code: "NOT_FOUND"}), more...)
	}
	comment := func(more ...bad) []bad {
		return append(append(notAnyID("comment"), bad{why: "hidden", value: w.ids["hiddenComment"], code: "NOT_FOUND"}), more...)
	}
	othersPost := bad{why: "another user's", value: w.ids["bobPost"], code: "NOT_ALLOWED"}
	othersComment := bad{why: "another user's", value: w.ids["bobComment"], code: "NOT_ALLOWED"}
	return map[string][]bad{
		"SignUpInput.handle":                           handle(),
		"SignUpInput.name":                             line(100),
		"SignUpInput.password":                         password(),
		"SignInInput.handle":                           named(nothing, values("BAD_CREDENTIALS", "", "unknown", "@ada", "a\x00da", veryLong)),
		"SignInInput.password":                         named(nothing, values("BAD_CREDENTIALS", "", "wrong", "password of ada ", "password of ada\x00", veryLong)),
		"UpdateProfileInput.name":                      line(100),
		"UpdateProfileInput.bio":                       optionalText(1_000),
		"UpdateProfileInput.avatarUrl":                 address(),
		"UpdateProfileInput.wallPolicy":                {},
		"SetNotificationSettingInput.kind":             {},
		"SetNotificationSettingInput.enabled":          {},
		"DefineProfilePropertyInput.key":               append(propertyKeys(), values("TAKEN", "city")...),
		"DefineProfilePropertyInput.label":             line(100),
		"DefineProfilePropertyInput.type":              named("input.choices", values("INVALID", "TEXT", "INT", "FLOAT", "DATE", "BOOL")),
		"DefineProfilePropertyInput.choices":           badChoices(),
		"DefineProfilePropertyInput.searchable":        {},
		"DefineProfilePropertyInput.defaultVisibility": {},
		"UpdateProfilePropertyInput.key":               unknownKeys(),
		"UpdateProfilePropertyInput.label":             line(100),
		"UpdateProfilePropertyInput.choices":           badChoices(),
		"UpdateProfilePropertyInput.searchable":        {},
		"UpdateProfilePropertyInput.defaultVisibility": {},
		"RemoveProfilePropertyInput.key":               unknownKeys(),
		"ClearProfilePropertyInput.key":                unknownKeys(),
		"SetProfilePropertyInput.key":                  unknownKeys(),
		"SetProfilePropertyInput.visibility":           {},
		"SetProfilePropertyInput.value": slices.Concat(line(200), values("INVALID", 5, 1.5, true), values("BAD_USER_INPUT", map[string]any{"$gt": ""}, json.RawMessage("1e999")), []bad{
			{why: "a string for a number", value: "5", code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "a fraction for a whole number", value: 0.5, code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "a number beyond 2^53", value: 1 << 54, code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "the first number beyond 2^53", value: 1<<53 + 1, code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "the first number below -2^53", value: -1<<53 - 1, code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "more than 64 bits", value: json.RawMessage("18446744073709551616"), code: "INVALID", beside: map[string]any{"key": "height"}},
			{why: "not a number", value: "NaN", code: "INVALID", beside: map[string]any{"key": "weight"}},
			{why: "no bound", value: "Infinity", code: "INVALID", beside: map[string]any{"key": "weight"}},
			{why: "beyond all numbers", value: json.RawMessage("-1e999"), code: "BAD_USER_INPUT", beside: map[string]any{"key": "weight"}},
			{why: "no choice", value: "XXL", code: "INVALID", beside: map[string]any{"key": "shirt"}},
			{why: "a choice with a dollar", value: "$S", code: "INVALID", beside: map[string]any{"key": "shirt"}},
			{why: "the year 0", value: "0000-12-31", code: "INVALID", beside: map[string]any{"key": "birthday"}},
			{why: "the year 10000", value: "10000-01-01", code: "INVALID", beside: map[string]any{"key": "birthday"}},
			{why: "a date with a time", value: "2026-11-21T00:00:00Z", code: "INVALID", beside: map[string]any{"key": "birthday"}},
			{why: "no date", value: "2026-02-30", code: "INVALID", beside: map[string]any{"key": "birthday"}},
			{why: "no yes or no", value: 1, code: "INVALID", beside: map[string]any{"key": "veggie"}},
		}),
		"CreateCircleInput.name":         append(line(100), values("TAKEN", "Friends", "fRIENDS", "following")...),
		"RenameCircleInput.circleId":     circle(),
		"RenameCircleInput.name":         append(line(100), values("TAKEN", "Following", "fOLLOWING")...),
		"DeleteCircleInput.circleId":     circle(bad{why: "built in", value: w.ids["following"], code: "NOT_ALLOWED"}),
		"AddToCircleInput.circleId":      circle(),
		"AddToCircleInput.userId":        user(self, bad{why: "blocked", value: w.ids["eve"], code: "NOT_FOUND"}),
		"RemoveFromCircleInput.circleId": circle(),
		"RemoveFromCircleInput.userId":   user(),
		"FollowUserInput.userId":         user(self, bad{why: "blocked", value: w.ids["eve"], code: "NOT_FOUND"}),
		"UnfollowUserInput.userId":       user(self),
		"BlockUserInput.userId":          user(self),
		"UnblockUserInput.userId":        user(self),
		"MuteUserInput.userId":           user(self),
		"UnmuteUserInput.userId":         user(self),
		"CreatePostInput.wallOwnerId":    user(bad{why: "wants no posts", value: w.ids["cyn"], code: "NOT_ALLOWED"}),
		"StatusInput.text":               text(10_000),
		"PhotoInput.url":                 append(address(), bad{why: "empty", value: "", code: "BLANK"}),
		"PhotoInput.alt":                 optionalLine(1_000),
		"PhotoInput.caption":             optionalText(10_000),
		"PhotoInput.width":               values("INVALID", 0, -1, 100_001, -1<<31, 1<<31-1),
		"PhotoInput.height":              values("INVALID", 0, -1, 100_001, -1<<31, 1<<31-1),
		"LinkInput.url":                  append(address(), bad{why: "empty", value: "", code: "BLANK"}),
		"LinkInput.title":                optionalLine(300),
		"LinkInput.text":                 optionalText(10_000),
		"CheckinInput.place":             line(200),
		"CheckinInput.latitude":          append(values("INVALID", 90.000001, -91, 1e308), values("BAD_USER_INPUT", "NaN", json.RawMessage("1e999"))...),
		"CheckinInput.longitude":         append(values("INVALID", 180.000001, -181, -1e308), values("BAD_USER_INPUT", "Infinity", json.RawMessage("-1e999"))...),
		"CheckinInput.text":              optionalText(10_000),
		"PictureInput.url":               append(address(), bad{why: "empty", value: "", code: "BLANK"}),
		"PictureInput.alt":               optionalLine(1_000),
		"PictureInput.width":             values("INVALID", 0, -1, 100_001, -1<<31, 1<<31-1),
		"PictureInput.height":            values("INVALID", 0, -1, 100_001, -1<<31, 1<<31-1),
		"PollInput.question":             text(1_000),
		"PollInput.options":              badOptions(),
		"PollInput.closesAt":             badTimes(),
		"AudienceInput.kind":             named("input.audience.circleIds", values("INVALID", "PUBLIC", "CIRCLES", "ONLY_ME")),
		"AudienceInput.circleIds":        w.badCircles(),
		"ReplyPolicyInput.kind":          named("input.replies.circleIds", values("INVALID", "EVERYONE", "CIRCLES", "NOBODY")),
		"ReplyPolicyInput.circleIds":     w.badCircles(),
		"SetReplyPolicyInput.postId":     post(othersPost),
		"CreatePostInput.commentOrder":   {},
		"SetCommentOrderInput.postId":    post(othersPost),
		"SetCommentOrderInput.order":     {},
		"MuteThreadInput.postId":         post(),
		"UnmuteThreadInput.postId":       post(),
		"EditPostInput.postId":           post(othersPost),
		"SetPostAudienceInput.postId":    post(othersPost),
		"DeletePostInput.postId":         post(othersPost),
		"VotePollInput.postId": post(
			bad{why: "no poll", value: w.ids["post"], code: "INVALID"}, bad{why: "closed", value: w.ids["closed"], code: "CLOSED"}),
		"VotePollInput.option":       values("INVALID", -1, 2, 1<<31-1, -1<<31),
		"AddReactionInput.postId":    post(),
		"AddReactionInput.kind":      {},
		"RemoveReactionInput.postId": post(),
		"AddCommentInput.postId": post(
			bad{why: "not the parent's", value: w.ids["bobPost"], code: "INVALID", at: "input.parentId"},
			bad{why: "closed to replies", value: w.ids["noReplies"], code: "NOT_ALLOWED"}),
		"AddCommentInput.text": text(10_000),
		"AddCommentInput.parentId": comment(
			bad{why: "on another post", value: w.ids["bobComment"], code: "INVALID"},
			bad{why: "at the depth limit", value: w.ids["deepest"], code: "TOO_DEEP", beside: map[string]any{"postId": w.ids["photo"]}},
			bad{why: "a tombstone", value: w.ids["tombstone"], code: "NOT_FOUND"}),
		"EditCommentInput.commentId":     comment(othersComment, bad{why: "a tombstone", value: w.ids["tombstone"], code: "NOT_FOUND"}),
		"EditCommentInput.text":          text(10_000),
		"DeleteCommentInput.commentId":   comment(othersComment, bad{why: "a tombstone", value: w.ids["tombstone"], code: "NOT_FOUND"}),
		"SignInWithIdTokenInput.idToken": values("BAD_CREDENTIALS", "", "x", "a.b", "..", "a.b.c\x00", veryLong),
		"SignInWithIdTokenInput.nonce": {
			{why: "empty", value: "", code: "BLANK"},
			{why: "31 characters", value: strings.Repeat("x", 31), code: "INVALID"},
			{why: "256 characters", value: strings.Repeat("x", 256), code: "TOO_LONG"},
			{why: "256 kB", value: veryLong, code: "TOO_LONG"},
			{why: "a control character", value: strings.Repeat("x", 32) + "\x00", code: "INVALID"},
		},
		"ChangePasswordInput.currentPassword":  values("BAD_CREDENTIALS", "", "wrong", "password of ada ", "password of ada\x00", veryLong),
		"ChangePasswordInput.newPassword":      password(),
		"RevokeSessionInput.sessionId":         append(notAnyID("session"), bad{why: "another user's", value: w.bobSession, code: "NOT_FOUND"}),
		"RevokeAccessTokenInput.accessTokenId": append(notAnyID("token"), bad{why: "another user's", value: w.bobAccessToken, code: "NOT_FOUND"}),
		"CreateInvitationInput.expiresInDays":  values("INVALID", 0, -1, 31, 1<<31-1, -1<<31),
		"RevokeInvitationInput.invitationId":   append(notAnyID("invitation"), bad{why: "another user's", value: w.bobInvitation, code: "NOT_FOUND"}),
		"SignUpInput.invitation":               append(values("NOT_ALLOWED", "x", strings.ToUpper(w.code), strings.Replace(w.code, "_", "_ ", 1), w.code+"\x00", w.invitation, w.code[:len(w.code)-1], veryLong), values("BLANK", "", " \n")...),
		"SignInWithIdTokenInput.invitation":    {}, // looked at when the token is verified
		"CreateAccessTokenInput.name":          line(100),
		"CreateAccessTokenInput.expiresInDays": values("INVALID", 0, -1, 366, 1<<31-1, -1<<31),
		"CreateAccessTokenInput.scopes": {
			{why: "one twice", value: []any{"ADMIN", "WRITE_POSTS", "ADMIN"}, code: "INVALID"},
			{why: "500", value: slices.Repeat([]any{"ADMIN"}, 500), code: "INVALID"},
			{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"},
		},
		"MarkNotificationsReadInput.notificationIds": w.badNotifications(),
		"MarkNotificationsReadInput.upTo": values("INVALID", "", "x", "!!!!", w.cursor[:len(w.cursor)-1], w.cursor[:8], w.cursor+"A", w.cursor+"=", " "+w.cursor, w.cursor+"\x00",
			w.newsCursor, w.bobCursor, w.ids["notification"], w.cursor[:2]+veryLong),
		"ReportInput.subjectId": slices.Concat(w.badSubjects("NOT_ALLOWED"), []bad{
			{why: "hidden", value: w.ids["hidden"], code: "NOT_FOUND"},
			{why: "a hidden comment", value: w.ids["hiddenComment"], code: "NOT_FOUND"},
			{why: "a tombstone", value: w.ids["tombstone"], code: "NOT_FOUND"},
			{why: "blocked by her", value: w.ids["fay"], code: "NOT_FOUND"},
		}),
		"DecideCaseInput.caseId":                notAnyID("case"),
		"DecideCaseInput.decision":              named("input.caseId", values("CONFLICT", "RESTORE")),
		"DecideCaseInput.reason":                text(2_000),
		"DecideCaseInput.until":                 values("INVALID", "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"),
		"DeactivateAccountInput.password":       values("BAD_CREDENTIALS", "", "wrong", "password of ada ", "password of ada\x00", veryLong),
		"ReportInput.reason":                    {},
		"ReportInput.text":                      optionalText(2_000),
		"DeleteAccountInput.password":           values("BAD_CREDENTIALS", "", "wrong", "password of ada ", "password of ada\x00", veryLong),
		"SetEmailInput.email":                   emails(),
		"SetEmailInput.currentPassword":         values("BAD_CREDENTIALS", "", "wrong", "password of ada ", "password of ada\x00", veryLong),
		"ConfirmEmailInput.token":               values("INVALID", "", "x", "resetting", "confirming ", "confirming\x00", veryLong),
		"RequestPasswordResetInput.account":     line(254),
		"ResetPasswordInput.token":              values("INVALID", "", "x", "confirming", "resetting ", "resetting\x00", veryLong),
		"ResetPasswordInput.newPassword":        password(),
		"DeleteAllMyCommentsInput.confirm":      values("INVALID", false),
		"CreateAdvertiserInput.name":            line(100),
		"CreateAdvertiserInput.caps":            badCaps(),
		"UpdateAdvertiserInput.advertiserId":    notAnyID("advertiser"),
		"UpdateAdvertiserInput.name":            line(100),
		"UpdateAdvertiserInput.caps":            badCaps(),
		"CreateAdCampaignInput.advertiserId":    notAnyID("advertiser"),
		"CreateAdCampaignInput.name":            line(100),
		"CreateAdCampaignInput.isHouse":         named("input.budget", values("INVALID", true)),
		"CreateAdCampaignInput.caps":            badCaps(),
		"UpdateAdCampaignInput.campaignId":      notAnyID("campaign"),
		"UpdateAdCampaignInput.name":            line(100),
		"UpdateAdCampaignInput.caps":            badCaps(),
		"AdScheduleInput.start":                 named("input.schedule.end", values("INVALID", "2096-01-01T00:00:00Z", "2097-01-01T00:00:00Z")),
		"AdScheduleInput.end":                   append(values("INVALID", "2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z"), values("BAD_USER_INPUT", "", "tomorrow", 5)...),
		"AdScheduleInput.timeZone":              values("INVALID", "Nowhere", "../etc/passwd", "Local", "a\x00b", veryLong),
		"AdScheduleInput.weekdays":              values("BAD_USER_INPUT", "FREITAG", []any{"MONDAY", nil}, []any{1}),
		"AdScheduleInput.fromHour":              append(values("INVALID", -1, 24, 1<<31-1), named("input.schedule.toHour", values("INVALID", 20, 23))...),
		"AdScheduleInput.toHour":                values("INVALID", -1, 0, 8, 25, 1<<31-1),
		"AdBudgetInput.currency":                append(badCurrencies(), bad{why: "without amounts", value: "QQQ", code: "INVALID", beside: map[string]any{"budget": map[string]any{"currency": "QQQ"}}}),
		"AdBudgetInput.total":                   append(badMicros(), named("input.budget.daily", values("INVALID", 1))...),
		"AdBudgetInput.daily":                   badMicros(),
		"AdBudgetInput.even":                    badPaces(),
		"SetAdCampaignStateInput.campaignId":    notAnyID("campaign"),
		"SetAdCampaignStateInput.state":         {},
		"CreateAdZoneInput.site":                badZoneNames("INVALID"),
		"CreateAdZoneInput.zone":                append(badZoneNames("INVALID"), values("TAKEN", "top")...),
		"CreateAdZoneInput.currency":            badCurrencies(),
		"CreateAdZoneInput.design":              {},
		"UpdateAdZoneInput.site":                append(badZoneNames("INVALID"), named("input.zone", values("NOT_FOUND", "acme.invalid"))...),
		"UpdateAdZoneInput.zone":                append(badZoneNames("INVALID"), values("NOT_FOUND", "nowhere")...),
		"UpdateAdZoneInput.design":              {},
		"CreateAdUnitInput.campaignId":          notAnyID("campaign"),
		"CreateAdUnitInput.headline":            line(100),
		"CreateAdUnitInput.body":                optionalLine(500),
		"CreateAdUnitInput.imageUrl":            address(),
		"CreateAdUnitInput.landingUrl":          append(address(), bad{why: "empty", value: "", code: "BLANK"}),
		"CreateAdUnitInput.keywords":            badKeywords("INVALID", "TOO_LONG", "BLANK"),
		"CreateAdUnitInput.keywordWeights":      badKeywordWeights(),
		"CreateAdUnitInput.weight":              values("INVALID", 0, -1, 1_001, -1<<31),
		"CreateAdUnitInput.caps":                badCaps(),
		"CreateAdUnitInput.zones":               badPlaces(),
		"AdBidInput.model":                      {},
		"AdBidInput.price":                      append(badMicros(), values("INVALID", 1, 1_500)...),
		"AdBidInput.currency":                   append(badCurrencies(), values("INVALID", "USD")...),
		"UpdateAdUnitInput.unitId":              notAnyID("ad"),
		"UpdateAdUnitInput.headline":            line(100),
		"UpdateAdUnitInput.body":                optionalLine(500),
		"UpdateAdUnitInput.imageUrl":            address(),
		"UpdateAdUnitInput.landingUrl":          append(address(), bad{why: "empty", value: "", code: "BLANK"}),
		"UpdateAdUnitInput.keywords":            badKeywords("INVALID", "TOO_LONG", "BLANK"),
		"UpdateAdUnitInput.keywordWeights":      badKeywordWeights(),
		"UpdateAdUnitInput.weight":              values("INVALID", 0, -1, 1_001, -1<<31),
		"UpdateAdUnitInput.caps":                badCaps(),
		"UpdateAdUnitInput.zones":               badPlaces(),
		"SetAdUnitStateInput.unitId":            notAnyID("ad"),
		"SetAdUnitStateInput.state":             {},
		"RefundAdsInput.campaignId":             notAnyID("campaign"),
		"RefundAdsInput.unitId":                 notAnyID("ad"),
		"RefundAdsInput.choiceId":               malformedIDs("adchoice"),
		"RefundAdsInput.kind":                   values("INVALID", "IMPRESSION"),
		"RefundAdsInput.from":                   badTimes(),
		"RefundAdsInput.to":                     append(badTimes(), values("INVALID", "2999-01-01T00:00:00Z")...),
		"RefundAdsInput.person":                 malformedIDs("adperson"),
		"RefundAdsInput.visitor":                values("INVALID", "", "a b", "ä", "a\x00", veryLong, strings.Repeat("a", 129)),
		"RefundAdsInput.address":                values("INVALID", "", "localhost", "1.2.3", "1.2.3.4:5", "::1::", "a\x00", veryLong),
		"RefundAdsInput.count":                  append(values("INVALID", 0, -1, 100_001, -1<<31), values("CONFLICT", 5)...),
		"RefundAdsInput.reason":                 line(200),
		"CreateAdCampaignInput.attributionDays": values("INVALID", 0, -1, 61, -1<<31, 1<<31-1),
		"UpdateAdCampaignInput.attributionDays": values("INVALID", 0, -1, 61, -1<<31, 1<<31-1),
		"RecordAdConversionInput.token":         values("INVALID", "", "AAAA", "not base64!", "a\x00", veryLong, strings.Repeat("A", 200)),
		"RecordAdImpressionInput.token":         values("INVALID", "", "AAAA", "not base64!", "a\x00", veryLong, strings.Repeat("A", 200)),
	}
}

func (w *world) badNotifications() []bad {
	cases := []bad{{why: "101", value: slices.Repeat([]any{w.ids["notification"]}, 101), code: "TOO_LONG"}, {why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"}}
	for _, c := range append(notAnyID("notification"), bad{why: "another user's", value: w.ids["bobNotification"], code: "NOT_FOUND"}) {
		cases = append(cases, bad{why: "the second one " + c.why, value: []any{w.ids["notification"], c.value}, code: c.code, at: "input.notificationIds.1"})
	}
	return cases
}

func named(at string, cases []bad) []bad {
	for i := range cases {
		cases[i].at = at
	}
	return cases
}

func propertyKeys() []bad {
	return values("INVALID", "", " ", "a.b", "$a", "a$b", "a.$b", ".", "1a", "A", "_a", "a b", "\u00e4", "a\x00", "a\n", strings.Repeat("a", 33), veryLong)
}

func unknownKeys() []bad {
	return values("NOT_FOUND", "", "nope", "City", "$city", "city.", "ci\x00ty", veryLong)
}

func badChoices() []bad {
	numbered := make([]any, 101)
	for i := range numbered {
		numbered[i] = fmt.Sprint("choice ", i)
	}
	cases := []bad{
		{why: "none", value: []any{}, code: "INVALID"},
		{why: "101", value: numbered, code: "TOO_LONG"},
		{why: "twice the same", value: []any{"a", "b", "a"}, code: "INVALID"},
		{why: "null in it", value: []any{"a", nil}, code: "BAD_USER_INPUT"},
	}
	for _, choice := range line(200) {
		cases = append(cases, bad{why: "one choice " + choice.why, value: []any{"fine", choice.value}, code: choice.code})
	}
	return cases
}

func badOptions() []bad {
	numbered := func(n int) []any {
		var options []any
		for i := range n {
			options = append(options, fmt.Sprint("option ", i))
		}
		return options
	}
	cases := []bad{
		{why: "none", value: []any{}, code: "INVALID"},
		{why: "one", value: numbered(1), code: "INVALID"},
		{why: "one, not in a list", value: "alone", code: "INVALID"},
		{why: "11", value: numbered(11), code: "TOO_LONG"},
		{why: "1,500", value: numbered(1_500), code: "TOO_LONG"},
		{why: "twice the same", value: []any{"a", "b", "a"}, code: "INVALID"},
		{why: "twice the same but for white space", value: []any{"a", " a "}, code: "INVALID"},
		{why: "null in it", value: []any{"a", nil}, code: "BAD_USER_INPUT"},
	}
	for _, option := range line(200) {
		cases = append(cases, bad{why: "one option " + option.why, value: []any{"fine", option.value}, code: option.code})
	}
	return cases
}

func badCaps() []bad {
	one := func(count any, per any) []any { return []any{map[string]any{"count": count, "per": per}} }
	return []bad{
		{why: "none", value: one(0, "DAY"), code: "INVALID"},
		{why: "below 0", value: one(-1, "DAY"), code: "INVALID"},
		{why: "101", value: one(101, "DAY"), code: "INVALID"},
		{why: "a window twice", value: append(one(1, "DAY"), one(2, "DAY")...), code: "INVALID"},
		{why: "500", value: slices.Repeat(one(1, "DAY"), 500), code: "INVALID"},
		{why: "an unknown window", value: one(1, "MONTH"), code: "BAD_USER_INPUT"},
		{why: "half a cap", value: one(0.5, "DAY"), code: "BAD_USER_INPUT"},
		{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"},
	}
}

func badKeywordWeights() []bad {
	beside := map[string]any{"keywords": []any{"anvil"}}
	one := func(keyword, weight any) []any { return []any{map[string]any{"keyword": keyword, "weight": weight}} }
	list := []bad{
		{why: "none", value: one("anvil", 0), code: "INVALID"},
		{why: "below 0", value: one("anvil", -1), code: "INVALID"},
		{why: "1,001", value: one("anvil", 1_001), code: "INVALID"},
		{why: "a keyword twice", value: append(one("anvil", 1), one(" Anvil", 2)...), code: "INVALID"},
		{why: "another keyword", value: one("forge", 1), code: "INVALID"},
		{why: "no keyword", value: one("", 1), code: "BLANK"},
		{why: "256 kB", value: one(veryLong, 1), code: "TOO_LONG"},
		{why: "500", value: slices.Repeat(one("anvil", 1), 500), code: "TOO_LONG"},
		{why: "half a weight", value: one("anvil", 0.5), code: "BAD_USER_INPUT"},
		{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"},
	}
	for i := range list {
		list[i].beside = beside
	}
	return list
}

func badMicros() []bad {
	return append(values("INVALID", 0, -1, -1_000, int64(1e15)+1_000), values("BAD_USER_INPUT", "1000", 0.5, json.RawMessage("1e30"), json.RawMessage("9223372036854775808"), true)...)
}

func badPaces() []bad {
	return []bad{
		{why: "without amounts", value: true, code: "INVALID", beside: map[string]any{"budget": map[string]any{"currency": "EUR", "even": true}}},
		{why: "without a day or an end", value: true, code: "INVALID", beside: map[string]any{
			"schedule": map[string]any{}, "budget": map[string]any{"currency": "EUR", "total": 2_000, "even": true},
		}},
	}
}

func badCurrencies() []bad {
	return values("INVALID", "", "eur", "EUX", "XXX", "EURO", "a\x00b", veryLong)
}

func badZoneNames(code string) []bad {
	return values(code, "", "a/b", "A", "ä", "a\x00", strings.Repeat("a", 65), veryLong)
}

func badPlaces() []bad {
	one := func(site, zone any) []any { return []any{map[string]any{"site": site, "zone": zone}} }
	return []bad{
		{why: "a zone of another site", value: one("elsewhere.example", "top"), code: "NOT_FOUND", at: "input.zones.0"},
		{why: "no such zone", value: append(one("acme.example", "top"), one("acme.example", "nowhere")...), code: "NOT_FOUND", at: "input.zones.1"},
		{why: "no zone's name", value: one("acme.example", "a/b"), code: "INVALID"},
		{why: "a zone twice", value: slices.Repeat(one("acme.example", "top"), 2), code: "INVALID"},
		{why: "500", value: slices.Repeat(one("acme.example", "top"), 500), code: "TOO_LONG"},
		{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"},
		{why: "without a zone", value: []any{map[string]any{"site": "acme.example"}}, code: "BAD_USER_INPUT"},
	}
}

// badKeywords returns malformed keywords, too many or too long ones, and blank ones, with these
// codes.
func badKeywords(malformed, tooLong, blank string) []bad {
	many := make([]any, 500)
	for i := range many {
		many[i] = fmt.Sprint("keyword ", i)
	}
	return []bad{
		{why: "500", value: many, code: tooLong},
		{why: "51", value: many[:51], code: tooLong},
		{why: "51 characters", value: []any{strings.Repeat("é", 51)}, code: tooLong},
		{why: "256 kB", value: []any{veryLong}, code: tooLong},
		{why: "empty", value: []any{""}, code: blank},
		{why: "a comma", value: []any{"a,b"}, code: malformed},
		{why: "NUL", value: []any{"a\x00b"}, code: malformed},
		{why: "two lines", value: []any{"a\nb"}, code: malformed},
		{why: "null in it", value: []any{"a", nil}, code: "BAD_USER_INPUT"},
	}
}

func (w *world) badCircles() []bad {
	many := make([]any, 51)
	for i := range many {
		many[i] = "circle_" + id.New().String()
	}
	cases := []bad{
		{why: "none", value: []any{}, code: "INVALID"},
		{why: "null", value: nil, code: "INVALID"},
		{why: "51", value: many, code: "TOO_LONG"},
		{why: "another user's", value: []any{w.ids["circle"], w.ids["bobCircle"]}, code: "NOT_FOUND"},
		{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"},
	}
	for _, c := range notAnyID("circle") {
		cases = append(cases, bad{why: "one " + c.why, value: []any{w.ids["circle"], c.value}, code: c.code})
	}
	return cases
}

// inputs returns valid inputs of each mutation. Together they reach all of its fields.
func (w *world) inputs() map[string][]map[string]any {
	listed := map[string]any{"kind": "LISTED", "circleIds": []any{w.ids["circle"]}}
	contents := map[string]map[string]any{
		"post":    {"status": map[string]any{"text": "new"}},
		"photo":   {"photo": map[string]any{"url": "https://example.org/new.png"}},
		"link":    {"link": map[string]any{"url": "https://example.org/new"}},
		"checkin": {"checkin": map[string]any{"place": "New", "latitude": 1, "longitude": 1, "photo": map[string]any{"url": "https://example.org/new.png"}}},
		"poll":    {"poll": map[string]any{"question": "New?", "options": []any{"yes", "no"}}},
	}
	inputs := map[string][]map[string]any{
		"signUp":                {{"handle": "newcomer", "name": "New", "password": "long enough", "invitation": w.code}},
		"signInWithIdToken":     {{"idToken": "a.b.c", "nonce": "the secret that a sign-in began with", "invitation": w.code}},
		"signIn":                {{"handle": "ada", "password": "password of ada"}},
		"updateProfile":         {{"name": "New"}},
		"createCircle":          {{"name": "New"}},
		"renameCircle":          {{"circleId": w.ids["circle"], "name": "New"}},
		"deleteCircle":          {{"circleId": w.ids["circle"]}},
		"addToCircle":           {{"circleId": w.ids["circle"], "userId": w.ids["cyn"]}},
		"removeFromCircle":      {{"circleId": w.ids["circle"], "userId": w.ids["bob"]}},
		"followUser":            {{"userId": w.ids["cyn"]}},
		"unfollowUser":          {{"userId": w.ids["bob"]}},
		"blockUser":             {{"userId": w.ids["cyn"]}},
		"unblockUser":           {{"userId": w.ids["eve"]}},
		"muteUser":              {{"userId": w.ids["cyn"]}},
		"unmuteUser":            {{"userId": w.ids["dan"]}},
		"setPostAudience":       {{"postId": w.ids["post"], "audience": listed}},
		"setReplyPolicy":        {{"postId": w.ids["post"], "replies": listed}},
		"setCommentOrder":       {{"postId": w.ids["post"], "order": "NEWEST"}},
		"muteThread":            {{"postId": w.ids["post"]}},
		"unmuteThread":          {{"postId": w.ids["post"]}},
		"markNotificationsRead": {{"notificationIds": []any{w.ids["notification"]}, "upTo": w.cursor}},
		"decideCase":            {{"caseId": w.ids["case"], "decision": "REMOVE", "reason": "New"}, {"caseId": w.ids["case"], "decision": "SUSPEND", "until": "2030-01-01T00:00:00Z", "reason": "New"}},
		"report":                {{"subjectId": w.ids["bobPost"], "reason": "SPAM", "text": "New"}},
		"deletePost":            {{"postId": w.ids["post"]}},
		"votePoll":              {{"postId": w.ids["poll"], "option": 1}},
		"addReaction":           {{"postId": w.ids["post"], "kind": "WOW"}},
		"removeReaction":        {{"postId": w.ids["post"]}},
		"addComment":            {{"postId": w.ids["post"], "text": "new", "parentId": w.ids["comment"]}},
		"editComment":           {{"commentId": w.ids["comment"], "text": "new"}},
		"deleteComment":         {{"commentId": w.ids["comment"]}},

		"changePassword":       {{"currentPassword": "password of ada", "newPassword": "password of ada"}},
		"setEmail":             {{"email": "ada@new.example", "currentPassword": "password of ada"}},
		"confirmEmail":         {{"token": "confirming"}},
		"requestPasswordReset": {{"account": "ada"}},
		"resetPassword":        {{"token": "resetting", "newPassword": "password of ada"}},
		"revokeSession":        {{"sessionId": w.session}},
		"createAccessToken":    {{"name": "New", "scopes": []any{"WRITE_POSTS", "ADMIN"}, "expiresInDays": 7}},
		"revokeAccessToken":    {{"accessTokenId": w.accessToken}},
		"createInvitation":     {{"expiresInDays": 3}},
		"revokeInvitation":     {{"invitationId": w.invitation}},
		"deactivateAccount":    {{"password": "password of ada"}},
		"deleteAccount":        {{"password": "password of ada"}},
		"deleteAllMyComments":  {{"confirm": true}},
		"recordAdImpression":   {{"token": "a token"}},
		"recordAdConversion":   {{"token": "a token"}},

		"defineProfileProperty": {{"key": "new", "label": "New", "type": "CHOICE", "choices": []any{"a", "b"}}},
		"updateProfileProperty": {{"key": "shirt", "label": "New"}},
		"removeProfileProperty": {{"key": "shirt"}},
		"setProfileProperty":    {{"key": "city", "value": "New"}},
		"clearProfileProperty":  {{"key": "city"}},

		"setNotificationSetting": {{"kind": "FOLLOW", "enabled": false}},
	}
	w.adInputs(inputs)
	for _, kind := range slices.Sorted(maps.Keys(contents)) {
		inputs["createPost"] = append(inputs["createPost"], map[string]any{"content": contents[kind], "audience": listed})
		inputs["editPost"] = append(inputs["editPost"], map[string]any{"postId": w.ids[kind], "content": contents[kind]})
	}
	inputs["createPost"] = append(inputs["createPost"], map[string]any{"content": contents["post"], "audience": listed, "replies": listed})
	return inputs
}

// adInputs adds inputs of the mutations about ads.
func (w *world) adInputs(inputs map[string][]map[string]any) {
	bid := map[string]any{"model": "CPM", "price": 1_000, "currency": "EUR"}
	budget := map[string]any{"currency": "EUR", "total": 2_000, "daily": 1_000}
	schedule := map[string]any{"start": "2026-01-01T00:00:00Z", "end": "2096-01-01T00:00:00Z", "fromHour": 8, "toHour": 20}
	for name, input := range map[string]map[string]any{
		"createAdvertiser":   {"name": "New"},
		"updateAdvertiser":   {"advertiserId": w.ids["advertiser"], "name": "New"},
		"createAdCampaign":   {"advertiserId": w.ids["advertiser"], "name": "New", "schedule": schedule, "budget": budget, "attributionDays": 7},
		"updateAdCampaign":   {"campaignId": w.ids["campaign"], "name": "New", "schedule": schedule, "budget": budget, "attributionDays": 7},
		"setAdCampaignState": {"campaignId": w.ids["campaign"], "state": "PAUSED"},
		"createAdZone":       {"site": "acme.example", "zone": "new", "currency": "EUR"},
		"updateAdZone":       {"site": "acme.example", "zone": "top", "design": "ZONE"},
		"createAdUnit": {
			"campaignId": w.ids["campaign"], "headline": "New", "landingUrl": "https://acme.example/new", "bid": bid,
			"zones": []any{map[string]any{"site": "acme.example", "zone": "top"}},
		},
		"updateAdUnit":   {"unitId": w.ids["unit"], "headline": "New", "bid": bid},
		"setAdUnitState": {"unitId": w.ids["unit"], "state": "PAUSED"},
		"refundAds": {
			"campaignId": w.ids["campaign"], "unitId": w.ids["unit"], "kind": "CLICK", "visitor": "f3a9", "address": "203.0.113.9", "count": 1, "reason": "Robots",
		},
	} {
		inputs[name] = append(inputs[name], input)
	}
}

// reachStorage returns the cases that an engine may answer in its own way. All others are refused
// before a store is asked, by the same code on each engine.
func reachStorage(cases []bad) []bad {
	early := []string{"INVALID", "TOO_LONG", "BLANK", "RESERVED", codes.BadUserInput}
	return slices.DeleteFunc(slices.Clone(cases), func(c bad) bool { return slices.Contains(early, c.code) })
}

// isFirst reports whether an engine is the one that runs all cases.
func isFirst(e plazatest.Engine) bool { return e.Name == plazatest.Engines[0].Name }

// TestBadInputOfMutations runs all cases on the first engine. On the others it runs only those that
// reach the storage, and checks only once that nothing has changed.
func TestBadInputOfMutations(t *testing.T) {
	requireCleanLog(t)
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := newWorld(t, plazatest.ServeInviting(t, e.Open(t), 3, time.Now))
		fields, seen := w.inputFields(), map[string]bool{}
		before := w.dump(t)
		for _, mutation := range schema.Mutation.Fields {
			if len(mutation.Arguments) == 0 || strings.HasPrefix(mutation.Name, "__") {
				continue
			}
			if !t.Run(mutation.Name, func(t *testing.T) {
				w.wrongInputs(t, mutation, fields, seen, isFirst(e))
				if isFirst(e) {
					w.mustBeAs(t, before)
				}
			}) {
				before = w.dump(t) // the next mutation is not to blame
			}
		}
		w.mustBeAs(t, before)
		for coordinate := range fields {
			if !seen[coordinate] {
				t.Errorf("%s has cases, but is not in the schema", coordinate)
			}
		}
	})
}

// wrongInputs tries a mutation with each wrong value in each place of its inputs, and adds the
// coordinates to seen. Unless all, it tries only values that reach the storage.
func (w *world) wrongInputs(t *testing.T, mutation *ast.FieldDefinition, fields map[string][]bad, seen map[string]bool, all bool) {
	inputs := w.inputs()[mutation.Name]
	if len(inputs) == 0 {
		t.Fatal("there is no valid input for this mutation")
	}
	tried := map[string]bool{}
	for _, input := range inputs {
		for _, at := range leaves(inputType(mutation), input, nil) {
			path := strings.Join(at.path, ".")
			if tried[path] {
				continue
			}
			tried[path], seen[at.coordinate()] = true, true
			cases := at.wrongValues(t, fields)
			if all {
				cases = append(at.wrongTypes(), cases...)
			} else {
				cases = reachStorage(cases)
			}
			for _, c := range cases {
				w.refused(t, mutation, input, at, c)
			}
		}
	}
}

// wrongValues returns the wrong values listed for a leaf. Objects list theirs in their own fields.
func (l leaf) wrongValues(t *testing.T, fields map[string][]bad) []bad {
	t.Helper()
	if named := schema.Types[l.field.Type.NamedType]; named != nil && named.Kind == ast.InputObject {
		return l.wrongObjects()
	}
	known, ok := fields[l.coordinate()]
	if !ok {
		t.Errorf("no cases for %s", l.coordinate())
	}
	return known
}

// refused sends one wrong value, and checks the answer.
func (w *world) refused(t *testing.T, mutation *ast.FieldDefinition, input map[string]any, at leaf, c bad) {
	t.Helper()
	wrong := at.put(input, c.value)
	maps.Copy(wrong, c.beside)
	v := verdictOf(t, w.ada, mutationText(mutation), map[string]any{"in": wrong}, mutation.Name)
	path := strings.Join(at.path, ".")
	if mutation.Name == "editPost" && at.coordinate() == "PollInput.options" && c.code != "BAD_USER_INPUT" {
		c.code = "INVALID" // whatever is wrong with them: a poll keeps its options
	}
	want := []string{"input." + path, "variables.in." + path}
	switch c.at {
	case "":
	case nothing:
		want = []string{""}
	default:
		want = []string{c.at}
	}
	v.check(t, fmt.Sprintf("%s: %s: %s", mutation.Name, path, c.why), c.code, want...)
}

func mutationText(mutation *ast.FieldDefinition) string {
	return fmt.Sprintf(`mutation($in: %s) { %s(input: $in) { userErrors { code message path } } }`, mutation.Arguments[0].Type, mutation.Name)
}

func inputType(mutation *ast.FieldDefinition) *ast.Definition {
	return schema.Types[mutation.Arguments[0].Type.Name()]
}

var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// leaf is a place in an input.
type leaf struct {
	owner *ast.Definition
	field *ast.FieldDefinition
	path  []string
}

// leaves finds every place that an input has, or could have without becoming another kind of input
// (@oneOf).
func leaves(owner *ast.Definition, input map[string]any, above []string) []leaf {
	var found []leaf
	for _, field := range owner.Fields {
		at := leaf{owner, field, append(slices.Clone(above), field.Name)}
		nested := schema.Types[field.Type.NamedType]
		if nested == nil || nested.Kind != ast.InputObject {
			found = append(found, at)
			continue
		}
		if inside, ok := input[field.Name].(map[string]any); ok {
			found = append(found, at)
			found = append(found, leaves(nested, inside, at.path)...)
		}
	}
	return found
}

func (l leaf) coordinate() string { return l.owner.Name + "." + l.field.Name }

// put copies an input with another value at this place.
func (l leaf) put(input map[string]any, value any) map[string]any {
	copied := maps.Clone(input)
	if len(l.path) == 1 {
		copied[l.path[0]] = value
		return copied
	}
	inside, _ := copied[l.path[0]].(map[string]any)
	copied[l.path[0]] = leaf{path: l.path[1:]}.put(inside, value)
	return copied
}

// wrongTypes returns JSON values whose type does not fit this place.
func (l leaf) wrongTypes() []bad { return wrongTypes(l.field.Type) }

func wrongTypes(typ *ast.Type) []bad {
	var wrong []any
	named := schema.Types[typ.Name()]
	switch {
	case named.Kind == ast.Enum:
		wrong = []any{"", "NOPE", strings.ToLower(named.EnumValues[0].Name), 1, true, map[string]any{}}
	case named.Name == "Int":
		wrong = []any{"1", "", 1.5, 1 << 31, json.RawMessage("1e99"), true, map[string]any{}}
	case named.Name == "Float":
		wrong = []any{"1", "", true, map[string]any{}}
	case named.Name == "String":
		wrong = []any{1, true, map[string]any{}}
	case named.Name == "Boolean":
		wrong = []any{"true", "", 1, map[string]any{}}
	case named.Name == "ID":
		wrong = []any{1.5, true, map[string]any{}}
	case named.Kind == ast.InputObject:
		wrong = []any{"", 1, true, map[string]any{"nope": 1}}
	}
	if typ.NonNull {
		wrong = append(wrong, nil)
	}
	if typ.Elem == nil && named.Kind != ast.InputObject {
		wrong = append(wrong, []any{[]any{}})
	}
	return values("BAD_USER_INPUT", wrong...)
}

// wrongObjects returns inputs that give none or several fields where exactly one must be given.
func (l leaf) wrongObjects() []bad {
	named := schema.Types[l.field.Type.NamedType]
	if named.Directives.ForName("oneOf") == nil {
		return nil
	}
	return []bad{
		{why: "no kind", value: map[string]any{}, code: "INVALID"},
		{why: "a kind that is null", value: map[string]any{"status": nil}},
		{why: "two kinds", value: map[string]any{
			"status": map[string]any{"text": "x"}, "link": map[string]any{"url": "https://example.org/"},
		}, code: "INVALID"},
		{why: "a kind and a null", value: map[string]any{"status": map[string]any{"text": "x"}, "link": nil}},
	}
}

// verdict is the part of an answer that judges a request.
type verdict struct {
	code, at, message string
	raw               string
}

// verdictOf sends an operation and reads its first error, or the first of the mutation's userErrors
// if there is no other.
func verdictOf(t testing.TB, p plazatest.Person, operation string, variables map[string]any, mutation string) verdict {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return readVerdict(t, p.Post(t, body), mutation)
}

func readVerdict(t testing.TB, raw []byte, mutation string) verdict {
	t.Helper()
	var answer struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code, Argument, Variable string }
		}
		Data map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v: %.500s", err, raw)
	}
	v := verdict{raw: string(raw)}
	if len(answer.Errors) > 0 {
		first := answer.Errors[0]
		v.code, v.at, v.message = first.Extensions.Code, first.Extensions.Argument+first.Extensions.Variable, first.Message
		return v
	}
	var payload struct {
		UserErrors []struct {
			Code, Message string
			Path          []string
		}
	}
	if mutation != "" {
		_ = json.Unmarshal(answer.Data[mutation], &payload)
	}
	if len(payload.UserErrors) > 0 {
		first := payload.UserErrors[0]
		v.code, v.at, v.message = first.Code, strings.Join(first.Path, "."), first.Message
	}
	return v
}

// check expects an error with the given code that names one of the arguments, or an element of one.
func (v verdict) check(t *testing.T, what, code string, arguments ...string) {
	t.Helper()
	names := func(argument string) bool { return v.at == argument || strings.HasPrefix(v.at, argument+".") }
	switch {
	case v.code == "":
		t.Errorf("%s: no error: %.300s", what, v.raw)
	case (v.code != code && code != "") || !slices.ContainsFunc(arguments, names):
		t.Errorf("%s: got %s for %q, want %s for %q (%.200s)", what, v.code, v.at, code, arguments[0], v.message)
	case !documented(v.code):
		t.Errorf("%s: the code %s is not documented", what, v.code)
	case v.message == "" || len(v.message) > 400 || leaks(v.message):
		t.Errorf("%s: the message exposes internals: %.500q", what, v.message)
	}
}

func documented(code string) bool {
	return model.UserErrorCode(code).IsValid() || slices.Contains([]string{
		string(fault.CodeUnauthenticated), string(fault.CodeForbidden), string(fault.CodeNotFound), codes.BadUserInput, codes.ValidationFailed,
		codes.ParseFailed, codes.QueryTooComplex, codes.PayloadTooLarge,
	}, code)
}

func leaks(message string) bool {
	return slices.ContainsFunc([]string{"sqlite", "mongo", "bson", "strconv", "goroutine", "json:", "invalid memory", "xxxxxxxxxx"}, func(word string) bool {
		return strings.Contains(strings.ToLower(message), word)
	})
}

// capturedLog holds what the servers of a test have logged.
type capturedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *capturedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *capturedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// requireCleanLog expects no warnings and no errors from the servers of this test: client mistakes
// are not logged. The log is that of the whole process, so the test itself must not be parallel;
// its subtests may be.
func requireCleanLog(t *testing.T) {
	t.Helper()
	log, before := &capturedLog{}, slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() {
		slog.SetDefault(before)
		for line := range strings.Lines(log.String()) {
			if !saysTheDatabaseIsSlow(line) {
				t.Errorf("the log is not clean: %.3000s", line)
			}
		}
	})
}

// saysTheDatabaseIsSlow recognizes messages that a healthy server logs when the machine barely runs
// its database.
func saysTheDatabaseIsSlow(line string) bool {
	return slices.ContainsFunc([]string{
		"the server's heartbeat fails", "background work waits for the database", "the event stream cannot be opened",
		"other servers will store notifications later", "notifications will be stored later",
	}, func(message string) bool { return strings.Contains(line, message) })
}

// world is a small community. Ada makes the mistakes: she follows bob, mutes dan, blocks eve, and
// is blocked by fay. Cyn allows no posts on her wall.
type world struct {
	plaza *plazatest.Plaza
	ada   plazatest.Person
	ids   map[string]string

	session, bobSession         string // another session of ada's, and bob's; they are not nodes
	accessToken, bobAccessToken string
	invitation, bobInvitation   string
	code                        string // of an operator's invitation

	cursor, newsCursor, bobCursor string // of ada's notifications, her news, and bob's notifications
}

// mailLinks gives ada a confirmed address with the token "resetting", and another one with the token
// "confirming".
func (w *world) mailLinks(t *testing.T) {
	t.Helper()
	users, err := w.plaza.Store.UsersByHandle(t.Context(), []string{"ada"})
	if err != nil {
		t.Fatal(err)
	}
	issue := func(kind social.MailKind, address, token string) error {
		_, err := w.plaza.Store.IssueMailToken(t.Context(), social.MailToken{
			Hash: social.HashMailToken(token), Kind: kind, User: users["ada"].ID, Address: address, Mail: social.MailID{ID: id.New()}, ExpiresAt: time.Now().Add(time.Hour),
		}, 9, time.Now())
		return err
	}
	set := func(address string) error {
		m := social.Mail{ID: social.MailID{ID: id.New()}, Kind: social.MailConfirm, User: users["ada"].ID, ExpiresAt: time.Now().Add(time.Hour)}
		return w.plaza.Store.SetEmail(t.Context(), users["ada"].ID, address, m)
	}
	confirm := func(token string) error {
		_, err := w.plaza.Store.ConfirmEmail(t.Context(), social.HashMailToken(token), time.Now())
		return err
	}
	if err := errors.Join(
		set("ada@site.example"), issue(social.MailConfirm, "ada@site.example", "first"), confirm("first"),
		issue(social.MailReset, "ada@site.example", "resetting"), set("ada@new.example"), issue(social.MailConfirm, "ada@new.example", "confirming"),
	); err != nil {
		t.Fatal(err)
	}
}

func newWorld(t *testing.T, plaza *plazatest.Plaza) *world {
	t.Helper()
	w := &world{plaza: plaza, ada: plaza.As(t, "ada"), ids: map[string]string{}}
	for _, handle := range []string{"ada", "bob", "cyn", "dan", "eve", "fay"} {
		w.add(t, handle, handle, `{ viewer { user { id } } }`)
	}
	// The notifier finds this poll when it starts; it would find one that closes later only after
	// some seconds.
	w.ids["closed"] = insertClosedPoll(t, plaza, w.ada, social.AudiencePublic, nil)
	plaza.Notify(t)
	again, _ := signInAgain(t, w.ada, "ada")
	w.session, w.bobSession = currentSession(t, again).ID, currentSession(t, plaza.As(t, "bob")).ID
	w.mailLinks(t)
	w.accessToken, w.bobAccessToken = newAccessToken(t, w.ada, "MANAGE_ADS").ID, newAccessToken(t, plaza.As(t, "bob"), "READ_PUBLIC").ID
	soon := time.Now().Add(time.Hour)
	w.invitation, w.bobInvitation = storeInvitation(t, plaza.Store, "ada", soon).String(), storeInvitation(t, plaza.Store, "bob", soon).String()
	w.code = plaza.Invite(t, 10_000)
	w.add(t, "following", "ada", `{ viewer { circles(first: 1) { nodes { id } } } }`)
	w.add(t, "circle", "ada", `mutation { createCircle(input: {name: "Friends"}) { circle { id } } }`)
	w.add(t, "bobCircle", "bob", `mutation { createCircle(input: {name: "Friends"}) { circle { id } } }`)
	w.act(t, "ada", `mutation {
		a: followUser(input: {userId: "$bob"}) { userErrors { code } }
		b: addToCircle(input: {circleId: "$circle", userId: "$bob"}) { userErrors { code } }
		c: muteUser(input: {userId: "$dan"}) { userErrors { code } }
		d: blockUser(input: {userId: "$eve"}) { userErrors { code } } }`)
	w.act(t, "bob", `mutation { a: followUser(input: {userId: "$ada"}) { userErrors { code } } b: followUser(input: {userId: "$cyn"}) { userErrors { code } } }`)
	w.act(t, "cyn", `mutation { updateProfile(input: {wallPolicy: NOBODY}) { userErrors { code } } }`)
	w.addProperties(t)
	w.addPosts(t)
	w.addThreads(t)
	w.addAds(t)
	w.addCases(t)
	w.addNotifications(t)
	w.act(t, "fay", `mutation { blockUser(input: {userId: "$ada"}) { userErrors { code } } }`)
	return w
}

// addNotifications waits for the notifications of the acts of ada and bob that concern each other.
func (w *world) addNotifications(t *testing.T) {
	t.Helper()
	w.plaza.Notify(t)
	testtime.Eventually(t, "ada is notified that the poll is closed", func() bool {
		return strings.Contains(w.ada.Raw(t, `{ viewer { notifications { nodes { kind } } } }`), `"POLL_CLOSED"`)
	})
	const newest = `{ viewer { notifications(first: 1) { nodes { id } } } }`
	w.add(t, "notification", "ada", newest)
	w.add(t, "bobNotification", "bob", newest)
	const cursor = `{ viewer { %s(first: 1) { edges { cursor } } } }`
	w.cursor, w.bobCursor = w.firstCursorOf(t, "ada", fmt.Sprintf(cursor, "notifications")), w.firstCursorOf(t, "bob", fmt.Sprintf(cursor, "notifications"))
	w.newsCursor = w.firstCursorOf(t, "ada", fmt.Sprintf(cursor, "news"))
}

func (w *world) addProperties(t *testing.T) {
	t.Helper()
	plazatest.Grant(t, w.plaza, "GRANT: admin ada")
	w.act(t, "ada", `mutation {
		a: defineProfileProperty(input: {key: "city", label: "City", type: TEXT}) { userErrors { code } }
		b: defineProfileProperty(input: {key: "height", label: "Height", type: INT}) { userErrors { code } }
		c: defineProfileProperty(input: {key: "shirt", label: "Shirt", type: CHOICE, choices: ["S", "M"]}) { userErrors { code } }
		d: defineProfileProperty(input: {key: "birthday", label: "Birthday", type: DATE}) { userErrors { code } }
		e: defineProfileProperty(input: {key: "veggie", label: "Vegetarian", type: BOOL}) { userErrors { code } }
		i: defineProfileProperty(input: {key: "weight", label: "Weight", type: FLOAT}) { userErrors { code } }
		f: defineProfileProperty(input: {key: "secret", label: "Secret", type: TEXT, searchable: false}) { userErrors { code } }
		g: setProfileProperty(input: {key: "city", value: "Ulm"}) { userErrors { code } }
		h: setProfileProperty(input: {key: "shirt", value: "M"}) { userErrors { code } } }`)
	w.act(t, "bob", `mutation { setProfileProperty(input: {key: "city", value: "Ulm"}) { userErrors { code } } }`)
}

func (w *world) addPosts(t *testing.T) {
	t.Helper()
	for name, content := range map[string]string{
		"post":    `status: {text: "old"}`,
		"photo":   `photo: {url: "https://example.org/old.png"}`,
		"link":    `link: {url: "https://example.org/old"}`,
		"checkin": `checkin: {place: "Old", latitude: 0, longitude: 0}`,
		"poll":    `poll: {question: "Old?", options: ["yes", "no"]}`,
	} {
		w.add(t, name, "ada", `mutation { createPost(input: {content: {`+content+`}, audience: {kind: PUBLIC}}) { post { id } } }`)
	}
	w.add(t, "bobPost", "bob", `mutation { createPost(input: {content: {status: {text: "bob's"}}, audience: {kind: PUBLIC}}) { post { id } } }`)
	w.add(t, "noReplies", "bob", `mutation { createPost(input: {content: {status: {text: "bob's"}}, audience: {kind: PUBLIC}, replies: {kind: NOBODY}}) { post { id } } }`)
	w.add(t, "onAdasWall", "bob", `mutation { createPost(input: {content: {status: {text: "for ada"}}, audience: {kind: PUBLIC}, wallOwnerId: "$ada"}) { post { id } } }`)
	w.add(t, "hidden", "bob", `mutation { createPost(input: {content: {poll: {question: "hidden", options: ["a", "b"]}}, audience: {kind: ONLY_ME}}) { post { id } } }`)
	w.act(t, "ada", `mutation { a: votePoll(input: {postId: "$poll", option: 0}) { userErrors { code } } b: addReaction(input: {postId: "$post", kind: LIKE}) { userErrors { code } } }`)
}

func (w *world) addThreads(t *testing.T) {
	t.Helper()
	for _, post := range []string{"photo", "link", "checkin", "poll"} {
		w.add(t, post+"Comment", "bob", `mutation { addComment(input: {postId: "$`+post+`", text: "old"}) { comment { id } } }`)
	}
	w.add(t, "comment", "ada", `mutation { addComment(input: {postId: "$post", text: "old"}) { comment { id } } }`)
	w.add(t, "reply", "bob", `mutation { addComment(input: {postId: "$post", text: "reply", parentId: "$comment"}) { comment { id } } }`)
	w.add(t, "tombstone", "ada", `mutation { addComment(input: {postId: "$post", text: "to be deleted"}) { comment { id } } }`)
	w.act(t, "bob", `mutation { addComment(input: {postId: "$post", text: "x", parentId: "$tombstone"}) { userErrors { code } } }`)
	w.act(t, "ada", `mutation { deleteComment(input: {commentId: "$tombstone"}) { userErrors { code } } }`)
	w.add(t, "bobComment", "bob", `mutation { addComment(input: {postId: "$bobPost", text: "bob's"}) { comment { id } } }`)
	w.add(t, "hiddenComment", "bob", `mutation { addComment(input: {postId: "$hidden", text: "hidden"}) { comment { id } } }`)
	w.add(t, "deepest", "ada", `mutation { addComment(input: {postId: "$photo", text: "1"}) { comment { id } } }`)
	for depth := 2; depth <= social.DefaultMaxDepth; depth++ {
		w.add(t, "deepest", "ada", `mutation { addComment(input: {postId: "$photo", text: "deeper", parentId: "$deepest"}) { comment { id } } }`)
	}
	w.waitUntilClosed(t)
}

// addCases lets people report each other to ada, who moderates.
func (w *world) addCases(t *testing.T) {
	t.Helper()
	w.act(t, "bob", `mutation { report(input: {subjectId: "$cyn", reason: SPAM}) { reportedId } }`)
	w.act(t, "cyn", `mutation { report(input: {subjectId: "$noReplies", reason: SPAM}) { reportedId } }`)
	w.add(t, "case", "ada", `{ moderation { cases(last: 1) { nodes { id } } } }`)
	const decide = `mutation { decideCase(input: {caseId: "$decided", decision: %s, reason: "x"}) { userErrors { code } } }`
	plazatest.Grant(t, w.plaza, "GRANT: moderate bob")
	w.act(t, "cyn", `mutation { report(input: {subjectId: "$closed", reason: SPAM}) { reportedId } }`)
	w.add(t, "decided", "bob", `{ moderation { cases(last: 1) { nodes { id } } } }`)
	for _, decision := range []string{"HIDE", "RESTORE"} { // of what ada wrote, so that she has decisions
		w.act(t, "bob", fmt.Sprintf(decide, decision))
	}
}

func (w *world) addAds(t *testing.T) {
	t.Helper()
	plazatest.Grant(t, w.plaza, "GRANT: ads:manage ada")
	w.add(t, "advertiser", "ada", `mutation { createAdvertiser(input: {name: "Acme"}) { advertiser { id } } }`)
	w.add(t, "campaign", "ada", `mutation { createAdCampaign(input: {advertiserId: "$advertiser", name: "Spring"}) { campaign { id } } }`)
	w.act(t, "ada", `mutation { createAdZone(input: {site: "acme.example", zone: "top", currency: "EUR"}) { zone { site } userErrors { code } } }`)
	w.add(t, "unit", "ada", `mutation { createAdUnit(input: {campaignId: "$campaign", headline: "Old", landingUrl: "https://acme.example/",
		bid: {model: CPC, price: 1000, currency: "EUR"}, zones: [{site: "acme.example", zone: "top"}]}) { unit { id } } }`)
	campaign, err := ads.ParseCampaignID(w.ids["campaign"])
	if err != nil {
		t.Fatal(err)
	}
	refund := ads.Refund{ID: ads.RefundID{ID: id.New()}, Selection: ads.Selection{Campaign: campaign}, Reason: "Old", By: w.ids["ada"], Done: true}
	if err := w.plaza.Store.Ads().Begin(t.Context(), refund); err != nil {
		t.Fatal(err)
	}
}

// dumpAds returns everything that people who manage ads see.
func (w *world) dumpAds(t *testing.T) string {
	t.Helper()
	return w.ada.Raw(t, w.named(`{ adManager { advertisers { nodes { id name caps { count per } } }
		campaigns(advertiserId: "$advertiser") { nodes { id name state isHouse schedule { start end timeZone weekdays fromHour toHour } budget { total daily } spent caps { count per } } }
		units(campaignId: "$campaign") { nodes { id headline body imageUrl landingUrl state bid { model price currency } keywords weight caps { count per } zones { site zone } impressions clicks conversions } }
		refunds(campaignId: "$campaign") { nodes { id reason count amount } }
		zones { nodes { site zone currency design } } } }`))
}

func (w *world) waitUntilClosed(t *testing.T) {
	t.Helper()
	var answer struct{ Post struct{ IsClosed bool } }
	for !answer.Post.IsClosed {
		w.ada.Do(t, w.named(`{ post(id: "$closed") { ... on PollPost { isClosed } } }`), nil, &answer)
	}
}

// named replaces $bob with the id of bob.
func (w *world) named(operation string) string {
	names := slices.SortedFunc(maps.Keys(w.ids), func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		operation = strings.ReplaceAll(operation, `"$`+name+`"`, `"`+w.ids[name]+`"`)
	}
	return operation
}

// add remembers the first id in the answer.
func (w *world) add(t *testing.T, name, handle, operation string) {
	t.Helper()
	raw := w.act(t, handle, operation)
	_, rest, ok := strings.Cut(raw, `"id":"`)
	if !ok {
		t.Fatalf("%s: no id: %s", name, raw)
	}
	w.ids[name], _, _ = strings.Cut(rest, `"`)
}

// act runs an operation that must succeed.
func (w *world) act(t *testing.T, handle, operation string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": w.named(operation)})
	if err != nil {
		t.Fatal(err)
	}
	raw := string(w.plaza.As(t, handle).Post(t, body))
	if strings.Contains(raw, `"errors"`) || strings.Contains(raw, `"code"`) {
		t.Fatalf("%s: %s: %s", handle, operation, raw)
	}
	return raw
}

// dump returns everything that the API shows to ada, to bob and to signed-out readers.
func (w *world) dump(t *testing.T) []string {
	t.Helper()
	const all = `
		fragment p on Post { id text audience { kind circles { id } } wallOwner { handle } editedAt history { text } commentCount reactionCounts { kind count } viewerReaction
			replyPolicy { kind circles { id } } commentOrder viewerCanComment viewerIsMutingThread
			latestComments { text } comments(first: 50, order: THREADED) { nodes { id text editedAt isDeleted depth repliesCount } }
			... on PhotoPost { url width height } ... on LinkPost { url title } ... on CheckinPost { place latitude longitude }
			... on PollPost { closesAt viewerVote options { text votesCount } } }
		fragment u on User { id handle name bio avatarUrl followersCount followingCount properties { property { key } value visibility } }
		query { profileProperties { key label type choices searchable defaultVisibility } newcomer: user(handle: "newcomer") { id } user(handle: "ada") { ...u wall { nodes { ...p } } followers { nodes { ...u } } following { nodes { ...u } } }
			nodes(ids: [%s]) { id ...p ...u }
			viewer { wallPolicy notificationSettings { kind enabled } unreadNotificationsCount notifications { nodes { id isRead } } commentErasure { remainingCount } news { nodes { id } } incoming { nodes { id } } circles { nodes { id name membersCount members { nodes { handle } } } }
			blockedUsers { nodes { handle } } mutedUsers { nodes { handle } } } }`
	var ids []string
	for _, name := range slices.Sorted(maps.Keys(w.ids)) {
		ids = append(ids, fmt.Sprintf("%q", w.ids[name]))
	}
	w.plaza.Notify(t)
	var dumps []string
	for _, handle := range []string{"ada", "bob", "anyone"} {
		dumps = append(dumps, w.plaza.As(t, handle).Raw(t, fmt.Sprintf(all, strings.Join(ids, " "))))
	}
	if strings.Count(dumps[0], `"code"`) != 1 { // the newcomer does not exist
		t.Fatalf("the dump does not work: %.1000s", dumps[0])
	}
	return append(dumps, w.dumpAds(t))
}

// mustBeAs checks that nothing has changed since an earlier dump.
func (w *world) mustBeAs(t *testing.T, before []string) {
	t.Helper()
	for i, after := range w.dump(t) {
		if diff := cmp.Diff(before[i], after); diff != "" {
			t.Errorf("something has changed (-before +after):\n%.2000s", diff)
			return
		}
	}
}

// ways lead to an object of each type that has fields with arguments.
func (w *world) ways() map[string]string {
	ways := map[string]string{
		"Query":     `{ %s }`,
		"Viewer":    `{ viewer { %s } }`,
		"AdManager": `{ adManager { %s } }`,

		"Moderation": `{ moderation { %s } }`,
		"User":       `{ user(handle: "bob") { %s } }`,
		"Circle":     `{ node(id: "$circle") { ... on Circle { %s } } }`,
		"Comment":    `{ node(id: "$comment") { ... on Comment { %s } } }`,
		"Post":       `{ post(id: "$post") { %s } }`,

		"Notification": `{ node(id: "$notification") { ... on Notification { %s } } }`,

		"AddCommentPayload": `mutation { addComment(input: {postId: "$post", text: "x"}) { %s } }`,
	}
	for name, post := range map[string]string{"StatusPost": "post", "PhotoPost": "photo", "LinkPost": "link", "CheckinPost": "checkin", "PollPost": "poll"} {
		ways[name] = `{ post(id: "$` + post + `") { ... on ` + name + ` { %s } } }`
	}
	return ways
}

// arguments returns the wrong values of each argument, except for the arguments of pages, by its
// coordinate or by that of all types of posts.
func (w *world) arguments() map[string][]bad {
	site := values("BAD_USER_INPUT", "", "a/b", "A", "ä", "a\x00", strings.Repeat("a", 65), veryLong)
	ids := append(notAnyID("user"), bad{why: "another user's circle", value: w.ids["bobCircle"], code: "NOT_FOUND"})
	var elements []bad
	for _, c := range malformedIDs("cat")[:14] {
		elements = append(elements, bad{why: "one " + c.why, value: []any{w.ids["ada"], c.value}, code: "BAD_USER_INPUT"})
	}
	return map[string][]bad{
		"Query.user(handle:)": values("NOT_FOUND", "", "unknown", "eve", "fay", "@ada", "ada ", "a\x00da", "ad\u0430", veryLong),
		"Query.post(id:)":     append(notAnyID("post"), bad{why: "hidden", value: w.ids["hidden"], code: "NOT_FOUND"}),
		"Query.node(id:)":     ids[:len(ids)-4],
		"Query.nodes(ids:)": append(elements,
			bad{why: "101", value: slices.Repeat([]any{w.ids["ada"]}, 101), code: "BAD_USER_INPUT"},
			bad{why: "null in it", value: []any{nil}, code: "BAD_USER_INPUT"}),
		"Query.users(where:)":                badSearches(),
		"Query.usersByName(startsWith:)":     badNames(),
		"Query.ads(site:)":                   site,
		"Query.ads(zone:)":                   site,
		"Query.ads(keywords:)":               badKeywords("BAD_USER_INPUT", "BAD_USER_INPUT", "BAD_USER_INPUT"),
		"Query.ads(visitor:)":                values("BAD_USER_INPUT", "a b", "ä", "a\x00", "a/b", strings.Repeat("a", 129), veryLong),
		"Query.ads(count:)":                  values("BAD_USER_INPUT", 0, -1, 11, 1_000, -1<<31),
		"Viewer.suggestedUsers(count:)":      values("BAD_USER_INPUT", 0, -1, 51, 1_000, -1<<31),
		"Moderation.case(id:)":               notAnyID("case"),
		"Moderation.cases(state:)":           {},
		"AdManager.advertiser(id:)":          notAnyID("advertiser"),
		"AdManager.campaign(id:)":            notAnyID("campaign"),
		"AdManager.unit(id:)":                notAnyID("ad"),
		"AdManager.campaigns(advertiserId:)": notAnyID("advertiser"),
		"AdManager.units(campaignId:)":       notAnyID("campaign"),
		"AdManager.report(by:)":              {},
		"AdManager.report(from:)":            values("BAD_USER_INPUT", "", "tomorrow", 5, "2026-01-01T00:30:00Z"),
		"AdManager.report(to:)":              values("BAD_USER_INPUT", "", "tomorrow", 5, "2026-01-01T00:30:00Z", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"),
		"AdManager.report(campaignId:)":      notAnyID("campaign"),
		"AdManager.refunds(campaignId:)":     notAnyID("campaign"),
		"AdManager.charges(campaignId:)":     notAnyID("campaign"),
		"AdManager.charges(unitId:)":         notAnyID("ad"),
		"AdManager.charges(choiceId:)":       malformedIDs("adchoice"),
		"AdManager.charges(kind:)":           {},
		"AdManager.charges(from:)":           badTimes(),
		"AdManager.charges(to:)":             append(badTimes(), values("BAD_USER_INPUT", "2999-01-01T00:00:00Z")...),
		"AdManager.charges(person:)":         malformedIDs("adperson"),
		"AdManager.charges(visitor:)":        values("BAD_USER_INPUT", "", "a b", "ä", strings.Repeat("a", 129), veryLong),
		"AdManager.charges(address:)":        values("BAD_USER_INPUT", "", "localhost", "1.2.3", "1.2.3.4:5", veryLong),
		"AdManager.forecast(site:)":          site,
		"AdManager.forecast(zone:)":          append(slices.Clone(site), values("NOT_FOUND", "nowhere")...),
		"AdManager.forecast(from:)":          values("BAD_USER_INPUT", "", "tomorrow", 5, "2026-01-01T00:00:00Z", "2999-01-01T00:30:00Z"),
		"AdManager.forecast(to:)":            values("BAD_USER_INPUT", "", "tomorrow", 5, "2026-01-01T00:00:00Z", "2999-01-01T00:00:00Z"),
		"AdManager.explain(site:)":           site,
		"AdManager.explain(zone:)":           site,
		"AdManager.explain(keywords:)":       badKeywords("BAD_USER_INPUT", "BAD_USER_INPUT", "BAD_USER_INPUT"),
		"AdManager.explain(visitor:)":        values("BAD_USER_INPUT", "a b", "ä", strings.Repeat("a", 129), veryLong),
		"AdManager.explain(count:)":          values("BAD_USER_INPUT", 0, -1, 11),
		"Post.latestComments(last:)":         values("BAD_USER_INPUT", 0, -1, 4, 1_000),
		"Post.comments(order:)":              {},
		"AddCommentPayload.edge(order:)":     {},
		"Post.comment(slug:)":                values("NOT_FOUND", "", "nowhere", "a/b", "a\x00b", "%00", "'; DROP TABLE comments", veryLong),
		"Viewer.wall(view:)":                 {},
	}
}

// badSearches returns lists of conditions.
func badSearches() []bad {
	condition := func(more ...any) map[string]any {
		c := map[string]any{"key": "city", "equals": "Ulm"}
		for i := 0; i+1 < len(more); i += 2 {
			name, _ := more[i].(string)
			c[name] = more[i+1]
		}
		return c
	}
	cases := []bad{
		{why: "none", value: []any{}},
		{why: "six", value: slices.Repeat([]any{condition()}, 6)},
		{why: "two on one property", value: []any{condition(), condition("equals", "Bern")}},
		{why: "null in it", value: []any{nil}},
		{why: "one that is not searchable", value: []any{condition("key", "secret")}},
		{why: "no value", value: []any{condition("equals", nil)}},
		{why: "two kinds", value: []any{condition("in", []any{"Ulm"})}},
		{why: "in nothing", value: []any{map[string]any{"key": "city", "in": []any{}}}},
		{why: "in 21", value: []any{map[string]any{"key": "city", "in": slices.Repeat([]any{"Ulm"}, 21)}}},
		{why: "an order of texts", value: []any{map[string]any{"key": "city", "atLeast": "A"}}},
		{why: "an order of choices", value: []any{map[string]any{"key": "shirt", "atMost": "M"}}},
		{why: "no choice", value: []any{condition("key", "shirt", "equals", "XXL")}},
		{why: "a number for a text", value: []any{condition("equals", 5)}},
		{why: "a text for a number", value: []any{map[string]any{"key": "height", "atLeast": "5"}}},
		{why: "an operator", value: []any{condition("equals", map[string]any{"$gt": ""})}},
		{why: "no date", value: []any{map[string]any{"key": "birthday", "atMost": "yesterday"}}},
		{why: "numbers from above to below", value: []any{map[string]any{"key": "height", "atLeast": 5, "atMost": 4}}},
		{why: "dates from late to early", value: []any{map[string]any{"key": "birthday", "atLeast": "2026-11-22", "atMost": "2026-11-21"}}},
		{why: "a number beyond 2^53", value: []any{map[string]any{"key": "height", "equals": 1<<53 + 1}}},
		{why: "the year 10000", value: []any{map[string]any{"key": "birthday", "atMost": "10000-01-01"}}},
		{why: "256 kB", value: []any{condition("equals", veryLong)}},
	}
	for i := range cases {
		cases[i].code = "BAD_USER_INPUT"
	}
	for _, c := range unknownKeys() {
		cases = append(cases, bad{why: "the key " + c.why, value: []any{condition("key", c.value)}, code: "NOT_FOUND"})
	}
	return cases
}

func badNames() []bad {
	cases := line(100)
	for i := range cases {
		cases[i].code = "BAD_USER_INPUT"
	}
	return cases
}

// needed holds the arguments that a field requires.
var needed = map[string][]string{
	"Query.usersByName":   {`startsWith: "a"`},
	"Query.users":         {`where: [{key: "city", equals: "Ulm"}]`},
	"Query.ads":           {`site: "example.org"`, `zone: "sidebar"`},
	"AdManager.campaigns": {`advertiserId: "$advertiser"`},
	"AdManager.units":     {`campaignId: "$campaign"`},
	"AdManager.report":    {`from: "2026-01-01T00:00:00Z"`, `to: "2026-02-01T00:00:00Z"`, `by: DAY`},
	"AdManager.explain":   {`site: "example.org"`, `zone: "sidebar"`},
	"AdManager.forecast":  {`site: "acme.example"`, `zone: "top"`},
	"AdManager.charges":   {`campaignId: "$campaign"`},
	"AdManager.refunds":   {`campaignId: "$campaign"`},
}

// beside returns the arguments that a field needs besides this one.
func (w *world) beside(def *ast.Definition, field *ast.FieldDefinition, argument string) string {
	var text strings.Builder
	for _, other := range needed[def.Name+"."+field.Name] {
		if !strings.HasPrefix(other, argument+":") {
			text.WriteString(", " + w.named(other))
		}
	}
	return text.String()
}

// TestBadInputOfArguments runs all cases on the first engine, and on the others only cursors and
// the cases that reach the storage.
func TestBadInputOfArguments(t *testing.T) {
	requireCleanLog(t)
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := newWorld(t, plazatest.Start(t, e))
		before := w.dump(t)
		for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
			def := schema.Types[name]
			if def.BuiltIn || def == schema.Mutation || def == schema.Subscription || (def.Kind != ast.Object && def.Kind != ast.Interface) {
				continue
			}
			if isLive(def) { // no request leads to it; its one argument is an enum, which validation checks
				continue
			}
			for _, field := range def.Fields {
				if len(field.Arguments) > 0 && !strings.HasPrefix(field.Name, "__") {
					t.Run(name+"."+field.Name, func(t *testing.T) { w.wrongArguments(t, def, field, isFirst(e)) })
				}
			}
		}
		w.mustBeAs(t, before)
	})
}

// isLive reports whether a type is what a subscription sends.
func isLive(def *ast.Definition) bool {
	return slices.ContainsFunc(schema.Subscription.Fields, func(f *ast.FieldDefinition) bool { return f.Type.Name() == def.Name })
}

func (w *world) wrongArguments(t *testing.T, def *ast.Definition, field *ast.FieldDefinition, all bool) {
	way, ok := w.ways()[def.Name]
	if !ok {
		t.Fatalf("there is no way to a %s", def.Name)
	}
	way = w.named(way)
	for _, argument := range field.Arguments {
		cases, ok := w.cases(t, way, def, field, argument)
		if !ok {
			t.Errorf("no cases for %s.%s(%s:)", def.Name, field.Name, argument.Name)
		}
		selected := ""
		if kind := schema.Types[field.Type.Name()].Kind; kind != ast.Scalar && kind != ast.Enum {
			selected = " { __typename }"
		}
		coordinate := fmt.Sprintf("%s.%s(%s:)", def.Name, field.Name, argument.Name)
		operation := fmt.Sprintf(withVariable(argument.Type.String(), way), fmt.Sprintf("%s(%s: $x%s)%s", field.Name, argument.Name, w.beside(def, field, argument.Name), selected))
		switch {
		case all:
			cases = append(wrongTypes(argument.Type), cases...)
		case argument.Name != "after" && argument.Name != "before":
			cases = reachStorage(cases)
		}
		for _, c := range cases {
			code := c.code
			if code == "INVALID" {
				code = "BAD_USER_INPUT"
			}
			verdictOf(t, w.ada, operation, map[string]any{"x": c.value}, "").check(t, coordinate+": "+c.why, code, argument.Name, "variables.x")
		}
	}
	if field.Arguments.ForName("first") != nil && field.Arguments.ForName("last") != nil {
		both := fmt.Sprintf(way, field.Name+`(first: 1, last: 1`+w.beside(def, field, "first")+`) { __typename }`)
		verdictOf(t, w.ada, both, nil, "").check(t, "first and last", "BAD_USER_INPUT", "last", "first")
	}
	if field.Arguments.ForName("since") != nil {
		for _, until := range []string{"2026-01-01T00:00:00Z", "2026-01-01T00:59:59.999+01:00", "0001-01-02T00:00:00Z"} {
			empty := fmt.Sprintf(way, fmt.Sprintf("%s(since: %q, until: %q) { __typename }", field.Name, "2026-01-01T00:00:00Z", until))
			verdictOf(t, w.ada, empty, nil, "").check(t, "until "+until, "BAD_USER_INPUT", "until")
		}
	}
}

// withVariable declares $x in an operation.
func withVariable(typed, operation string) string {
	if selected, isMutation := strings.CutPrefix(operation, "mutation "); isMutation {
		return "mutation($x: " + typed + ") " + selected
	}
	return "query($x: " + typed + ") " + operation
}

func (w *world) cases(t *testing.T, way string, def *ast.Definition, field *ast.FieldDefinition, argument *ast.ArgumentDefinition) ([]bad, bool) {
	t.Helper()
	if field.Arguments.ForName("first") != nil {
		switch argument.Name {
		case "first", "last":
			return values("BAD_USER_INPUT", 0, -1, 101, 1_000, -1<<31, 1<<31-1), true
		case "after", "before":
			return values("BAD_USER_INPUT", w.forgedCursors(t, way, def, field)...), true
		case "since", "until":
			return noTimes(), true
		}
	}
	known := w.arguments()
	if cases, ok := known[fmt.Sprintf("%s.%s(%s:)", def.Name, field.Name, argument.Name)]; ok {
		return cases, true
	}
	if def.Name != "Post" && !slices.Contains(def.Interfaces, "Post") {
		return nil, false
	}
	cases, ok := known[fmt.Sprintf("Post.%s(%s:)", field.Name, argument.Name)]
	return cases, ok
}

// forgedCursors do not belong to this list. Some are made from its first cursor.
func (w *world) forgedCursors(t *testing.T, way string, def *ast.Definition, field *ast.FieldDefinition) []any {
	t.Helper()
	own := w.firstCursor(t, fmt.Sprintf(way, field.Name+`(first: 1`+w.beside(def, field, "first")+`) { edges { cursor } }`))
	foreign := w.firstCursor(t, `{ viewer { circles(first: 1) { edges { cursor } } } }`)
	if own[0] == foreign[0] {
		foreign = w.firstCursor(t, `{ viewer { news(first: 1) { edges { cursor } } } }`)
	}
	return []any{
		"", "x", "garbage", "!!!!", own[:len(own)-1], own[:len(own)-4], own[:8], own + "A", own + own, own + "=", own + "\n", " " + own, own + "\x00",
		foreign, w.ids["post"], own[:2] + veryLong,
	}
}

func (w *world) firstCursor(t *testing.T, operation string) string {
	t.Helper()
	return w.firstCursorOf(t, "ada", operation)
}

func (w *world) firstCursorOf(t *testing.T, actor, operation string) string {
	t.Helper()
	raw := w.act(t, actor, operation)
	_, rest, ok := strings.Cut(raw, `"cursor":"`)
	if !ok {
		t.Fatalf("the list is empty: %s: %s", operation, raw)
	}
	cursor, _, _ := strings.Cut(rest, `"`)
	return cursor
}

// TestBadUnicode puts bytes and escapes that are not Unicode into every text of every mutation.
// Like the tests below, it runs on one engine, because no store is asked.
func TestBadUnicode(t *testing.T) {
	requireCleanLog(t)
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	before := w.dump(t)
	for _, mutation := range schema.Mutation.Fields {
		for _, input := range w.inputs()[mutation.Name] {
			for _, at := range leaves(inputType(mutation), input, nil) {
				if kind := schema.Types[at.field.Type.Name()]; kind.Kind != ast.Scalar || kind.Name == "Int" || kind.Name == "Float" {
					continue
				}
				w.refuseBytes(t, mutation, input, at)
			}
		}
	}
	w.mustBeAs(t, before)
}

func (w *world) refuseBytes(t *testing.T, mutation *ast.FieldDefinition, input map[string]any, at leaf) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": mutationText(mutation), "variables": map[string]any{"in": at.put(input, "HERE")}})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join(at.path, ".")
	for _, wrong := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", `\ud800`, `\udc00\ud800`} {
		v := readVerdict(t, w.ada.Post(t, bytes.Replace(body, []byte("HERE"), []byte(wrong), 1)), mutation.Name)
		v.check(t, fmt.Sprintf("%s: %s: %q", mutation.Name, path, wrong), "BAD_USER_INPUT", "variables.in."+path)
	}
}

// TestBadLiterals puts wrong values into the document itself.
func TestBadLiterals(t *testing.T) {
	cases := []struct{ name, operation, code, says string }{
		{"no valid time", `mutation { createPost(input: {content: {poll: {question: "x", options: ["a", "b"], closesAt: "tomorrow"}}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "BAD_USER_INPUT", "closesAt"},
		{"a time that is a number", `mutation { createPost(input: {content: {poll: {question: "x", options: ["a", "b"], closesAt: 5}}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "BAD_USER_INPUT", "closesAt"},
		{"a latitude beyond all numbers", `mutation { createPost(input: {content: {checkin: {place: "x", latitude: 1e999, longitude: 0}}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "", "latitude"},
		{"an Int of 33 bits", `{ viewer { news(first: 2147483648) { nodes { id } } } }`, "GRAPHQL_VALIDATION_FAILED", "Int"},
		{"an Int of 33 bits, nested", `mutation { votePoll(input: {postId: "x", option: 2147483648}) { userErrors { code } } }`, "GRAPHQL_VALIDATION_FAILED", "Int"},
		{"an unknown enum value", `{ viewer { wall(view: SOME) { nodes { id } } } }`, "GRAPHQL_VALIDATION_FAILED", "SOME"},
		{"an enum value as a string", `{ viewer { wall(view: "ALL") { nodes { id } } } }`, "GRAPHQL_VALIDATION_FAILED", "ALL"},
		{"no content", `mutation { createPost(input: {content: {}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "", "content"},
		{"two contents", `mutation { createPost(input: {content: {status: {text: "x"}, link: {url: "https://example.org/"}}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "", "content"},
		{"a content that is null", `mutation { createPost(input: {content: {status: null}, audience: {kind: PUBLIC}}) { userErrors { code message path } } }`, "", "content"},
		{"a missing argument", `{ post { id } }`, "GRAPHQL_VALIDATION_FAILED", "id"},
		{"an unknown argument", `{ viewer { news(frist: 1) { nodes { id } } } }`, "GRAPHQL_VALIDATION_FAILED", "frist"},
		{"a missing input field", `mutation { addComment(input: {text: "x"}) { userErrors { code } } }`, "GRAPHQL_VALIDATION_FAILED", "postId"},
		{"a null for what is needed", `mutation { addComment(input: {postId: null, text: "x"}) { userErrors { code } } }`, "GRAPHQL_VALIDATION_FAILED", "postId"},
		{"NUL in the text", `mutation { createCircle(input: {name: "a\u0000b"}) { userErrors { code message path } } }`, "INVALID", "name"},
		{"half a surrogate in the text", `mutation { createCircle(input: {name: "a\ud800b"}) { userErrors { code message path } } }`, "", "name"},
	}
	requireCleanLog(t)
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	before := w.dump(t)
	for _, c := range cases {
		mutation := ""
		if rest, ok := strings.CutPrefix(c.operation, "mutation { "); ok {
			mutation, _, _ = strings.Cut(rest, "(")
		}
		v := verdictOf(t, w.ada, c.operation, nil, mutation)
		switch {
		case v.code == "" || !documented(v.code) || (c.code != "" && v.code != c.code):
			t.Errorf("%s: got the code %q, want %q: %.300s", c.name, v.code, c.code, v.raw)
		case !strings.Contains(v.at+v.message, c.says) && !strings.Contains(v.raw, `"locations":[{"line":1,`): // points at it
			t.Errorf("%s: %q is not named: %.300s", c.name, c.says, v.raw)
		}
	}
	w.mustBeAs(t, before)
}

// TestSignedOutMutations checks that a signed-out client cannot change anything.
func TestSignedOutMutations(t *testing.T) {
	requireCleanLog(t)
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	before := w.dump(t)
	for _, mutation := range schema.Mutation.Fields {
		if slices.Contains(append([]string{"recordAdImpression", "recordAdConversion"}, gate.SignedOut...), mutation.Name) || strings.HasPrefix(mutation.Name, "__") {
			continue
		}
		operation, variables := `mutation { `+mutation.Name+` { userErrors { code message path } } }`, map[string]any(nil)
		if len(mutation.Arguments) > 0 {
			operation, variables = mutationText(mutation), map[string]any{"in": w.inputs()[mutation.Name][0]}
		}
		verdictOf(t, w.plaza.As(t, "anyone"), operation, variables, mutation.Name).check(t, mutation.Name, "UNAUTHENTICATED", "")
		verdictOf(t, plazatest.Person{URL: w.plaza.URL, Token: "forged"}, operation, variables, mutation.Name).check(t, mutation.Name+", with a forged token", "UNAUTHENTICATED", "")
	}
	w.mustBeAs(t, before)
}

// TestBadRequests sends requests that are not GraphQL.
func TestBadRequests(t *testing.T) {
	requireCleanLog(t)
	p := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	for body, code := range map[string]string{
		"":              codes.BadUserInput,
		"x":             codes.BadUserInput,
		"null":          codes.BadUserInput,
		"[]":            codes.BadUserInput,
		"{}":            codes.BadUserInput,
		`{"query": 1}`:  codes.BadUserInput,
		`{"query": ""}`: codes.BadUserInput,
		`{"query": "{ viewer { user { id } } }", "variables": []}`:                                           codes.BadUserInput,
		`{"query": "{ viewer { user { id } } }", "variables": {"v": [0` + strings.Repeat(",0", 2000) + `]}}`: codes.QueryTooComplex,
		`{"query": "{"}`:                                  codes.ParseFailed,
		`{"query": "{ nope }"}`:                           codes.ValidationFailed,
		"{\"query\": \"{ viewer\x00 }\"}":                 codes.BadUserInput,
		"{\"query\": \"{ viewer \xff }\"}":                codes.BadUserInput,
		`{"query": "{ viewer \u0000 }"}`:                  codes.ParseFailed,
		`{"query": "` + strings.Repeat("x", 5<<20) + `"}`: codes.PayloadTooLarge,
	} {
		if v := readVerdict(t, p.Post(t, []byte(body)), ""); v.code != code {
			t.Errorf("%.40q: got the code %q, want %q: %.300s", body, v.code, code, v.raw)
		}
	}
}

// TestLimits fills everything that is limited in number, and then asks for one more.
func TestLimits(t *testing.T) {
	requireCleanLog(t)
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		for n := range social.MaxCircles - 1 { // one is built in
			ada.Do(t, `mutation($name: String!) { createCircle(input: {name: $name}) { circle { id } } }`, map[string]any{"name": fmt.Sprint("circle ", n)}, nil)
		}
		v := verdictOf(t, ada, `mutation { createCircle(input: {name: "one more"}) { circle { id } userErrors { code message path } } }`, nil, "createCircle")
		v.check(t, "one more circle", "LIMIT_REACHED", "", "input")
		plazatest.Grant(t, plaza, "GRANT: admin ada")
		define := `mutation($key: String!) { defineProfileProperty(input: {key: $key, label: "x", type: INT}) { property { key } userErrors { code message path } } }`
		for n := range social.MaxProperties {
			ada.Do(t, define, map[string]any{"key": fmt.Sprint("p", n)}, nil)
		}
		v = verdictOf(t, ada, define, map[string]any{"key": "onemore"}, "defineProfileProperty")
		v.check(t, "one more property", "LIMIT_REACHED", "", "input")
		var created struct {
			CreatePost struct{ Post struct{ ID string } }
		}
		ada.Do(t, `mutation { createPost(input: {content: {status: {text: "0"}}, audience: {kind: PUBLIC}}) { post { id } } }`, nil, &created)
		edit := `mutation($id: ID!, $text: String!) { editPost(input: {postId: $id, content: {status: {text: $text}}}) { post { id } userErrors { code message path } } }`
		for n := range social.MaxEdits {
			ada.Do(t, edit, map[string]any{"id": created.CreatePost.Post.ID, "text": strconv.Itoa(n)}, nil)
		}
		v = verdictOf(t, ada, edit, map[string]any{"id": created.CreatePost.Post.ID, "text": "one more"}, "editPost")
		v.check(t, "one more edit", "LIMIT_REACHED", "input.postId")
	})
}
