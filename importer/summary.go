package importer

// Count is the number of objects of one kind to store.
type Count struct {
	Total int // how many the data contains
	Added int // how many of them are new
	// Refused is the number of users who have deleted their accounts; and of memberships of these,
	// of users who block each other, and in circles that their owners have deleted.
	Refused int
}

// Existing returns how many existed before.
func (c Count) Existing() int { return c.Total - c.Added - c.Refused }

// Summary is the result of an import.
type Summary struct {
	Users       Count
	Follows     Count
	Circles     Count // made by hand
	Memberships Count // in those circles
}

// counts lists all kinds.
func (s *Summary) counts() []*Count {
	return []*Count{&s.Users, &s.Follows, &s.Circles, &s.Memberships}
}

func (s *Summary) total() int {
	total := 0
	for _, c := range s.counts() {
		total += c.Total
	}
	return total
}
