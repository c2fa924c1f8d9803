package request

import (
	"encoding/json"
	"fmt"
	"net/url"
	"unicode/utf8"
)

// Request is one GraphQL request, from any transport.
type Request struct {
	Query         string // "" if only DocumentID is given
	DocumentID    string // "" or the id of a document that was registered, or that Query registers
	OperationName string
	Variables     map[string]any
	Extensions    map[string]any
}

// Parse reads {query, documentId, operationName, variables, extensions}. Keys are case-sensitive,
// null counts as absent, unknown keys are ignored, numbers stay json.Number. The error is one
// sentence; Present converts it.
func Parse(data []byte) (*Request, error) {
	members, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	return newRequest(members)
}

func newRequest(members map[string]json.RawMessage) (*Request, error) {
	var req Request
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

// ParseQueryString reads the parameters of a GET request; "variables" and "extensions" are JSON
// texts.
func ParseQueryString(raw string) (*Request, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &shapeError{"the query string is malformed"}
	}
	members := make(map[string]json.RawMessage, 4)
	for _, name := range []string{"query", "operationName", "documentId"} {
		value := values.Get(name)
		if !utf8.ValidString(value) {
			return nil, &TextError{name}
		}
		members[name] = JSONString(value)
	}
	for _, name := range []string{"variables", "extensions"} {
		value := []byte(values.Get(name))
		if len(value) == 0 {
			continue
		}
		if tooManyValues(value) {
			return nil, sizeError{}
		}
		if !ValidText(value) {
			return nil, locateBadText(value, name)
		}
		if !json.Valid(value) {
			return nil, &shapeError{fmt.Sprintf("%q is not valid JSON", name)}
		}
		members[name] = value
	}
	return newRequest(members)
}
