package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"plaza/transport/codes"
)

// parseObject splits a JSON object into its members. Its error names the part that is not valid
// Unicode.
func parseObject(data []byte) (map[string]json.RawMessage, error) {
	if tooManyValues(data) {
		return nil, sizeError{}
	}
	if !ValidText(data) {
		return nil, locateBadText(data, "")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, &shapeError{"the request must be a JSON object"}
		}
		return nil, errNotJSON
	}
	if members == nil { // null
		return nil, &shapeError{"the request must be a JSON object"}
	}
	return members, nil
}

// tooManyValues reports whether JSON has more than MaxValues. Empty lists and objects count twice.
func tooManyValues(data []byte) bool {
	values, inText := 1, false
	for i := 0; i < len(data) && values <= MaxValues; i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++ // what follows does not end the text
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == '[' || c == '{'): // before each value that is not the first
			values++
		}
	}
	return values > MaxValues
}

// locateBadText returns an error that names the part of a JSON text that is not valid Unicode, or
// says that the text is not JSON. root is the name of the whole text: "" for a request, so that its
// members have no prefix.
func locateBadText(data []byte, root string) error {
	marked, mark, ok := markBadText(data)
	if !ok {
		return &TextError{cmp.Or(root, wholeRequest)}
	}
	var value any
	if err := json.Unmarshal(marked, &value); err != nil {
		return errNotJSON
	}
	path, found := findText(value, mark, root)
	if !found || path == "" { // a duplicate key has replaced it, or the request is itself a string
		path = wholeRequest
	}
	return &TextError{codes.Truncate(path, codes.MaxMessage/2)}
}

func stringMember(members map[string]json.RawMessage, name string) (string, error) {
	raw, ok := members[name]
	if !ok {
		return "", nil
	}
	var value *string
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", &shapeError{fmt.Sprintf("%q must be a string", name)}
	}
	if value == nil {
		return "", nil
	}
	return *value, nil
}

func objectMember(members map[string]json.RawMessage, name string) (map[string]any, error) {
	raw, ok := members[name]
	if !ok {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, &shapeError{fmt.Sprintf("%q must be a JSON object", name)}
	}
	return value, nil
}
