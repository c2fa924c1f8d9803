package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// maxKept is the longest text, in bytes, that is kept, parsed or not: it bounds the memory of both
// caches.
const maxKept = 16 << 10

// maxPersisted is how many documents clients can register, least recently used out first. With
// maxKept it bounds their memory: 16 MiB.
const maxPersisted = 1000

// documents are the texts that clients need not send, by their ids. An id is "sha256:" and the hash
// of the text, in hexadecimal digits, or one that the manifest gives.
type documents struct {
	trusted     map[string]string // the operator's manifest
	onlyTrusted bool
	registered  graphql.Cache[string] // by clients: automatic persisted queries
}

func newDocuments(trusted map[string]string, onlyTrusted bool) documents {
	d := documents{trusted: map[string]string{}, onlyTrusted: onlyTrusted, registered: lru.New[string](maxPersisted)}
	for id, text := range trusted {
		d.trusted[id], d.trusted[hashID(text)] = text, text
	}
	return d
}

func hashID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// textOf returns the document that a request asks to run. Errors: codes.PersistedQueryNotFound,
// codes.QueryNotInSafelist, codes.BadUserInput if the text is not that of the id.
func (d *documents) textOf(ctx context.Context, req *request.Request) (string, *gqlerror.Error) {
	if req.Query == "" {
		return d.known(ctx, req.DocumentID)
	}
	if req.DocumentID == "" && !d.onlyTrusted {
		return req.Query, nil
	}
	id := hashID(req.Query)
	if d.onlyTrusted && d.trusted[id] == "" {
		return "", codes.Errorf(codes.QueryNotInSafelist, "this server runs only the operations in its manifest, and this is none of them")
	}
	if req.DocumentID != "" && req.DocumentID != id && d.trusted[req.DocumentID] != req.Query {
		return "", codes.Errorf(codes.BadUserInput, "the query is not the one with the hash or documentId that came with it")
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
	return "", codes.Errorf(codes.PersistedQueryNotFound, "PersistedQueryNotFound") // clients look for this text
}

// register keeps the text of a request that was found valid, if the client sent its hash.
func (d *documents) register(ctx context.Context, req *request.Request) {
	if req.Query != "" && req.DocumentID != "" && len(req.Query) <= maxKept && d.trusted[req.DocumentID] == "" {
		d.registered.Add(ctx, req.DocumentID, req.Query)
	}
}
