package network

import (
	"encoding/binary"
	"sync/atomic"

	"plaza/social"
)

// Moment is a point in the order of the changes known to this server that may have hidden
// something.
type Moment uint64

// hidings numbers the changes that may have hidden something. It remembers the newest one that may
// concern any viewer, and the newest for each of many groups of viewers, to which an id assigns a
// viewer. So an unfollow does not make the updates of all subscribers invalid.
type hidings struct {
	newest atomic.Uint64
	forAll atomic.Uint64
	of     [4096]atomic.Uint64
}

// Hidings returns the current moment. What was read at a moment must be read again before it is
// shown to a viewer if HaveHidden is true for them.
func (s *Service) Hidings() Moment { return Moment(s.hidings.newest.Load()) }

// HaveHidden reports whether something may have been hidden from a viewer (zero: signed out) since
// a moment.
func (s *Service) HaveHidden(since Moment, viewer social.UserID) bool {
	return s.hidings.forAll.Load() > uint64(since) || s.hidings.group(viewer).Load() > uint64(since)
}

// Noted counts an event that another server may have written.
func (s *Service) Noted(e social.Event) {
	if e.Kind.Hides() {
		s.noteHiding(e)
	}
}

// MayHaveHidden is called when events of other servers may have been missed, and when moderators
// have hidden something.
func (s *Service) MayHaveHidden() { s.hidings.add() }

// noteHiding is deferred just before a write that may hide something: it counts the write once it
// is stored, and before the change returns. It does so even if the write fails, because after a
// timeout it may have been carried out. Checks that fail before it are not counted.
func (s *Service) noteHiding(e social.Event) { s.hidings.add(e.HidesFrom()...) }

// add counts a change that may have hidden something from some viewers; none given: from any.
func (h *hidings) add(viewers ...social.UserID) {
	n := h.newest.Add(1)
	if len(viewers) == 0 {
		raise(&h.forAll, n)
	}
	for _, viewer := range viewers {
		raise(h.group(viewer), n)
	}
}

// group uses the last bytes of the id, which are random.
func (h *hidings) group(viewer social.UserID) *atomic.Uint64 {
	return &h.of[binary.BigEndian.Uint64(viewer.ID[8:])%uint64(len(h.of))]
}

func raise(to *atomic.Uint64, n uint64) {
	for {
		current := to.Load()
		if current >= n || to.CompareAndSwap(current, n) {
			return
		}
	}
}
