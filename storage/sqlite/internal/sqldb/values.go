package sqldb

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"plaza/id"
)

// Into scans an id column. NULL becomes the zero id.
func Into(to *id.ID) IDScanner { return IDScanner{to} }

// IDScanner is what [Into] returns.
type IDScanner struct{ to *id.ID }

// Scan implements sql.Scanner.
func (s IDScanner) Scan(value any) error {
	if value == nil {
		*s.to = id.ID{}
		return nil
	}
	raw, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("an id column holds a %T", value)
	}
	read, err := id.FromBytes(raw)
	*s.to = read
	return err
}

// OrNull returns the stored form of an id, which is NULL for the zero id.
func OrNull(i id.ID) any {
	if i.IsZero() {
		return nil
	}
	return i.Bytes()
}

// ID is any kind of id.
type ID interface{ Bytes() []byte }

// Hex returns an id in hexadecimal digits.
func Hex(one ID) string { return hex.EncodeToString(one.Bytes()) }

// HexList returns a JSON list of ids, which statements read with json_each and unhex. Measurements
// show that it takes at most 15 % longer than placeholders, and one statement works for lists of
// all lengths.
func HexList[K ID](ids []K) string {
	list := make([]byte, 0, 2+len(ids)*(2*len(id.ID{})+3))
	list = append(list, '[')
	for i, each := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, '"')
		list = hex.AppendEncode(list, each.Bytes())
		list = append(list, '"')
	}
	return string(append(list, ']'))
}

// JoinIDs returns ids one behind another, which a column stores as a list.
func JoinIDs[K ID](ids []K) []byte {
	joined := make([]byte, 0, len(ids)*len(id.ID{}))
	for _, each := range ids {
		joined = append(joined, each.Bytes()...)
	}
	return joined
}

// IntoIDs scans a column of [JoinIDs].
func IntoIDs[K ~struct{ id.ID }](to *[]K) sql.Scanner { return idsScanner[K]{to} }

type idsScanner[K ~struct{ id.ID }] struct{ to *[]K }

// Scan implements sql.Scanner.
func (s idsScanner[K]) Scan(value any) (err error) {
	joined, ok := value.([]byte)
	if !ok && value != nil {
		return fmt.Errorf("a column of ids holds a %T", value)
	}
	*s.to, err = SplitIDs[K](joined)
	return err
}

// SplitIDs is the inverse of [JoinIDs].
func SplitIDs[K ~struct{ id.ID }](joined []byte) ([]K, error) {
	var ids []K
	for size := len(id.ID{}); len(joined) > 0; joined = joined[size:] {
		one, err := id.FromBytes(joined[:min(size, len(joined))])
		if err != nil {
			return nil, err
		}
		ids = append(ids, K{one})
	}
	return ids, nil
}

// JoinWords returns words separated by spaces, which a column stores as a list.
func JoinWords[W ~string](words []W) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, " ")
}

// SplitWords is the inverse of [JoinWords].
func SplitWords[W ~string](joined string) []W {
	var words []W
	for word := range strings.FieldsSeq(joined) {
		words = append(words, W(word))
	}
	return words
}

// Moment returns the stored form of a time: Unix microseconds, 0 for none.
func Moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// MomentOf returns the time for a stored value.
func MomentOf(stored int64) time.Time {
	if stored == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stored).UTC()
}

// IntoTime scans a column with a time.
func IntoTime(to *time.Time) TimeScanner { return TimeScanner{to} }

// TimeScanner is what [IntoTime] returns.
type TimeScanner struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s TimeScanner) Scan(value any) error {
	stored, _ := value.(int64)
	*s.to = MomentOf(stored)
	return nil
}
