package relay

import (
	"errors"
	"testing"

	"plaza/fault"
	"plaza/id"
	"plaza/paging"
)

var kinds = []Kind{KindPost, KindEdge, KindName, KindProfile, KindCircle, KindComment, KindTree, KindNotification, KindAd, KindAdZone}

// FuzzCursors decodes any text as a cursor of every kind: only what that list encodes is accepted.
func FuzzCursors(f *testing.F) {
	one := id.New()
	for _, kind := range kinds {
		f.Add(CursorsOf(kind, "list").Encode(paging.Key(one.Bytes())))
		f.Add(CursorsOf(kind, "list").Encode(paging.Key(one.String())))
		f.Add(CursorsOf(kind, "another").Encode(paging.Key(one.Bytes())))
	}
	for _, text := range []string{"", "=", "\x00", "é", "AA", "cA", "____"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range kinds {
			cursors := CursorsOf(kind, "list")
			key, err := cursors.Decode("after", &text)
			if err != nil {
				wantInvalid(t, err, "after")
				continue
			}
			if encoded := cursors.Encode(key); encoded != text {
				t.Errorf("kind %c accepts %q, which it encodes as %q", kind, text, encoded)
			}
		}
	})
}

func TestCursorsBelongToOneList(t *testing.T) {
	t.Parallel()
	key := paging.Key(id.New().Bytes())
	lists := []Cursors{
		CursorsOf(KindPost, "wall", "ada"), CursorsOf(KindPost, "wall", "ben"), CursorsOf(KindPost, "news", "ada"),
		CursorsOf(KindPost, "wall ada"), CursorsOf(KindPost, "wall", "ada", ""), CursorsOf(KindComment, "wall", "ada"),
	}
	for i, from := range lists {
		cursor := from.Encode(key)
		for j, list := range lists {
			got, err := list.Decode("before", &cursor)
			switch {
			case i == j && (err != nil || got != key):
				t.Errorf("list %d does not read its own cursor: %v", i, err)
			case i != j:
				wantInvalid(t, err, "before")
			}
		}
	}
	if key, err := lists[0].Decode("after", nil); key != "" || err != nil {
		t.Errorf("no cursor: %q, %v; want none", key, err)
	}
}

func wantInvalid(t *testing.T, err error, argument string) {
	t.Helper()
	var mistake *fault.Error
	if !errors.As(err, &mistake) || mistake.Code != fault.CodeInvalid || mistake.Field != argument {
		t.Errorf("%v, want INVALID for %s", err, argument)
	}
}
