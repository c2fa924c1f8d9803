package storagetest

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"plaza/id"
	"plaza/social"
)

var userCases = []testCase{
	{"InsertUserStoresUserHashAndCircle", insertUserStoresUserHashAndCircle},
	{"InsertUserRejectsATakenHandle", insertUserRejectsATakenHandle},
	{"UpdateProfileStoresOnlyTheProfile", updateProfileStoresOnlyTheProfile},
	{"UpdateProfileKeepsOtherFields", updateProfileKeepsOtherFields},
	{"RightsLastUntilRevoked", rightsLastUntilRevoked},
	{"HasUsersAfterTheFirst", hasUsersAfterTheFirst},
	{"UsersNamedListsByName", usersNamedListsByName},
	{"UsersReadsByID", usersReadsByID},
	{"UsersByHandleReadsByHandle", usersByHandleReadsByHandle},
	{"PasswordHashReadsWhatWasStored", passwordHashReadsWhatWasStored},
	{"TextsAreReturnedByteForByte", profileTextsAreReturnedByteForByte},
}

// hardTexts are difficult to store byte for byte.
var hardTexts = map[string]string{
	"empty":          "",
	"white space":    " \t\r\n leading and trailing \r\n\t ",
	"quotes":         `'"` + "`" + `\'; DROP TABLE users; --`,
	"operators":      "$set.a.$[] %s %d {{.}} \\u0000 \\x00 ?1 :name",
	"composed":       "\u00e9 is not e\u0301",
	"beyond the BMP": "👩‍👩‍👧‍👦 𝔘𝔫𝔦 🏳️‍🌈",
	"directions":     "\u202eright to left\u202c \ufeff\u200b",
	"NUL":            "before\x00after",
	"noncharacters":  "\uffff \ufffd \u0001\u001f\u007f\u0085",
	"numbers":        "007",
	"long":           strings.Repeat("Lange Texte, täglich. ", 3000),
}

func insertUserStoresUserHashAndCircle(w *world) {
	u := newUser()
	u.User.Bio, u.User.AvatarURL, u.User.WallPolicy = "A bio.", "https://example.org/a.png", social.WallFollowed
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")

	w.same(w.getUser(u.User.ID), &u.User, "the user")
	w.same(w.getCircle(u.Following.ID), &u.Following, "the built-in circle")
	circles, err := w.CirclesOf(w.ctx, u.User.ID, everything)
	w.ok(err, "CirclesOf")
	w.same(circles, []*social.Circle{&u.Following}, "the user's circles")
	user, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
	w.ok(err, "PasswordHash")
	w.same(user, u.User.ID, "PasswordHash's user")
	w.same(hash, u.PasswordHash, "the hash")
}

func insertUserRejectsATakenHandle(w *world) {
	first, second := newUser(), newUser()
	second.User.Handle = first.User.Handle
	w.ok(w.InsertUser(w.ctx, first, event(social.EventUserSignedUp)), "InsertUser")
	w.fails(w.InsertUser(w.ctx, second, event(social.EventUserSignedUp)), social.ErrTaken, "the second with the handle")

	// Nothing has changed.
	absent(w, "second user", w.Users, second.User.ID)
	absent(w, "second circle", w.Circles, second.Following.ID)
	user, hash, err := w.PasswordHash(w.ctx, first.User.Handle)
	w.ok(err, "PasswordHash")
	w.same(user, first.User.ID, "the handle's user")
	w.same(hash, first.PasswordHash, "the handle's hash")

	// The rejected one succeeds with a free handle.
	second.User.Handle += "_2"
	w.ok(w.InsertUser(w.ctx, second, event(social.EventUserSignedUp)), "InsertUser with another handle")
}

func updateProfileStoresOnlyTheProfile(w *world) {
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	ada, ben := person{u.User.ID, u.Following.ID}, w.user()
	w.follow(ada, ben)
	w.follow(ben, ada)

	for _, profile := range []social.User{
		{ID: ada.ID, Name: "Ada", Bio: "Numbers.", AvatarURL: "http://example.org/ada", WallPolicy: social.WallNobody},
		{ID: ada.ID, Name: "A", WallPolicy: social.WallEveryone}, // empty values are values
	} {
		w.ok(w.UpdateProfile(w.ctx, ada.ID, profileOf(&profile), event(social.EventProfileUpdated)), "UpdateProfile")
		want := profile
		want.Handle, want.FollowersCount, want.FollowingCount = u.User.Handle, 1, 1
		w.same(w.getUser(ada.ID), &want, "the profile")
	}
	_, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
	w.ok(err, "PasswordHash")
	w.same(hash, u.PasswordHash, "the hash")

	missing := newUser().User
	w.fails(w.UpdateProfile(w.ctx, missing.ID, profileOf(&missing), event(social.EventProfileUpdated)), social.ErrNotFound, "UpdateProfile of a missing user")
	absent(w, "user who never signed up", w.Users, missing.ID)
}

