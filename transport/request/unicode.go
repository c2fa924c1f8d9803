package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ValidText reports whether JSON contains neither invalid UTF-8 nor an unpaired escaped surrogate.
func ValidText(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	if !bytes.Contains(data, []byte(`\u`)) {
		return true
	}
	_, bad := replaceBadText(data, utf8.RuneError)
	return !bad
}

// markBadText replaces the parts of JSON that are not valid Unicode with a rune that occurs nowhere
// else in it, and returns that rune. ok is false if all candidates occur.
func markBadText(data []byte) (marked []byte, mark rune, ok bool) {
	const first, last = '\uFDD0', '\uFDEF' // Unicode's noncharacters: never meant for interchange
	lower := bytes.ToLower(data)
	for r := first; r <= last; r++ {
		escaped := `\u` + strconv.FormatInt(int64(r), 16)
		if !bytes.ContainsRune(data, r) && !bytes.Contains(lower, []byte(escaped)) {
			marked, _ = replaceBadText(data, r)
			return marked, r, true
		}
	}
	return nil, 0, false
}

// replaceBadText copies JSON with every bad byte and every lone surrogate escape replaced.
func replaceBadText(data []byte, mark rune) (clean []byte, bad bool) {
	clean = make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		size, valid := textUnit(data[i:])
		if valid {
			clean = append(clean, data[i:i+size]...)
		} else {
			clean = utf8.AppendRune(clean, mark)
			bad = true
		}
		i += size
	}
	return clean, bad
}

// textUnit returns the size of the rune or escape at the start of data.
func textUnit(data []byte) (size int, valid bool) {
	if data[0] != '\\' {
		r, size := utf8.DecodeRune(data)
		return size, r != utf8.RuneError || size > 1
	}
	unit, ok := unicodeEscape(data)
	switch {
	case !ok && len(data) > 1 && data[1] < utf8.RuneSelf:
		return 2, true // \n, \" and also \\, so that \\ud800 is not an escape
	case !ok:
		return 1, true
	case !utf16.IsSurrogate(unit):
		return 6, true
	}
	low, ok := unicodeEscape(data[6:])
	if ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
		return 12, true
	}
	return 6, false
}

// unicodeEscape reads \uXXXX at the start of data.
func unicodeEscape(data []byte) (rune, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return rune(unit), err == nil
}

// findText returns the path of the first string or key in a decoded JSON value that contains mark.
func findText(value any, mark rune, path string) (string, bool) {
	switch value := value.(type) {
	case string:
		return path, strings.ContainsRune(value, mark)
	case []any:
		for i, item := range value {
			if found, ok := findText(item, mark, join(path, strconv.Itoa(i))); ok {
				return found, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if strings.ContainsRune(key, mark) {
				return "a key of " + cmp.Or(path, wholeRequest), true
			}
			if found, ok := findText(value[key], mark, join(path, key)); ok {
				return found, true
			}
		}
	}
	return "", false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// JSONString encodes valid UTF-8 as JSON, which cannot fail.
func JSONString(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return data
}
