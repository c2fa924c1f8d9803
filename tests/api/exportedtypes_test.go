package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/graph/relay"
	"plaza/id"
	"plaza/internal/app"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// TestExportedTypes: records of the types that people seldom have say what was stored, and each is
// there once.
func TestExportedTypes(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		plazatest.Grant(t, plaza, "GRANT: admin cy")
		plazatest.Grant(t, plaza, "GRANT: moderate bob")
		var want []string
		want = append(want, fillProfile(t, ada, plaza.As(t, "cy"))...)
		token := newAccessToken(t, ada, "WRITE_POSTS")
		want = append(want, fmt.Sprintf(`accessToken {"expiresAt":%q,"id":%q,"name":"robot","scopes":["WRITE_POSTS"]}`, token.ExpiresAt.UTC().Format(time.RFC3339Nano), token.ID))
		invitation := storeInvitation(t, plaza.Store, "ada", time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC))
		want = append(want, fmt.Sprintf(`invitation {"expiresAt":"2999-12-31T00:00:00Z","id":%q,"isUsed":false}`, invitation))
		want = append(want, postToAudiences(t, ada)...)
		want = append(want, decideOnPost(t, ada, bob)...)
		want = append(want, setEmails(t, plaza.Store, ada)...)
		until := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) // is over
		operator := network.New(plaza.Store, network.Options{Now: func() time.Time { return until.Add(-time.Hour) }})
		if _, err := operator.Sanction(t.Context(), "ada", social.Decision{Action: social.ActionSuspend, Until: until, Reason: "Of an operator"}); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf(`decision {"action":"SUSPEND","reason":"Of an operator","subjectId":%q,"until":"2001-02-03T04:05:06Z"}`, ada.IDOf(t, "ada")))
		poll := bob.Mutate(t, "createPost", "post { id }", map[string]any{"audience": plazatest.Public, "content": map[string]any{
			"poll": map[string]any{"question": "When?", "options": []string{"today", "never"}, "closesAt": "2999-12-31T00:00:00Z"},
		}})
		ada.Mutate(t, "votePoll", "", map[string]any{"postId": poll, "option": 1})
		ada.Mutate(t, "muteThread", "", map[string]any{"postId": poll})
		want = append(want, fmt.Sprintf(`vote {"option":1,"postId":%q}`, poll), fmt.Sprintf(`threadMute {"postId":%q}`, poll))
		ada.Mutate(t, "report", "", map[string]any{"subjectId": poll, "reason": "OTHER", "text": "Why?"})
		want = append(want, fmt.Sprintf(`report {"reason":"OTHER","subjectId":%q,"text":"Why?"}`, poll))
		want = append(want, seeAd(t, plaza, ada)...)

		got := map[string]int{}
		for _, line := range linesOf(t, plaza.URL, ada, "") {
			got[withoutMoments(t, line)]++
		}
		for _, line := range want {
			if got[line] != 1 {
				t.Errorf("%d times %s", got[line], line)
			}
			delete(got, line)
		}
		for line := range got {
			switch kind, _, _ := strings.Cut(line, " "); kind {
			case "email", "property", "accessToken", "invitation", "post", "decision", "vote", "threadMute", "report", "adSeen":
				t.Errorf("not wanted: %s", line)
			}
		}
		for _, line := range linesOf(t, plaza.URL, bob, "") {
			if line.Type == "email" || line.Type == "vote" || line.Type == "threadMute" || line.Type == "decision" || line.Type == "adSeen" || line.Type == "accessToken" || line.Type == "invitation" {
				t.Errorf("bob gets what is ada's: %s", line.text)
			}
		}
	})
}

// TestExportedWalls: an export names the owners of walls only while its user may see them. The posts
// stay in it.
func TestExportedWalls(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	for _, owner := range []string{"bob", "cy"} {
		plaza.As(t, owner).Follow(t, "ada")
		ada.Mutate(t, "createPost", "post { id }", map[string]any{
			"content": map[string]any{"status": map[string]any{"text": "hello"}}, "audience": plazatest.Public, "wallOwnerId": ada.IDOf(t, owner),
		})
	}
	bob, cy := ada.IDOf(t, "bob"), ada.IDOf(t, "cy")
	walls := func() (owners []string) {
		for _, line := range linesOf(t, plaza.URL, ada, "") {
			var post struct{ WallOwnerID string }
			if err := json.Unmarshal([]byte(line.text), &post); err != nil {
				t.Fatal(err)
			}
			if line.Type == "post" {
				owners = append(owners, post.WallOwnerID)
			}
		}
		return owners
	}
	if got := walls(); !slices.Equal(got, []string{cy, bob}) {
		t.Errorf("the walls are those of %q", got)
	}
	plaza.As(t, "cy").Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "ada")})
	if got := walls(); !slices.Equal(got, []string{"", bob}) {
		t.Errorf("after a block, the walls are those of %q", got)
	}
}

