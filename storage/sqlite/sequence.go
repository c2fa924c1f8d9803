package sqlite

import "plaza/id"

var (
	lastID    = define(`SELECT last FROM sequence WHERE one = 1`)
	setLastID = define(`UPDATE sequence SET last = ? WHERE one = 1`)
)

// nextID is the id of a new post, comment, circle, follow, block or mute: the given one, if there is one; else an id for now that is behind all that were given
// before. There is one writer, so the order of ids is that of commits.
func (s *Store) nextID(w *work, given id.ID) (id.ID, error) {
	var last id.ID
	if _, err := w.row(lastID, []any{into(&last)}); err != nil {
		return given, err
	}
	next := given
	if next.IsZero() {
		next = id.WithSerial(max(last.Serial()+1, id.SerialAt(s.clock())))
	}
	if next.Compare(last) <= 0 {
		return next, nil
	}
	_, err := w.exec(setLastID, next.Bytes())
	return next, err
}