// profileOf returns the change that stores a user's whole profile.
func profileOf(u *social.User) social.ProfileChange {
	return social.ProfileChange{Name: &u.Name, Bio: &u.Bio, AvatarURL: &u.AvatarURL, WallPolicy: &u.WallPolicy}
}

// updateProfileKeepsOtherFields changes each field concurrently: no change overwrites another.
func updateProfileKeepsOtherFields(w *world) {
	ada := w.user()
	name, bio, avatar, policy := "Ada", "Numbers.", "http://example.org/ada", social.WallNobody
	changes := []social.ProfileChange{{Name: &name}, {Bio: &bio}, {AvatarURL: &avatar}, {WallPolicy: &policy}}
	w.tally(together(crowd, func(i int) error {
		return w.UpdateProfile(w.ctx, ada.ID, changes[i%len(changes)], event(social.EventProfileUpdated))
	}))
	got := w.getUser(ada.ID)
	want := *got
	want.Name, want.Bio, want.AvatarURL, want.WallPolicy = name, bio, avatar, policy
	w.same(got, &want, "the profile after all changes")
}

func rightsLastUntilRevoked(w *world) {
	ada, ben, cem := w.user(), w.user(), newUser()
	cem.User.Rights = []social.Right{social.RightManageAds}
	w.ok(w.InsertUser(w.ctx, cem, event(social.EventUserSignedUp)), "InsertUser")
	grant := func(right social.Right) (bool, error) {
		return w.GrantRight(w.ctx, ada.ID, right, event(social.EventRightGranted))
	}
	revoke := func(right social.Right) (bool, error) {
		return w.RevokeRight(w.ctx, ada.ID, right, event(social.EventRightRevoked))
	}
	holds := func(rights ...social.Right) {
		w.t.Helper()
		stored := w.getUser(ada.ID)
		got := slices.Sorted(slices.Values(stored.Rights))
		w.same(got, rights, "the rights")
		holders := map[social.UserID]*social.User{cem.User.ID: &cem.User}
		if len(rights) > 0 {
			holders[ada.ID] = stored
		}
		w.same(w.usersWithRights(), holders, "who has rights")
	}
	holds()
	w.did(false)(revoke(social.RightAdmin))
	w.did(true)(grant(social.RightAdmin))
	w.did(false)(grant(social.RightAdmin))
	holds(social.RightAdmin)
	name := "Ada"
	w.ok(w.UpdateProfile(w.ctx, ada.ID, social.ProfileChange{Name: &name}, event(social.EventProfileUpdated)), "UpdateProfile")
	w.did(true)(grant(social.RightManageAds))
	holds(social.RightAdmin, social.RightManageAds)
	w.did(true)(revoke(social.RightAdmin))
	holds(social.RightManageAds)
	w.same(len(w.getUser(ben.ID).Rights), 0, "the number of another user's rights")
	w.same(w.getUser(cem.User.ID), &cem.User, "who was stored with a right")

	missing := newUserID()
	_, err := w.GrantRight(w.ctx, missing, social.RightAdmin, event(social.EventRightGranted))
	w.fails(err, social.ErrNotFound, "a right for a missing user")
	_, err = w.RevokeRight(w.ctx, missing, social.RightAdmin, event(social.EventRightRevoked))
	w.fails(err, social.ErrNotFound, "a missing user's right")
	absent(w, "user who never signed up", w.Users, missing)
}

func (w *world) usersWithRights() map[social.UserID]*social.User {
	w.t.Helper()
	users, err := w.UsersWithRights(w.ctx)
	w.ok(err, "UsersWithRights")
	byID := map[social.UserID]*social.User{}
	for _, u := range users {
		byID[u.ID] = u
	}
	w.same(len(byID), len(users), "how many users have rights, each once")
	return byID
}

func hasUsersAfterTheFirst(w *world) {
	w.did(false)(w.HasUsers(w.ctx))
	w.user()
	w.did(true)(w.HasUsers(w.ctx))
}

