package mongodb_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb"
)

var updateModel = flag.Bool("update-model", false, "write the generated parts of docs/data-model.md anew")

const dataModel = "../../docs/data-model.md"

// TestDataModelIsDescribed: docs/data-model.md has a section for each collection, with some words of why, and with a sample
// document, the indexes and the shard key as they are in the code.
func TestDataModelIsDescribed(t *testing.T) {
	raw, err := os.ReadFile(dataModel)
	if err != nil {
		t.Fatal(err)
	}
	page, indexes := string(raw), indexesOfAll(t)
	for _, collection := range slices.Sorted(maps.Keys(indexes)) {
		begin, end := "<!-- begin "+collection+" -->\n", "<!-- end "+collection+" -->\n"
		head, rest, found := strings.Cut(page, begin)
		generated, tail, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Errorf("docs/data-model.md says nothing of %s: add \"## %s\", what it is for and why it is so, and %q and %q; then run this with -update-model",
				collection, collection, strings.TrimSpace(begin), strings.TrimSpace(end))
			continue
		}
		_, words, _ := strings.Cut(head, "## "+collection+"\n")
		if len(strings.TrimSpace(words)) < 15 {
			t.Errorf("docs/data-model.md does not say why %s is as it is", collection)
		}
		want := described(t, collection, indexes[collection])
		if *updateModel {
			page = head + begin + want + end + tail
		} else if generated != want {
			t.Errorf("docs/data-model.md is wrong about %s: run this with -update-model", collection)
		}
	}
	if *updateModel {
		if err := os.WriteFile(dataModel, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// described is the generated part of a section.
func described(t *testing.T, collection string, indexes map[string]string) string {
	t.Helper()
	var b strings.Builder
	raw, err := os.ReadFile(fmt.Sprintf("testdata/documents/%s.v%d.bson", collection, mongodb.NewestVersion(collection)))
	if err == nil {
		sample, err := bson.MarshalExtJSONIndent(bson.Raw(raw[:binary.LittleEndian.Uint32(raw)]), false, false, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", sample)
	}
	b.WriteString("\n| index | keys |\n| --- | --- |\n| `_id_` | `{\"_id\": 1}` |\n")
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, indexes[name])
	}
	key := "none: the collection is not sharded"
	for name, declared := range mongodb.ShardKeys() {
		if base, _, _ := strings.Cut(name, "."); base == collection && declared != nil {
			key = "`" + jsonOf(t, declared) + "`"
		}
	}
	fmt.Fprintf(&b, "\nShard key: %s.\n", key)
	return b.String()
}

// indexesOfAll are the indexes of all collections in all layouts, by collection and name.
func indexesOfAll(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, o := range routedLayouts {
		db := databaseOfTown(t, newTownOf(t, nil, o))
		collections, err := db.ListCollectionNames(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range collections {
			specifications, err := db.Collection(name).Indexes().ListSpecifications(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			collection, _, _ := strings.Cut(name, ".") // each layout of one thing has a collection of its own
			if all[collection] == nil {
				all[collection] = map[string]string{}
			}
			for _, s := range specifications {
				if s.Name == "_id_" {
					continue
				}
				text := "`" + jsonOf(t, s.KeysDocument) + "`"
				if s.Unique != nil && *s.Unique {
					text += " unique"
				}
				if s.ExpireAfterSeconds != nil {
					text += fmt.Sprintf(" expiring after %d s", *s.ExpireAfterSeconds)
				}
				all[collection][s.Name] = text
			}
		}
	}
	return all
}

func jsonOf(t *testing.T, document any) string {
	t.Helper()
	text, err := bson.MarshalExtJSON(document, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
