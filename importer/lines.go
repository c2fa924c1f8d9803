package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLine is the maximum length of a line in bytes: enough for a circle of more than 100,000
// members.
const maxLine = 1 << 20

var (
	errTooLong = fmt.Errorf("the line is longer than %d bytes", maxLine)
	errNotUTF8 = errors.New("the line is not valid UTF-8")
)

// eachLine calls use with every line, without its end, and with its number from 1. It skips lines
// of white space. Errors that use returns, and errors of a line itself, are passed to left. A line
// that is too long is never held in memory.
func eachLine(r io.Reader, use func(line int, text []byte) error, left func(line int, reason error)) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = useLine(number, text, use)
		} else if !errors.Is(err, errTooLong) {
			return err
		}
		if err != nil {
			left(number, err)
		}
	}
}

func useLine(number int, text []byte, use func(int, []byte) error) error {
	text = bytes.TrimRight(text, "\r\n")
	switch {
	case !utf8.Valid(text):
		return errNotUTF8
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	default:
		return use(number, text)
	}
}

// readLine reads to the end of the line or the file. io.EOF means that there are no more lines, and
// errTooLong that the line was skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > maxLine
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || tooLong):
			// the last line has no end
		case err != nil:
			return nil, err
		}
		if tooLong {
			return nil, errTooLong
		}
		return line, nil
	}
}