func usersNamedListsByName(w *world) {
	var order []*social.User
	for i, name := range []string{"Ada", "ada b", "ADAM", "Adá", "Bob", "Ad", "Ada", "Åda", "Straße", "STRASSE", "stra%", "x", "", "Ada\U0010ffff", "ada\U0010ffff\U0010ffffb"} {
		u := newUser()
		u.User.Name = name
		w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
		if i%2 == 0 { // a name that was set later is found too
			given := name + "!"
			w.ok(w.UpdateProfile(w.ctx, u.User.ID, social.ProfileChange{Name: &given}, event(social.EventProfileUpdated)), "UpdateProfile")
			u.User.Name = given
		}
		bio := "A bio leaves the name alone."
		w.ok(w.UpdateProfile(w.ctx, u.User.ID, social.ProfileChange{Bio: &bio}, event(social.EventProfileUpdated)), "UpdateProfile")
		u.User.Bio = bio
		order = append(order, &u.User)
	}
	key := func(u *social.User) string { return social.NameOrder(u.Name, u.ID) }
	slices.SortFunc(order, func(a, b *social.User) int { return strings.Compare(key(a), key(b)) })
	for _, prefix := range []string{"a", "ada", "ad", "strasse", "stra", "bob!", "x!", "zz", "ada%", "_"} {
		var want []*social.User
		for _, u := range order {
			if strings.HasPrefix(key(u), prefix) {
				want = append(want, u)
			}
		}
		for _, limit := range []int{1, 2, 100} {
			for _, last := range []bool{false, true} {
				w.same(w.pagesNamed(prefix, limit, last), want, "the users named %q, in pages of %d", prefix, limit)
			}
		}
	}
}

// pagesNamed reads all pages of a list of names, from its start or from its end.
func (w *world) pagesNamed(prefix string, limit int, last bool) (all []*social.User) {
	w.t.Helper()
	p := social.Page{Limit: limit, Last: last}
	for {
		some, err := w.UsersNamed(w.ctx, prefix, p)
		w.ok(err, "UsersNamed")
		if last {
			all = append(some, all...)
		} else {
			all = append(all, some...)
		}
		if len(some) < limit {
			return all
		}
		key := func(u *social.User) social.Key { return social.Key(social.NameOrder(u.Name, u.ID)) }
		if last {
			p.Before = key(some[0])
		} else {
			p.After = key(some[len(some)-1])
		}
	}
}

func usersReadsByID(w *world) {
	people := w.users(300)
	ids := []social.UserID{newUserID(), {}}
	for _, p := range people {
		ids = append(ids, p.ID, newUserID())
	}
	ids = append(ids, people[0].ID, people[299].ID) // duplicates
	got := lookup(w, w.Users, ids)
	w.same(len(got), len(people), "the number of users read")
	for _, p := range people {
		if user := got[p.ID]; user == nil || user.ID != p.ID || user.Handle != "u_"+p.ID.ID.String() {
			w.t.Fatalf("the user %v is read as %+v", p.ID, user)
		}
	}
}

func usersByHandleReadsByHandle(w *world) {
	people := w.users(100)
	handles := []string{"missing", ""}
	for _, p := range people {
		handles = append(handles, "u_"+p.ID.ID.String())
	}
	handles = append(handles, handles[2])
	got := lookup(w, w.UsersByHandle, handles)
	w.same(len(got), len(people), "the number of users read")
	for _, p := range people {
		if user := got["u_"+p.ID.ID.String()]; user == nil || user.ID != p.ID {
			w.t.Fatalf("the user with the handle u_%s is read as %+v", p.ID.ID, user)
		}
	}
}

func passwordHashReadsWhatWasStored(w *world) {
	u := newUser()
	u.PasswordHash = ""
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	user, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
	w.ok(err, "PasswordHash of a user without a password")
	w.same(user, u.User.ID, "the user")
	w.same(hash, "", "the hash")
	for _, handle := range []string{"missing", "", u.User.Handle + "x", u.User.Handle[:5]} {
		_, _, err := w.PasswordHash(w.ctx, handle)
		w.fails(err, social.ErrNotFound, "PasswordHash of %q", handle)
	}
}

func profileTextsAreReturnedByteForByte(w *world) {
	for name, text := range hardTexts {
		u := newUser()
		u.User.Name, u.User.Bio, u.User.AvatarURL, u.PasswordHash = text, text, text, text
		if len(text) < 1000 { // names are indexed, so engines may refuse longer ones
			u.Following.Name = text
		}
		w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser with %s texts", name)
		w.same(w.getUser(u.User.ID), &u.User, "the user with %s texts", name)
		w.same(w.getCircle(u.Following.ID), &u.Following, "the circle with a %s name", name)
		_, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
		w.ok(err, "PasswordHash")
		w.same(hash, text, "the %s hash", name)
	}
}

