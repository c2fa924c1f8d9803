package feeds

import (
	"testing"

	"plaza/id"
	"plaza/social"
)

// TestPausesEnd: a number of pages of a reader are merged, and none of others. Few readers are
// remembered.
func TestPausesEnd(t *testing.T) {
	t.Parallel()
	p := newPauses(pauseLength)
	reader, other := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	if p.has(reader) || p.take(reader) {
		t.Error("the first page is merged")
	}
	p.begin(reader)
	for page := range pauseLength {
		if !p.has(reader) || !p.take(reader) || p.has(other) || p.take(other) {
			t.Fatalf("page %d is not merged, or another reader's is", page)
		}
	}
	if p.has(reader) || p.take(reader) || len(p.pages) != 0 {
		t.Errorf("a page is merged after the pause; %d readers are remembered", len(p.pages))
	}
	for range mostPauses + 7 {
		p.begin(social.UserID{ID: id.New()})
	}
	if n := len(p.pages); n > mostPauses {
		t.Errorf("%d readers are remembered, want at most %d", n, mostPauses)
	}
}
