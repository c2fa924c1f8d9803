package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"plaza/resolvers"
	"plaza/transport/document"
)

// apolloManifest is the format of Apollo's manifests
// (https://www.apollographql.com/docs/graphos/platform/security/persisted-queries#manifest-format).
const apolloManifest = "apollo-persisted-query-manifest"

// ReadManifest reads the documents that clients may run by their ids: a JSON object of ids and
// documents, as Relay and GraphQL Code Generator write it, or Apollo's format. It returns an error
// for the first document, by its id, that does not fit the schema or exceeds a limit; for two
// documents with the same id; and if there are no documents.
func ReadManifest(r io.Reader) (map[string]string, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	documents, err := parseManifest(content)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, errors.New("there are no documents in it")
	}
	schema := new(resolvers.Resolver).Executable().Schema()
	for _, id := range slices.Sorted(maps.Keys(documents)) {
		if err := document.CheckTrusted(schema, document.Limits{}, id, documents[id]); err != nil {
			return nil, fmt.Errorf("the document %q cannot run here: %w", id, err)
		}
	}
	return documents, nil
}

func parseManifest(content []byte) (documents map[string]string, err error) {
	var apollo struct {
		Format     string `json:"format"`
		Operations []struct {
			ID   string `json:"id"`
			Body string `json:"body"`
		} `json:"operations"`
	}
	if err := json.Unmarshal(content, &apollo); err == nil && apollo.Format == apolloManifest {
		documents = map[string]string{}
		for _, operation := range apollo.Operations {
			if other, taken := documents[operation.ID]; taken && other != operation.Body {
				return nil, fmt.Errorf("two documents have the id %q", operation.ID)
			}
			documents[operation.ID] = operation.Body
		}
		return documents, nil
	}
	if err := json.Unmarshal(content, &documents); err != nil {
		return nil, fmt.Errorf("a manifest is a JSON object of ids and documents, or has the format %q: %w", apolloManifest, err)
	}
	return documents, nil
}
