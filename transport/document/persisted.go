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

// maxKept is the maximum length, in bytes, of a cached text, parsed or not. It bounds the memory of
// both caches.
const maxKept = 16 << 10

// maxPersisted is the size of the LRU cache of documents that clients register. With maxKept it
// bounds their memory to 16 MiB.
const maxPersisted = 1000

// documents holds the texts that clients need not send, by their ids. An id is "sha256:" and the
// hash of the text, in hexadecimal digits, or an id from the manifest.
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

// textOf returns the document of a request. Its errors have the codes codes.PersistedQueryNotFound,
// codes.QueryNotInSafelist, or codes.BadUserInput if the text does not belong to the id.
func (d *documents) textOf(ctx context.Context, req *request.Request) (string, *gqlerror.Error) {
	if req.Query == "" {
		return d.known(ctx, req.DocumentID)
	}
	if req.DocumentID == "" && !d.onlyTrusted {
		return req.Query, nil
	}
	id := hashID(req.Query)
	if d.onlyTrusted && d.trusted[id] == "" {
		return "", codes.Errorf(codes.QueryNotInSafelist, "this server runs only the operations in its manifest, and this is not one of them")
	}
	if req.DocumentID != "" && req.DocumentID != id && d.trusted[req.DocumentID] != req.Query {
		return "", codes.Errorf(codes.BadUserInput, "the query does not match the hash or documentId that was sent with it")
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

// register stores the text of a valid request if the client sent its hash.
func (d *documents) register(ctx context.Context, req *request.Request) {
	if req.Query != "" && req.DocumentID != "" && len(req.Query) <= maxKept && d.trusted[req.DocumentID] == "" {
		d.registered.Add(ctx, req.DocumentID, req.Query)
	}
}
