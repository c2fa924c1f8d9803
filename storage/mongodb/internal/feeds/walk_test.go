package feeds

import (
	"testing"

	"plaza/id"
	"plaza/social"
)

// TestWalksPauseWhenInVain: a reader whose walk was in vain merges a number of pages; others walk.
func TestWalksPauseWhenInVain(t *testing.T) {
	t.Parallel()
	var w walks
	reader, other := social.UserID{ID: id.New()}, social.UserID{ID: id.New()}
	if !w.worthwhile(reader) {
		t.Error("the first page is not walked")
	}
	w.inVain(reader)
	for page := range walkPause {
		if w.worthwhile(reader) || !w.worthwhile(other) {
			t.Fatalf("page %d is walked, or another reader's is not", page)
		}
	}
	if !w.worthwhile(reader) || len(w.pauses) != 0 {
		t.Errorf("no walk after the pause; %d readers are remembered", len(w.pauses))
	}
	for range mostPauses + 7 {
		w.inVain(social.UserID{ID: id.New()})
	}
	if n := len(w.pauses); n > mostPauses {
		t.Errorf("%d readers are remembered, want at most %d", n, mostPauses)
	}
}