// setEmails confirms an address of ada's, and stores another one that is not confirmed.
func setEmails(t *testing.T, st storage.Store, ada plazatest.Person) (want []string) {
	t.Helper()
	user, err := relay.UserID("", ada.IDOf(t, "ada"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, address := range []string{"Ada@site.example", "late@site.example"} {
		m := social.Mail{ID: social.MailID{ID: id.New()}, Kind: social.MailConfirm, User: user, ExpiresAt: now.Add(time.Hour)}
		if err := st.SetEmail(t.Context(), user, address, m); err != nil {
			t.Fatal(err)
		}
		confirmed := len(want) == 0
		if confirmed {
			token := social.MailToken{Hash: [32]byte{1}, Kind: social.MailConfirm, User: user, Address: address, Mail: m.ID, ExpiresAt: now.Add(time.Hour)}
			if _, err := st.IssueMailToken(t.Context(), token, 1, now); err != nil {
				t.Fatal(err)
			}
			if _, err := st.ConfirmEmail(t.Context(), token.Hash, now); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, fmt.Sprintf(`email {"address":%q,"confirmed":%t}`, address, confirmed))
	}
	return want
}

// TestExportsOfAway: while users are banned, or have deactivated the account, an operator's export
// still names the people they would see.
func TestExportsOfAway(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		for _, other := range []string{"bob", "cy", "dan", "eve", "fay"} {
			plaza.As(t, other).Follow(t, "ada")
			ada.Follow(t, other)
		}
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "dan")})
		ada.Mutate(t, "createPost", "post { id }", map[string]any{
			"content": map[string]any{"status": map[string]any{"text": "hello"}}, "audience": plazatest.Public, "wallOwnerId": ada.IDOf(t, "bob"),
		})
		ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "eve")})
		plaza.As(t, "fay").Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "ada")})
		sanction(t, plaza.Store, "cy", social.Decision{Action: social.ActionBan})
		lines := func() string {
			var out, kept strings.Builder
			if err := app.ExportUser(t.Context(), &out, plaza.Store, "ada", nil); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if !strings.Contains(line, `"type":"session"`) && !strings.Contains(line, `"type":"decision"`) {
					kept.WriteString(line)
				}
			}
			return kept.String()
		}
		before := lines()
		for kind, n := range map[string]int{"follow": 2, "circleMember": 2, "mute": 1, "block": 1, "wallOwnerId": 1} {
			if strings.Count(before, `"`+kind+`"`) != n {
				t.Errorf("want %d of %s in %s", n, kind, before)
			}
		}
		ada.Raw(t, fmt.Sprintf(deactivate, "ada"))
		if after := lines(); after != before {
			t.Errorf("deactivated: %s\nbefore: %s", after, before)
		}
		sanction(t, plaza.Store, "ada", social.Decision{Action: social.ActionBan})
		if after := lines(); after != before {
			t.Errorf("banned: %s\nbefore: %s", after, before)
		}
	})
}

// withoutMoments returns a line's type and its fields in alphabetical order, without its cursor and
// the moments that a test does not know.
func withoutMoments(t *testing.T, line exportedLine) string {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(line.text), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"type", "cursor", "createdAt", "editedAt", "at"} {
		delete(fields, name)
	}
	if line.Type == "decision" {
		delete(fields, "id")
	}
	versions, _ := fields["history"].([]any)
	for _, version := range versions {
		delete(version.(map[string]any), "replacedAt")
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return line.Type + " " + string(text)
}

func fillProfile(t *testing.T, ada, cy plazatest.Person) (want []string) {
	t.Helper()
	for _, p := range []struct {
		kind       string
		value      any
		visibility string
	}{
		{"TEXT", "Ulm", "PUBLIC"}, {"INT", 182, "CIRCLES"}, {"FLOAT", 80.5, "ONLY_ME"}, {"DATE", "1990-05-17", "PUBLIC"}, {"BOOL", true, "PUBLIC"}, {"BOOL", false, "PUBLIC"}, {"TEXT", nil, ""},
	} {
		key := fmt.Sprintf("p%d", len(want))
		cy.Mutate(t, "defineProfileProperty", "", map[string]any{"key": key, "label": "Its label", "type": p.kind})
		if p.value == nil {
			continue // this one is not set, so it is not exported
		}
		ada.Mutate(t, "setProfileProperty", "", map[string]any{"key": key, "value": p.value, "visibility": p.visibility})
		value, _ := json.Marshal(p.value)
		want = append(want, fmt.Sprintf(`property {"key":%q,"label":"Its label","value":%s,"visibility":%q}`, key, value, p.visibility))
	}
	return want
}

