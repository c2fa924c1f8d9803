package mongodb_test

import (
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

var updateModel = flag.Bool("update-model", false, "regenerate the generated parts of docs/data-model.md")

const dataModel = "../../docs/data-model.md"

// TestDataModelIsDescribed: docs/data-model.md has a section for each collection, with a
// description, a sample document, and the indexes and the shard key as they are in the code.
func TestDataModelIsDescribed(t *testing.T) {
	t.Parallel()
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
			t.Errorf("docs/data-model.md does not describe %s: add \"## %s\", what it is for and why it is designed like that, and %q and %q; then run this with -update-model",
				collection, collection, strings.TrimSpace(begin), strings.TrimSpace(end))
			continue
		}
		if !regexp.MustCompile(`(?m)^\| \[` + collection + `\]\(#` + strings.ToLower(collection) + `\) \| [^|]+ \| [^|]+ \| [^|]+ \|$`).MatchString(page) {
			t.Errorf("the table in docs/data-model.md does not contain what %s embeds and references, and its shard key", collection)
		}
		_, words, _ := strings.Cut(head, "## "+collection+"\n")
		if len(strings.TrimSpace(words)) < 15 {
			t.Errorf("docs/data-model.md does not explain %s", collection)
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

// described returns the generated part of a section.
func described(t *testing.T, collection string, indexes map[string]string) string {
	t.Helper()
	var b strings.Builder
	raw, err := os.ReadFile(fmt.Sprintf("testdata/documents/%s.v%d.bson", collection, mongodb.NewestVersion(collection)))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := bson.MarshalExtJSONIndent(largest(raw), false, false, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "\n```js\n%s\n```\n", asInShell(sample))
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

var (
	binaries = regexp.MustCompile(`\{\s*"\$binary": \{\s*"base64": "([^"]*)",\s*"subType": "(\d\d)"\s*\}\s*\}`)
	dates    = regexp.MustCompile(`\{\s*"\$date": ("[^"]*")\s*\}`)
	oids     = regexp.MustCompile(`\{\s*"\$oid": ("[^"]*")\s*\}`)
)

// asInShell converts values of extended JSON to the syntax of MongoDB's shell, which is shorter.
func asInShell(sample []byte) string {
	text := binaries.ReplaceAllStringFunc(string(sample), func(value string) string {
		parts := binaries.FindStringSubmatch(value)
		raw, err := base64.StdEncoding.DecodeString(parts[1])
		if err == nil && parts[2] == "04" && len(raw) == 16 {
			return fmt.Sprintf(`UUID("%x-%x-%x-%x-%x")`, raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
		}
		return fmt.Sprintf("BinData(%s, %q)", strings.TrimPrefix(parts[2], "0"), parts[1])
	})
	return oids.ReplaceAllString(dates.ReplaceAllString(text, "ISODate($1)"), "ObjectId($1)")
}

// largest returns the largest document of a file.
func largest(documents []byte) (found bson.Raw) {
	for len(documents) > 0 {
		n := binary.LittleEndian.Uint32(documents)
		if int(n) > len(found) {
			found = documents[:n]
		}
		documents = documents[n:]
	}
	return found
}

// indexesOfAll returns the indexes of all collections in all layouts, by collection and name.
func indexesOfAll(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, o := range routedLayouts {
		db := mongotest.Connect(t, newTownAlone(t, nil, o).uri)
		collections, err := db.ListCollectionNames(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range collections {
			var indexes []struct {
				Name    string `bson:"name"`
				Keys    bson.D `bson:"key"`
				Unique  bool   `bson:"unique"`
				Expires *int   `bson:"expireAfterSeconds"`
				Only    bson.D `bson:"partialFilterExpression"`
			}
			cursor, err := db.Collection(name).Indexes().List(t.Context())
			if err == nil {
				err = cursor.All(t.Context(), &indexes)
			}
			if err != nil {
				t.Fatal(err)
			}
			collection, _, _ := strings.Cut(name, ".") // each layout has its own collection
			if all[collection] == nil {
				all[collection] = map[string]string{}
			}
			for _, i := range indexes {
				if i.Name == "_id_" {
					continue
				}
				var text strings.Builder
				text.WriteString("`" + jsonOf(t, i.Keys) + "`")
				if i.Unique {
					text.WriteString(" unique")
				}
				if i.Expires != nil {
					fmt.Fprintf(&text, " expiring after %d s", *i.Expires)
				}
				for _, only := range i.Only { // each condition is that a field exists, or that it does not
					has := "with"
					if only.Value == nil {
						has = "without"
					}
					fmt.Fprintf(&text, ", of documents %s %#q", has, only.Key)
				}
				all[collection][i.Name] = text.String()
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