var sessionCases = []testCase{
	{"SessionReadsWhatInsertSessionStored", sessionReadsWhatInsertSessionStored},
	{"SessionsExpire", sessionsExpire},
	{"LiveSessionsExistAndAreValid", liveSessionsExistAndAreValid},
	{"SessionsOfAUser", sessionsOfAUser},
	{"DeleteSessionEndsOneSession", deleteSessionEndsOneSession},
	{"EndSessionsKeepsOne", endSessionsKeepsOne},
	{"EndSessionsOfEachOther", endSessionsOfEachOther},
	{"AccessTokensAreSessions", accessTokensAreSessions},
	{"SetPasswordEndsOtherSessions", setPasswordEndsOtherSessions},
	{"SetPasswordNeedsTheOldHash", setPasswordNeedsTheOldHash},
}

func sessionFor(user person, token byte, expires time.Time) social.Session {
	return social.Session{TokenHash: [32]byte{token, 31: token}, User: user.ID, ExpiresAt: expires}
}

func sessionReadsWhatInsertSessionStored(w *world) {
	ada, ben := w.user(), w.user()
	later := now().Add(time.Hour)
	sessions := []social.Session{sessionFor(ada, 0, later), sessionFor(ada, 0xff, later.Add(time.Hour)), sessionFor(ben, 2, later)}
	for _, s := range sessions {
		w.ok(w.InsertSession(w.ctx, s), "InsertSession")
	}
	for _, s := range sessions {
		got, err := w.Session(w.ctx, s.TokenHash, now())
		w.ok(err, "Session")
		w.same(got, s, "the session")
	}
	_, err := w.Session(w.ctx, [32]byte{9}, now())
	w.fails(err, social.ErrNotFound, "a session that never was")
}

func sessionsExpire(w *world) {
	// Sessions expire by the time that the caller gives, not by the wall clock.
	future := now().Add(1000 * time.Hour)
	user := w.user()
	s := sessionFor(user, 1, future)
	w.ok(w.InsertSession(w.ctx, s), "InsertSession")
	for moment, valid := range map[time.Time]bool{
		now():                             true,
		future.Add(-time.Millisecond):     true,
		future.Add(-time.Microsecond):     true,
		future:                            false,
		future.Add(time.Millisecond):      false,
		future.Add(365 * 24 * time.Hour):  false,
		future.Add(-365 * 24 * time.Hour): true,
	} {
		_, err := w.Session(w.ctx, s.TokenHash, moment)
		if valid {
			w.ok(err, "Session %v before its end", future.Sub(moment))
		} else {
			w.fails(err, social.ErrNotFound, "Session %v after its end", moment.Sub(future))
		}
		live, err := w.LiveSessions(w.ctx, [][32]byte{s.TokenHash}, moment)
		w.ok(err, "LiveSessions")
		w.same(len(live) == 1, valid, "LiveSessions %v after its end", moment.Sub(future))
		listed, err := w.SessionsOf(w.ctx, user.ID, moment)
		w.ok(err, "SessionsOf")
		w.same(len(listed) == 1, valid, "SessionsOf %v after its end", moment.Sub(future))
	}
}

// liveSessionsExistAndAreValid requests more sessions than fit into a batch of any engine.
func liveSessionsExistAndAreValid(w *world) {
	ada, end := w.user(), now().Add(time.Hour)
	var asked, want [][32]byte
	for i := range 300 {
		hash := [32]byte{byte(i), byte(i >> 8), 7}
		asked = append(asked, hash)
		switch i % 7 {
		case 0: // never existed
		case 1:
			w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: hash, User: ada.ID, ExpiresAt: end.Add(-time.Minute)}), "InsertSession")
		case 2:
			w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: hash, User: ada.ID, ExpiresAt: end}), "InsertSession")
			w.ok(w.DeleteSession(w.ctx, hash, event(social.EventSessionEnded)), "DeleteSession")
		default:
			w.ok(w.InsertSession(w.ctx, social.Session{TokenHash: hash, User: ada.ID, ExpiresAt: end}), "InsertSession")
			want = append(want, hash)
		}
	}
	got, err := w.LiveSessions(w.ctx, asked, end.Add(-time.Second))
	w.ok(err, "LiveSessions")
	slices.SortFunc(got, compareHashes)
	slices.SortFunc(want, compareHashes)
	w.same(got, want, "LiveSessions")
	none, err := w.LiveSessions(w.ctx, nil, now())
	w.ok(err, "LiveSessions of none")
	w.same(none, [][32]byte{}, "LiveSessions of none")
}

