package request

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// MaxDocumentID limits, in bytes, a request's documentId.
const MaxDocumentID = 256

// documentID returns the id of a request's document, or "". There are two notations: documentId, of
// GraphQL over HTTP's appendix on persisted documents, and Apollo's extensions.persistedQuery
// (https://www.apollographql.com/docs/apollo-server/performance/apq).
func documentID(members map[string]json.RawMessage, extensions map[string]any) (string, error) {
	id, err := stringMember(members, "documentId")
	if err != nil || len(id) > MaxDocumentID {
		return "", &shapeError{fmt.Sprintf("%q must be a string of at most %d bytes", "documentId", MaxDocumentID)}
	}
	asked, ok := extensions["persistedQuery"]
	if !ok || asked == nil {
		return id, nil
	}
	apollo, _ := asked.(map[string]any)
	if version, _ := apollo["version"].(json.Number); version != "1" {
		return "", &shapeError{`"extensions.persistedQuery.version" must be 1`}
	}
	hash, _ := apollo["sha256Hash"].(string)
	if !sha256Hash.MatchString(hash) {
		return "", &shapeError{`"extensions.persistedQuery.sha256Hash" must be 64 digits of 0-9 and a-f`}
	}
	if id != "" && id != "sha256:"+hash {
		return "", &shapeError{`"documentId" and "extensions.persistedQuery" name different documents`}
	}
	return "sha256:" + hash, nil
}

var sha256Hash = regexp.MustCompile(`^[0-9a-f]{64}$`)
