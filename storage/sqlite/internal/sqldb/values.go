package sqldb

import (
	"encoding/hex"
	"fmt"
	"time"

	"plaza/id"
)

// Into reads an id column; NULL is the zero id.
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

// OrNull stores the zero id as NULL.
func OrNull(i id.ID) any {
	if i.IsZero() {
		return nil
	}
	return i.Bytes()
}

// ID is any kind of id.
type ID interface{ Bytes() []byte }

// Hex is an id in hexadecimal digits.
func Hex(one ID) string { return hex.EncodeToString(one.Bytes()) }

// HexList is a JSON list of ids, which statements read with json_each and unhex. Measured, it is
// within 15 % of placeholders, and one statement serves lists of all lengths.
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

// Moment is a time as it is stored: Unix microseconds, 0 for none.
func Moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// MomentOf is the time that a column stores.
func MomentOf(stored int64) time.Time {
	if stored == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stored).UTC()
}

// IntoTime reads a column with a moment.
func IntoTime(to *time.Time) TimeScanner { return TimeScanner{to} }

// TimeScanner is what [IntoTime] returns.
type TimeScanner struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s TimeScanner) Scan(value any) error {
	stored, _ := value.(int64)
	*s.to = MomentOf(stored)
	return nil
}