func compareHashes(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }

// sessionsOfAUser: only sessions that have not expired are returned.
func sessionsOfAUser(w *world) {
	ada, ben := w.user(), w.user()
	end := now().Add(time.Hour)
	var want []social.Session
	for token := range byte(3) {
		s := sessionFor(ada, 1+token, end.Add(time.Duration(token)*time.Minute))
		w.ok(w.InsertSession(w.ctx, s), "InsertSession")
		want = append(want, s)
	}
	w.ok(w.InsertSession(w.ctx, sessionFor(ben, 9, end)), "InsertSession")
	read := func(user social.UserID, at time.Time) []social.Session {
		found, err := w.SessionsOf(w.ctx, user, at)
		w.ok(err, "SessionsOf")
		slices.SortFunc(found, func(a, b social.Session) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
		return found
	}
	w.same(read(ada.ID, end.Add(-time.Second)), want, "ada's sessions")
	w.same(read(ada.ID, end), want[1:], "ada's sessions when one has expired")
	w.same(len(read(social.UserID{ID: id.New()}, now())), 0, "the sessions of an unknown user")
}

func deleteSessionEndsOneSession(w *world) {
	ada := w.user()
	one, other := sessionFor(ada, 1, now().Add(time.Hour)), sessionFor(ada, 2, now().Add(time.Hour))
	w.ok(w.InsertSession(w.ctx, one), "InsertSession")
	w.ok(w.InsertSession(w.ctx, other), "InsertSession")
	for range 2 { // the second time it is already deleted
		w.ok(w.DeleteSession(w.ctx, one.TokenHash, event(social.EventSessionEnded)), "DeleteSession")
		_, err := w.Session(w.ctx, one.TokenHash, now())
		w.fails(err, social.ErrNotFound, "the deleted session")
	}
	_, err := w.Session(w.ctx, other.TokenHash, now())
	w.ok(err, "the other session of the same user")
}

// insertSessions inserts sessions with these tokens.
func (w *world) insertSessions(user social.UserID, tokens ...byte) {
	w.t.Helper()
	for _, token := range tokens {
		s := social.Session{TokenHash: [32]byte{token}, User: user, ExpiresAt: now().Add(time.Hour)}
		w.ok(w.InsertSession(w.ctx, s), "InsertSession")
	}
}

// mustEnd checks that sessions with these tokens, and no others, have ended with an event since the
// tail began.
func (w *world) mustEnd(since *tail, tokens ...byte) {
	w.t.Helper()
	ended, want := [][32]byte{}, [][32]byte{}
	for _, e := range since.rest() {
		if e.Kind == social.EventSessionEnded {
			ended = append(ended, e.Session)
		}
	}
	for _, token := range tokens {
		want = append(want, [32]byte{token})
		_, err := w.Session(w.ctx, [32]byte{token}, now())
		w.fails(err, social.ErrNotFound, "session %d", token)
	}
	slices.SortFunc(ended, compareHashes)
	w.same(ended, want, "the sessions that events report")
}

func (w *world) mustBeValid(tokens ...byte) {
	w.t.Helper()
	for _, token := range tokens {
		_, err := w.Session(w.ctx, [32]byte{token}, now())
		w.ok(err, "session %d", token)
	}
}

func endSessionsKeepsOne(w *world) {
	ada, ben := w.user(), w.user()
	w.insertSessions(ada.ID, 1, 2, 3)
	w.insertSessions(ben.ID, 4)
	tail := w.tail()
	w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{2}, social.AllSessions), "EndSessions")
	w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{2}, social.AllSessions), "EndSessions again")
	w.mustEnd(tail, 1, 3)
	w.mustBeValid(2, 4)
	tail = w.tail()
	w.fails(w.EndSessions(w.ctx, ada.ID, [32]byte{3}, social.AllSessions), social.ErrNotFound, "EndSessions but one that has ended")
	w.mustBeValid(2, 4)
	w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{}, social.AllSessions), "EndSessions of all")
	w.mustEnd(tail, 2)
	w.mustBeValid(4)
}

