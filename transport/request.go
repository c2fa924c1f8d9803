package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"unicode/utf8"
)

// request is one GraphQL request, from whatever transport.
type request struct {
	Query         string // "" if DocumentID names it
	DocumentID    string // "" or the id of a document that was registered, or that Query registers
	OperationName string
	Variables     map[string]any
	Extensions    map[string]any
}

// shapeError says that a request is JSON but not a GraphQL request. It never quotes the request.
type shapeError struct{ message string }

func (e *shapeError) Error() string { return e.message }

var errNotJSON = &shapeError{"the request is not valid JSON"}

// parseRequest reads {query, documentId, operationName, variables, extensions}. Keys are case-sensitive, null
// counts as absent, unknown keys are ignored, numbers stay json.Number. The error is a *textError
// or a *shapeError.
func parseRequest(data []byte) (*request, error) {
	members, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	return newRequest(members)
}

func newRequest(members map[string]json.RawMessage) (*request, error) {
	var req request
	var err error
	if req.Query, err = stringMember(members, "query"); err != nil {
		return nil, err
	}
	if req.OperationName, err = stringMember(members, "operationName"); err != nil {
		return nil, err
	}
	if req.Variables, err = objectMember(members, "variables"); err != nil {
		return nil, err
	}
	if req.Extensions, err = objectMember(members, "extensions"); err != nil {
		return nil, err
	}
	if req.DocumentID, err = documentID(members, req.Extensions); err != nil {
		return nil, err
	}
	if req.Query == "" && req.DocumentID == "" {
		return nil, &shapeError{`"query" is missing`}
	}
	return &req, nil
}

// parseQueryString reads the parameters of a GET request; "variables" and "extensions" are JSON
// texts.
func parseQueryString(raw string) (*request, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &shapeError{"the query string is malformed"}
	}
	members := make(map[string]json.RawMessage, 4)
	for _, name := range []string{"query", "operationName", "documentId"} {
		value := values.Get(name)
		if !utf8.ValidString(value) {
			return nil, &textError{name}
		}
		members[name] = marshalString(value)
	}
	for _, name := range []string{"variables", "extensions"} {
		value := []byte(values.Get(name))
		if len(value) == 0 {
			continue
		}
		if !validText(value) {
			return nil, locateBadText(value, name)
		}
		if !json.Valid(value) {
			return nil, &shapeError{fmt.Sprintf("%q is not valid JSON", name)}
		}
		members[name] = value
	}
	return newRequest(members)
}

// parseObject splits a JSON object into its members; text that is not Unicode is found and named.
func parseObject(data []byte) (map[string]json.RawMessage, error) {
	if !validText(data) {
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

// locateBadText names the part of a JSON text that is not Unicode, or says that the whole is not
// JSON. root is the name of the whole: "" for a request, whose members are then named without it.
func locateBadText(data []byte, root string) error {
	marked, mark, ok := markBadText(data)
	if !ok {
		return &textError{cmp.Or(root, wholeRequest)}
	}
	var value any
	if err := json.Unmarshal(marked, &value); err != nil {
		return errNotJSON
	}
	path, found := findText(value, mark, root)
	if !found || path == "" { // lost to a duplicate key, or the request is itself a string
		path = wholeRequest
	}
	return &textError{truncate(path, maxMessage/2)}
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

// marshalString writes valid UTF-8 as JSON, which cannot fail.
func marshalString(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return data
}