// postToAudiences writes a post for each kind of audience, edits one of them and changes its
// audience.
func postToAudiences(t *testing.T, ada plazatest.Person) (want []string) {
	t.Helper()
	friends := ada.Mutate(t, "createCircle", "circle { id }", map[string]any{"name": "Friends"})
	listed := map[string]any{"kind": "LISTED", "circleIds": []string{friends}}
	for _, to := range []map[string]any{plazatest.Public, {"kind": "CIRCLES"}, listed, {"kind": "ONLY_ME"}} {
		id := ada.Status(t, "first", to)
		audience, _ := json.Marshal(to)
		history := ""
		if to["kind"] == "LISTED" {
			ada.Mutate(t, "editPost", "", map[string]any{"postId": id, "content": map[string]any{"status": map[string]any{"text": "second"}}})
			ada.Mutate(t, "setPostAudience", "", map[string]any{"postId": id, "audience": plazatest.Public})
			ada.Mutate(t, "editPost", "", map[string]any{"postId": id, "content": map[string]any{"status": map[string]any{"text": "third"}}})
			list, _ := json.Marshal(listed)
			history = fmt.Sprintf(`"history":[{"audience":%s,"content":{"text":"first","type":"STATUS"}},{"audience":{"kind":"PUBLIC"},"content":{"text":"second","type":"STATUS"}}],`, sorted(t, list))
			audience = []byte(`{"kind":"PUBLIC"}`)
		}
		text := "first"
		if history != "" {
			text = "third"
		}
		want = append(want, fmt.Sprintf(`post {"audience":%s,"commentOrder":"OLDEST","content":{"text":%q,"type":"STATUS"},%s"id":%q,"replies":{"kind":"EVERYONE"}}`, sorted(t, audience), text, history, id))
	}
	return append(want, fmt.Sprintf(`post {"audience":%s,"commentOrder":"OLDEST","content":{"text":"for a few","type":"STATUS"},"id":%q,"replies":{"kind":"EVERYONE"}}`, `{"circleIds":["`+friends+`"],"kind":"LISTED"}`, ada.Status(t, "for a few", listed)))
}

func sorted(t *testing.T, text []byte) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(fields)
	return string(again)
}

// decideOnPost lets a moderator hide a post of ada, and dismiss a report on another.
func decideOnPost(t *testing.T, ada, bob plazatest.Person) (want []string) {
	t.Helper()
	for _, decision := range []string{"HIDE", "DISMISS"} {
		post := ada.Status(t, decision, plazatest.Public)
		bob.Mutate(t, "report", "", map[string]any{"subjectId": post, "reason": "SPAM"})
		var open struct {
			Moderation struct {
				Cases struct{ Nodes []struct{ ID string } }
			}
		}
		bob.Do(t, `{ moderation { cases(first: 1) { nodes { id } } } }`, nil, &open)
		bob.Mutate(t, "decideCase", "", map[string]any{"caseId": open.Moderation.Cases.Nodes[0].ID, "decision": decision, "reason": "Of a moderator"})
		audience := "PUBLIC"
		if decision == "HIDE" {
			audience = "ONLY_ME"
			want = append(want, fmt.Sprintf(`decision {"action":"HIDE","reason":"Of a moderator","subjectId":%q}`, post))
		}
		want = append(want, fmt.Sprintf(`post {"audience":{"kind":%q},"commentOrder":"OLDEST","content":{"text":%q,"type":"STATUS"},"id":%q,"replies":{"kind":"EVERYONE"}}`, audience, decision, post))
	}
	return want
}

// seeAd shows ada an ad that has a cap, as have its campaign and its advertiser, and another that
// is chosen but not shown.
func seeAd(t *testing.T, plaza *plazatest.Plaza, ada plazatest.Person) (want []string) {
	t.Helper()
	caps := []ads.Cap{{Count: 5, Per: ads.Day}}
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Babbage", Caps: caps}
	campaign := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Autumn", State: ads.Active, Caps: caps}
	zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "export"}, Currency: "EUR", Design: ads.ByKeywords}
	unit := ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: campaign.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID}, Caps: caps,
		Creative: ads.Creative{Headline: "Engines", Body: "By steam.", LandingURL: "https://example.org/"},
		Bid:      ads.Bid{Model: ads.CPM, Price: 1_000_000, Currency: zone.Currency},
	}
	server := adserver.New(plaza.Store.Ads(), adserver.Options{})
	_, err := server.Add(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{campaign}, Zones: []ads.Zone{zone}, Units: []ads.Unit{unit},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var shown struct {
			Ads []struct{ ImpressionToken string }
		}
		ada.Do(t, `{ ads(site: "example.org", zone: "export") { impressionToken } }`, nil, &shown)
		if len(shown.Ads) != 1 {
			t.Fatalf("ads: %+v", shown.Ads)
		}
		if i == 0 {
			ada.Mutate(t, "recordAdImpression", "", map[string]any{"token": shown.Ads[0].ImpressionToken})
		}
	}
	seen, err := server.SeenBy(t.Context(), ada.IDOf(t, "ada"))
	if err != nil || len(seen) != 3 {
		t.Fatalf("seen: %+v, %v", seen, err)
	}
	choice := seen[0].Choice.String()
	for field, id := range map[string]string{"adId": unit.ID.String(), "campaignId": campaign.ID.String(), "advertiserId": advertiser.ID.String()} {
		text := fmt.Sprintf(`{%q:%q,"choiceId":%q}`, field, id, choice)
		want = append(want, "adSeen "+sorted(t, []byte(text)))
	}
	return want
}
