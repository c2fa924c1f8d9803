package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// emptyList is a list that someone reads while it is empty.
type emptyList struct {
	reader    plazatest.Person
	read      string            // for the bounds of a page, and the fields
	subscribe string            // for a cursor; "": no subscription takes the list's cursors
	newest    bool              // the newest entry comes first
	add       func(text string) // adds an entry that the reader sees
	hide      func()            // adds an entry that is hidden from the reader
}

// emptyPage is a page of such a list.
type emptyPage struct {
	texts                []string
	start, end           *string
	hasNext, hasPrevious bool
	raw                  string
}

func (l emptyList) page(t *testing.T, bounds string) (page emptyPage) {
	t.Helper()
	const fields = `edges { cursor node { %s } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`
	entry := "text"
	if strings.Contains(l.read, "notifications") {
		entry = "post { text }"
	}
	page.raw = l.reader.Raw(t, fmt.Sprintf(l.read, bounds, fmt.Sprintf(fields, entry)))
	var answer struct {
		Data struct {
			Of struct {
				List struct {
					Edges []struct {
						Node struct {
							Text string
							Post struct{ Text string }
						}
					}
					PageInfo struct {
						StartCursor, EndCursor       *string
						HasNextPage, HasPreviousPage bool
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(page.raw), &answer); err != nil || strings.Contains(page.raw, `"errors"`) {
		t.Fatalf("%s: %v: %s", l.read, err, page.raw)
	}
	list := answer.Data.Of.List
	for _, edge := range list.Edges {
		page.texts = append(page.texts, edge.Node.Text+edge.Node.Post.Text)
	}
	page.start, page.end = list.PageInfo.StartCursor, list.PageInfo.EndCursor
	page.hasNext, page.hasPrevious = list.PageInfo.HasNextPage, list.PageInfo.HasPreviousPage
	return page
}

// want waits for items with these texts, and returns the cursor of the last one.
func (l emptyList) want(t *testing.T, s *plazatest.Socket, texts ...string) (cursor string) {
	t.Helper()
	for _, want := range texts {
		m := s.Next()
		var payload struct {
			Data struct {
				Item struct {
					Cursor, Event string
					Entry         struct {
						Text string
						Post struct{ Text string }
					}
				}
			}
		}
		item := &payload.Data.Item
		if err := json.Unmarshal(m.Payload, &payload); err != nil || item.Event != "ADDED" || item.Entry.Text+item.Entry.Post.Text != want {
			t.Fatalf("%s: want %q, got %+v %s", l.subscribe, want, m, m.Payload)
		}
		cursor = item.Cursor
	}
	return cursor
}

// emptyLists returns a list of each kind that has a subscription, and the tree of a thread. Each
// has its own reader and writer.
func emptyLists(t *testing.T, plaza *plazatest.Plaza) map[string]emptyList {
	t.Helper()
	public, secret := plazatest.Public, map[string]any{"kind": "ONLY_ME"}
	item := func(field, arguments, entry string) string {
		return `subscription { item: ` + field + `(` + arguments + `after: %q) { cursor event entry: ` + entry + ` } }`
	}
	people := 0
	person := func() (p plazatest.Person, handle, id string) {
		people++
		handle = fmt.Sprint("person", people)
		p = plaza.As(t, handle)
		return p, handle, p.IDOf(t, handle)
	}
	lists := map[string]emptyList{}
	reader, _, _ := person()
	writer, handle, _ := person()
	reader.Follow(t, handle)
	lists["news"] = emptyList{
		reader, `{ of: viewer { list: news(%s) { %s } } }`, item("newsItemAdded", "", "post { text }"), true,
		func(text string) { writer.Status(t, text, public) }, func() { writer.Status(t, "secret", secret) },
	}
	reader, _, _ = person()
	owner, handle, ownerID := person()
	lists["wall"] = emptyList{
		reader, `{ of: user(handle: "` + handle + `") { list: wall(%s) { %s } } }`, item("wallPostAdded", `userId: "`+ownerID+`", `, "post { text }"), true,
		func(text string) { owner.Status(t, text, public) }, func() { owner.Status(t, "secret", secret) },
	}
	for name, subscription := range map[string]string{
		"incoming":      item("incomingAdded", "", "post { text }"),
		"notifications": item("notificationAdded", "", "notification { post { text } }"),
	} {
		reader, _, readerID := person()
		guest, _, _ := person()
		add := func(by plazatest.Person, text string) {
			by.Mutate(t, "createPost", "post { id }", map[string]any{
				"content": map[string]any{"status": map[string]any{"text": text}}, "audience": public, "wallOwnerId": readerID,
			})
			plaza.Notify(t)
		}
		lists[name] = emptyList{
			reader, `{ of: viewer { list: ` + name + `(%s) { %s } } }`, subscription, true,
			func(text string) { add(guest, text) },
			func() {
				blocking, _, _ := person()
				add(blocking, "hidden")
				blocking.Mutate(t, "blockUser", "", map[string]any{"userId": readerID})
			},
		}
	}
	for order, subscription := range map[string]string{"OLDEST": "commentAdded", "NEWEST": "commentAdded", "THREADED": ""} {
		reader, _, readerID := person()
		host, _, _ := person()
		post := host.Status(t, "talk", public)
		if subscription != "" {
			subscription = item(subscription, `postId: "`+post+`", `, "comment { text }")
		}
		lists["comments "+order] = emptyList{
			reader, `{ of: post(id: "` + post + `") { list: comments(order: ` + order + `, %s) { %s } } }`, subscription, order == "NEWEST",
			func(text string) { writer.Comment(t, post, text) },
			func() {
				blocking, _, _ := person()
				blocking.Comment(t, post, "hidden")
				blocking.Mutate(t, "blockUser", "", map[string]any{"userId": readerID})
			},
		}
	}
	return lists
}

// TestAnEmptyListHasACursor: it is before all entries that the list gets. Nothing is lost or
// arrives twice after it, whether an entry was added before the subscription or afterwards.
func TestAnEmptyListHasACursor(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		plaza.Notify(t)
		lists := emptyLists(t, plaza)
		cursors := map[string]string{}
		for name, list := range lists {
			cursors[name] = list.mustBeEmpty(t, name)
		}
		for name, list := range lists {
			list.refuseOthers(t, name, cursors)
			if list.subscribe == "" {
				for _, text := range []string{"1", "2", "3", "4"} {
					list.add(text)
				}
			} else {
				list.follow(t, plaza, cursors[name])
			}
			list.leaf(t, name, cursors[name])
		}
	})
}

// mustBeEmpty reads the empty list in several ways, before and after it gets a hidden entry, and
// returns its cursor.
func (l emptyList) mustBeEmpty(t *testing.T, name string) string {
	t.Helper()
	bounds := []string{"first: 3", "last: 3", "first: 3, after: null, before: null"}
	empty := l.page(t, bounds[0])
	if empty.start == nil || len(empty.texts) > 0 {
		t.Fatalf("%s: want an empty list with a cursor, got %s", name, empty.raw)
	}
	check := func(when string) {
		t.Helper()
		for _, b := range bounds {
			if got := l.page(t, b).raw; got != empty.raw {
				t.Errorf("%s, %s, %s: got %s, want %s", name, when, b, got, empty.raw)
			}
		}
		for _, b := range []string{"last: 3, before: %q", "first: 3, after: %q", "first: 3, before: %q", "last: 3, after: %q"} {
			if got := l.page(t, fmt.Sprintf(b, *empty.start)); len(got.texts) > 0 || got.start != nil || got.end != nil || got.hasNext || got.hasPrevious {
				t.Errorf("%s, %s, %s: got %s, want nothing", name, when, b, got.raw)
			}
		}
		if !strings.Contains(name, "notifications") && !strings.Contains(name, "THREADED") {
			for _, b := range []string{`since: "2020-01-01T00:00:00Z"`, `until: "2020-01-01T00:00:00Z"`} {
				if got := l.page(t, b); len(got.texts) > 0 || got.start != nil || got.end != nil {
					t.Errorf("%s, %s, %s: got %s, want nothing", name, when, b, got.raw)
				}
			}
		}
	}
	check("empty")
	l.hide()
	check("with an entry that is hidden")
	if empty.end == nil || *empty.end != *empty.start || empty.hasNext || empty.hasPrevious {
		t.Errorf("%s: got %s", name, empty.raw)
	}
	return *empty.start
}

// follow adds entries before, between and after subscriptions.
func (l emptyList) follow(t *testing.T, plaza *plazatest.Plaza, cursor string) {
	t.Helper()
	subscribe := func(after string) *plazatest.Socket {
		s := l.reader.Connect(t)
		s.Subscribe(plaza, "1", fmt.Sprintf(l.subscribe, after))
		return s
	}
	early := subscribe(cursor)
	l.add("1")
	l.add("2")
	late := subscribe(cursor)
	l.want(t, early, "1", "2")
	again := subscribe(l.want(t, late, "1", "2"))
	l.add("3")
	for _, s := range []*plazatest.Socket{early, late, again} {
		l.want(t, s, "3")
	}
	last := subscribe(cursor)
	l.add("4")
	l.want(t, last, "1", "2", "3", "4")
	for _, s := range []*plazatest.Socket{early, late, again} {
		l.want(t, s, "4")
	}
}

// leaf pages from the cursor through the entries 1 to 4.
func (l emptyList) leaf(t *testing.T, name, cursor string) {
	t.Helper()
	pages := [][]string{{"1", "2", "3"}, {"4"}, nil}
	ahead, behind := "first: 3, after: %q", "last: 3, before: %q"
	if l.newest {
		pages, ahead, behind = [][]string{{"3", "2", "1"}, {"4"}, nil}, behind, ahead
	}
	if got := l.page(t, fmt.Sprintf(behind, cursor)); len(got.texts) > 0 || l.newest && !got.hasPrevious || !l.newest && !got.hasNext {
		t.Errorf("%s: got %s, want nothing on this side of the cursor", name, got.raw)
	}
	for i, want := range pages {
		page := l.page(t, fmt.Sprintf(ahead, cursor))
		before, after := page.hasPrevious, page.hasNext
		if l.newest {
			before, after = after, before
		}
		if !slices.Equal(page.texts, want) || after != (i == 0) || len(want) > 0 && before != (i > 0) {
			t.Errorf("%s, page %d: got %s", name, i, page.raw)
		}
		if next := page.end; l.newest && page.start != nil {
			cursor = *page.start
		} else if next != nil {
			cursor = *next
		}
	}
}

// refuseOthers passes the cursors of other empty lists to the list and its subscription.
func (l emptyList) refuseOthers(t *testing.T, name string, cursors map[string]string) {
	t.Helper()
	socket := l.reader.Connect(t)
	for of, cursor := range cursors {
		if of == name {
			continue
		}
		if got := l.reader.Raw(t, fmt.Sprintf(l.read, fmt.Sprintf("first: 1, after: %q", cursor), "nodes { id }")); !strings.Contains(got, "not a cursor of this list") {
			t.Errorf("%s takes the cursor of %s: %s", name, of, got)
		}
		if l.subscribe == "" {
			continue
		}
		socket.Send(of, "subscribe", map[string]string{"query": fmt.Sprintf(l.subscribe, cursor)})
		if m := socket.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), "not a cursor of this list") {
			t.Errorf("%s can be followed after the cursor of %s: %+v %s", name, of, m, m.Payload)
		}
	}
}

// TestFollowingFillsEmptyNews: after the cursor of empty news comes all that they hold later, older
// posts of people who were followed since then included.
func TestFollowingFillsEmptyNews(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		ada.Status(t, "1", plazatest.Public)
		cursor := newsCursor(t, bob)
		bob.Follow(t, "ada")
		s := bob.Connect(t)
		s.Subscribe(plaza, "1", newsAfter(cursor))
		wantTexts(t, s, "1")
		ada.Status(t, "2", plazatest.Public)
		wantTexts(t, s, "2")
	})
}
