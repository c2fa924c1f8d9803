package mongodb_test

import (
	"slices"
	"testing"

	"plaza/social"
)

// TestFollowedByEachIsWhole: lists of followed people that are read together are whole, or are left
// out if together they are too long.
func TestFollowedByEachIsWhole(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	people := w.people(12)
	readers := make([]social.UserID, 4)
	for i := range readers {
		readers[i] = people[i].User.ID
		w.follow(people[i], people[5:5+2*i])
	}
	client := plainClient(t)
	for most := 1; most < 15; most++ {
		r.take()
		followed, err := w.FollowedByEach(w.ctx, readers, most)
		w.ok(err)
		entries := 0
		for i, reader := range readers {
			list, isWhole := followed[reader]
			if !isWhole {
				continue
			}
			if len(list) != 2*i {
				t.Errorf("at most %d: %d of %d", most, len(list), 2*i)
			}
			entries += len(list)
		}
		if all := 2 + 4 + 6; entries > most || most > all && len(followed) != len(readers) {
			t.Errorf("at most %d: %d entries of %d users", most, entries, len(followed))
		}
		for _, raw := range r.take() {
			if stages := checkCommand(t, client, raw, 0); slices.Contains(stages, "FETCH") {
				t.Errorf("it is not covered: %v", stages)
			}
		}
	}
}
