package transport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
)

// maxPersisted is how many documents clients can register, least recently used out first. With
// maxCachedQuery it bounds their memory: 16 MiB.
const maxPersisted = 1000

// maxDocumentID limits, in bytes, a request's documentId.
const maxDocumentID = 256

// documents are the texts that clients need not send, by their ids. An id is "sha256:" and the hash
// of the text, in hexadecimal digits, or one that the manifest gives.
type documents struct {
	trusted     map[string]string // the operator's manifest
	onlyTrusted bool
	registered  graphql.Cache[string] // by clients: automatic persisted queries
}

func newDocuments(o Options) documents {
	d := documents{trusted: map[string]string{}, onlyTrusted: o.OnlyTrusted, registered: lru.New[string](maxPersisted)}
	for id, text := range o.TrustedDocuments {
		d.trusted[id], d.trusted[hashID(text)] = text, text
	}
	return d
}

func hashID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// textOf returns the document that a request asks to run. Errors: CodePersistedQueryNotFound,
// CodeQueryNotInSafelist, CodeBadUserInput if the text is not that of the id.
func (d *documents) textOf(ctx context.Context, req *request) (string, *gqlerror.Error) {
	if req.Query == "" {
		return d.known(ctx, req.DocumentID)
	}
	if req.DocumentID == "" && !d.onlyTrusted {
		return req.Query, nil
	}
	id := hashID(req.Query)
	if d.onlyTrusted && d.trusted[id] == "" {
		return "", newError(CodeQueryNotInSafelist, "this server runs only the operations in its manifest, and this is none of them")
	}
	if req.DocumentID != "" && req.DocumentID != id && d.trusted[req.DocumentID] != req.Query {
		return "", newError(CodeBadUserInput, "the query is not the one with the hash or documentId that came with it")
	}
	return req.Query, nil
}

func (d *documents) known(ctx context.Context, id string) (string, *gqlerror.Error) {
	if text, ok := d.trusted[id]; ok {
		return text, nil
	}
	if text, ok := d.registered.Get(ctx, id); ok {
		return text, nil
	}
	return "", newError(CodePersistedQueryNotFound, "PersistedQueryNotFound") // clients look for this text
}

// register keeps the text of a request that was found valid, if the client sent its hash.
func (d *documents) register(ctx context.Context, req *request) {
	if req.Query != "" && req.DocumentID != "" && len(req.Query) <= maxCachedQuery && d.trusted[req.DocumentID] == "" {
		d.registered.Add(ctx, req.DocumentID, req.Query)
	}
}

// documentID reads the id of a request's document; "" if it has none. There are two notations:
// documentId, of GraphQL over HTTP's appendix on persisted documents, and Apollo's
// extensions.persistedQuery (https://www.apollographql.com/docs/apollo-server/performance/apq).
func documentID(members map[string]json.RawMessage, extensions map[string]any) (string, error) {
	id, err := stringMember(members, "documentId")
	if err != nil || len(id) > maxDocumentID {
		return "", &shapeError{fmt.Sprintf("%q must be a string of at most %d bytes", "documentId", maxDocumentID)}
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

// CheckDocument returns the first error that keeps a document from running on a schema, by its id.
func CheckDocument(es graphql.ExecutableSchema, limits Limits, id, text string) error {
	switch {
	case id == "" || len(id) > maxDocumentID:
		return fmt.Errorf("an id has 1 to %d bytes", maxDocumentID)
	case strings.HasPrefix(id, "sha256:") && id != hashID(text):
		return fmt.Errorf("its id is not its hash, which is %s", hashID(text))
	}
	doc, err := parseDocument(text, limits.withDefaults().MaxTokens)
	if err == nil {
		err = limits.withDefaults().check(doc)
	}
	if err != nil {
		return err
	}
	if errs := validator.ValidateWithRules(es.Schema(), doc, newRules()); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
