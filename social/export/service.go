package export

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
	"plaza/social/network"
)

// Service reads exports.
type Service struct {
	store   social.Store
	network *network.Service
	ads     Ads
	lists   []list
}

// Ads is what the export needs to know about ads.
type Ads interface {
	// Sightings reads the impressions of ads that caps still count for a user, in any order.
	Sightings(ctx context.Context, user string) ([]Sighting, error)
}

// New creates a service.
func New(st social.Store, n *network.Service, ads Ads) *Service {
	s := &Service{store: st, network: n, ads: ads}
	s.lists = s.all()
	return s
}

// Record is an entry of an export.
type Record struct {
	Type     string
	Value    any      // encodes as a JSON object, without its type
	Position Position // where an export continues behind this record
}

// Page is a part of an export.
type Page struct {
	Records []Record
	Next    Position // where the export continues
	More    bool     // whether there may be further records
}

// list is a part of an export: records of one type, in the order of their keys.
type list struct {
	tag  byte // identifies the list in positions; never changes
	name string
	fits func(key string) bool
	// read returns entries behind a key (empty: from the start). A list ends with a page that has
	// no entry.
	read func(ctx context.Context, user social.UserID, after social.Key) ([]entry, error)
}

type entry struct {
	key   social.Key
	value any
}

// Lists is the number of lists of an export, for progress bars.
func (s *Service) Lists() int { return len(s.lists) }

// Done is how many lists a position has behind it.
func (s *Service) Done(at Position) int { return max(0, s.index(at)) }

// Read reads the part of a user's export behind a position. Each list is read as it is now.
// Errors: INVALID for a position that Read did not return; NOT_FOUND: the user is gone.
func (s *Service) Read(ctx context.Context, user social.UserID, after Position) (Page, error) {
	at := s.index(after)
	if at < 0 {
		return Page{}, errNoPosition()
	}
	l := s.lists[at]
	entries, err := l.read(ctx, user, after.key)
	if err != nil {
		return Page{}, err
	}
	page := Page{More: true}
	for _, e := range entries {
		page.Records = append(page.Records, Record{l.name, e.value, Position{l.tag, e.key}})
	}
	switch {
	case len(entries) > 0:
		page.Next = page.Records[len(entries)-1].Position
	case at+1 < len(s.lists):
		page.Next = Position{tag: s.lists[at+1].tag}
	default:
		page.More = false
	}
	return page, nil
}

// index returns which list a position is in; -1 if it is in none.
func (s *Service) index(at Position) int {
	if at == (Position{}) {
		return 0
	}
	return slices.IndexFunc(s.lists, func(l list) bool {
		return l.tag == at.tag && (at.key == "" || l.fits(string(at.key)))
	})
}

// Position is a place in an export, behind one of its records. The zero value is the start.
type Position struct {
	tag byte
	key social.Key
}

// Key returns the position as bytes; empty for the start. It ends with a checksum, because keys of
// some lists are any text: a cursor that was cut off or changed by mistake must not lead elsewhere.
func (p Position) Key() paging.Key {
	if p.tag == 0 {
		return ""
	}
	key := append([]byte{p.tag}, p.key...)
	return paging.Key(binary.BigEndian.AppendUint32(key, crc32.ChecksumIEEE(key)))
}

// At parses a Key. Error: INVALID, naming after.
func (s *Service) At(key paging.Key) (Position, error) {
	if key == "" {
		return Position{}, nil
	}
	if p, ok := parsePosition(key); ok && s.index(p) >= 0 {
		return p, nil
	}
	return Position{}, errNoPosition()
}

// parsePosition reads what Position.Key returned.
func parsePosition(key paging.Key) (p Position, ok bool) {
	end := len(key) - crc32.Size
	if end < 1 {
		return p, false
	}
	p = Position{key[0], key[1:end]}
	return p, p.Key() == key
}

func errNoPosition() error { return fault.Invalidf("after", "This is not a position of an export.") }
