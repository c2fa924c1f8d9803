package feeds

import (
	"sync"

	"plaza/social"
)

// pauses remembers the readers whose newest page was not found among recent posts lately, because
// they follow people who rarely write. Their next pages are merged in the database immediately.
type pauses struct {
	length int // how many pages are merged before the next one is looked for among recent posts

	mu    sync.Mutex
	pages map[social.UserID]int // that are left
}

func newPauses(length int) *pauses { return &pauses{length: length, pages: map[social.UserID]int{}} }

const (
	// pauseLength is the default length. Looking without finding makes a page up to half again as
	// expensive.
	pauseLength = 31
	// mostPauses bounds how many readers are remembered: some megabytes.
	mostPauses = 50_000
)

// has reports whether the next page of a reader is to be merged.
func (p *pauses) has(reader social.UserID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pages[reader] > 0
}

// take does the same, and counts the page.
func (p *pauses) take(reader social.UserID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch pages := p.pages[reader]; pages {
	case 0:
		return false
	case 1:
		delete(p.pages, reader)
	default:
		p.pages[reader] = pages - 1
	}
	return true
}

// begin begins a pause.
func (p *pauses) begin(reader social.UserID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pages) >= mostPauses {
		clear(p.pages)
	}
	p.pages[reader] = p.length
}