// endSessionsOfEachOther lets two sessions end all but themselves at the same time: one of them
// stays.
func endSessionsOfEachOther(w *world) {
	for range 10 {
		ada := w.user()
		w.insertSessions(ada.ID, 1, 2)
		errs := together(2, func(i int) error {
			return w.EndSessions(w.ctx, ada.ID, [32]byte{byte(i + 1)}, social.SignIns)
		})
		kept := byte(1 + slices.Index(errs, nil))
		w.fails(errs[2-kept], social.ErrNotFound, "the slower EndSessions")
		w.mustBeValid(kept)
		w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{}, social.AllSessions), "EndSessions of all")
	}
}

func accessTokensAreSessions(w *world) {
	ada := w.user()
	w.insertSessions(ada.ID, 1, 2)
	token := sessionFor(ada, 3, now().Add(time.Hour))
	token.TokenHash[31] = 0
	token.Grant, token.CreatedAt = &social.Grant{Name: "a \"robot\"", Scopes: []social.Scope{social.ScopeManageAds, social.ScopeWritePosts}}, now()
	bare := sessionFor(ada, 4, now().Add(time.Hour))
	bare.TokenHash[31] = 0
	bare.Grant, bare.CreatedAt, bare.UsedAt = &social.Grant{Name: "reader"}, now(), now()
	for _, s := range []social.Session{token, bare} {
		w.ok(w.InsertAccessToken(w.ctx, s, 2), "InsertAccessToken")
	}
	for _, at := range []time.Time{{}, now(), now().Add(time.Minute)} {
		if !at.IsZero() {
			token.UsedAt, token.ExpiresAt = at, at.Add(2*time.Hour)
			w.ok(w.UseSession(w.ctx, token.TokenHash, token.UsedAt, token.ExpiresAt), "UseSession")
		}
		for _, s := range []social.Session{token, bare} {
			got, err := w.Session(w.ctx, s.TokenHash, now())
			w.ok(err, "Session")
			w.same(got, s, "the session")
		}
	}
	w.ok(w.UseSession(w.ctx, [32]byte{9}, now(), now()), "UseSession of a session that never was")
	listed, err := w.SessionsOf(w.ctx, ada.ID, now())
	w.ok(err, "SessionsOf")
	w.same(len(listed), 4, "the number of sessions")
	i := slices.IndexFunc(listed, func(s social.Session) bool { return s.TokenHash == token.TokenHash })
	w.same(listed[i], token, "the session in the list")
	tail := w.tail()
	w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{2}, social.SignIns), "EndSessions of sign-ins")
	w.mustEnd(tail, 1)
	w.mustBeValid(2, 3, 4)
	tail = w.tail()
	w.ok(w.EndSessions(w.ctx, ada.ID, [32]byte{2}, social.AllSessions), "EndSessions")
	w.mustEnd(tail, 3, 4)
	w.mustBeValid(2)
}

func setPasswordEndsOtherSessions(w *world) {
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	w.insertSessions(u.User.ID, 1, 2, 3)
	w.insertSessions(w.user().ID, 4)
	tail := w.tail()
	change := social.PasswordChange{User: u.User.ID, Handle: u.User.Handle, From: u.PasswordHash, To: "another", Keep: [32]byte{3}}
	w.ok(w.SetPassword(w.ctx, change), "SetPassword")
	w.mustEnd(tail, 1, 2)
	w.mustBeValid(3, 4)
	user, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
	w.ok(err, "PasswordHash")
	w.same(user, u.User.ID, "PasswordHash's user")
	w.same(hash, "another", "the hash")
}

func setPasswordNeedsTheOldHash(w *world) {
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	w.insertSessions(u.User.ID, 1)
	tail := w.tail()
	change := social.PasswordChange{User: u.User.ID, Handle: u.User.Handle, From: "not this", To: "another"}
	w.fails(w.SetPassword(w.ctx, change), social.ErrNotFound, "SetPassword of another hash")
	change.From, change.User = u.PasswordHash, w.user().ID
	w.fails(w.SetPassword(w.ctx, change), social.ErrNotFound, "SetPassword of another user")
	w.mustEnd(tail)
	w.mustBeValid(1)
	_, hash, err := w.PasswordHash(w.ctx, u.User.Handle)
	w.ok(err, "PasswordHash")
	w.same(hash, u.PasswordHash, "the hash")
	change.User = u.User.ID
	w.ok(w.DeleteUser(w.ctx, u.User.ID, event(social.EventUserDeleted)), "DeleteUser")
	w.fails(w.SetPassword(w.ctx, change), social.ErrNotFound, "SetPassword of a deleted user")
}
