// Package id makes and reads the ids of everything that Plaza stores.
//
// An id is a UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then a part that grows within a
// millisecond, then random bits. Ids therefore sort by the time they were made. Their text form is
// a TypeID (https://github.com/jetify-com/typeid): a prefix that names the kind, an underscore, and
// 26 characters of lower-case Crockford base32, which sort in the same order as the bytes.
package id

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ID is 16 bytes; the zero value means "none". Each kind of thing embeds it in a type of its own.
type ID [16]byte

// TextLen is the length of an id's text form without its prefix.
const TextLen = 26

// ErrMalformed means that a text is not an id of the requested kind.
var ErrMalformed = errors.New("malformed id")

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// New creates an id for the current time. Ids created by one process grow, even within a
// millisecond.
func New() ID { return ID(uuid.Must(uuid.NewV7())) }

// At creates an id for another time, for data from the past. Times before 1970 count as 1970.
func At(t time.Time) ID {
	made := New()
	made.setTime(t)
	return made
}

// Derive creates an id from a name and a time: the same for the same input, so that a repeated
// import finds what it stored before.
func Derive(t time.Time, name string) ID {
	sum := sha256.Sum256([]byte(name))
	var made ID
	copy(made[6:], sum[:10])
	made[6] = made[6]&0x0f | 0x70 // version 7
	made[8] = made[8]&0x3f | 0x80 // RFC 9562 variant
	made.setTime(t)
	return made
}

// SerialsPerMillisecond is the number of serials per millisecond: the 12 bits that RFC 9562 calls
// rand_a.
const SerialsPerMillisecond = 1 << serialBits

const serialBits = 12

// SerialAt returns the first serial of a millisecond. Times before 1970 count as 1970.
func SerialAt(t time.Time) int64 { return max(t.UnixMilli(), 0) << serialBits }

// WithSerial creates an id with that serial, which is at least 0, followed by random bits.
func WithSerial(serial int64) ID {
	made := New()
	made.setTime(time.UnixMilli(serial >> serialBits))
	made[6] = 0x70 | byte(serial>>8)&0x0f // version 7
	made[7] = byte(serial)
	return made
}

// Serial returns an id without its random bits, as a number: the milliseconds times
// SerialsPerMillisecond, plus the part that grows within a millisecond. An id with a greater serial
// sorts after one with a smaller serial.
func (i ID) Serial() int64 {
	return i.Time().UnixMilli()<<serialBits | int64(i[6]&0x0f)<<8 | int64(i[7])
}

// FirstAt returns an id that sorts before all ids of a millisecond, and after those of the previous
// one. Times before 1970 count as 1970.
func FirstAt(t time.Time) (first ID) {
	first.setTime(t)
	return first
}

// LastAt returns an id that sorts after all ids of a millisecond, and before those of the next one.
// Times before 1970 count as 1970.
func LastAt(t time.Time) (last ID) {
	for i := range last {
		last[i] = 0xff
	}
	last.setTime(t)
	return last
}

func (i *ID) setTime(t time.Time) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(t.UnixMilli(), 0)))
	copy(i[:6], ms[2:])
}

// FromBytes reads 16 raw bytes.
func FromBytes(b []byte) (ID, error) {
	if len(b) != len(ID{}) {
		return ID{}, ErrMalformed
	}
	return ID(b), nil
}

// Parse reads prefix_xxxxxxxxxxxxxxxxxxxxxxxxxx. Upper case, another prefix or length, and any id
// that Text would not write are ErrMalformed.
func Parse(prefix, text string) (ID, error) {
	rest, ok := strings.CutPrefix(text, prefix+"_")
	if !ok {
		return ID{}, ErrMalformed
	}
	return ParseText(rest)
}

// ParseText reads the 26 characters of an id without its prefix.
func ParseText(text string) (ID, error) {
	if len(text) != TextLen || text[0] > '7' {
		return ID{}, ErrMalformed
	}
	// 26 characters hold 130 bits: the first two are zero, so shift the 128 bits to the front.
	raw, err := encoding.DecodeString("000000" + text) // 32 characters: 20 bytes
	if err != nil || len(raw) != 20 {                  // the decoder skips line breaks
		return ID{}, ErrMalformed
	}
	return ID(raw[4:]), nil
}

// Text writes the id with its kind's prefix.
func (i ID) Text(prefix string) string { return prefix + "_" + i.String() }

// String writes the 26 characters without a prefix. They sort as the bytes do.
func (i ID) String() string {
	var padded [20]byte
	copy(padded[4:], i[:])
	return encoding.EncodeToString(padded[:])[6:]
}

// Bytes returns the 16 raw bytes.
func (i ID) Bytes() []byte { return i[:] }

// IsZero reports whether the id is the zero value.
func (i ID) IsZero() bool { return i == ID{} }

// Compare orders ids by time, then by their other bytes: -1, 0 or 1.
func (i ID) Compare(other ID) int { return bytes.Compare(i[:], other[:]) }

// Time returns when the id was created, to the millisecond, in UTC.
func (i ID) Time() time.Time {
	var ms [8]byte
	copy(ms[2:], i[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
}
