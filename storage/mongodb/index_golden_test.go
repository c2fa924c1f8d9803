package mongodb

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/indexes"
)

var update = flag.Bool("update", false, "add new indexes to testdata/indexes.json")

const indexFile = "testdata/indexes.json"

// TestIndexesKeepTheirDefinitions: servers of several versions use one database, so the name of a
// released index must keep its definition. Add a new index, or a changed one under a new name, with
// -update. Never remove one.
func TestIndexesKeepTheirDefinitions(t *testing.T) {
	t.Parallel()
	kept := map[string]string{}
	content, err := os.ReadFile(indexFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if err == nil {
		if err := json.Unmarshal(content, &kept); err != nil {
			t.Fatal(err)
		}
	}
	for name, definition := range declaredIndexes(t) {
		switch before, known := kept[name]; {
		case !known && *update:
			kept[name] = definition
		case !known:
			t.Errorf("%s is new: run this test with -update", name)
		case before != definition:
			t.Errorf("%s was\n\t%s\nand is now\n\t%s\nGive the changed index a new name", name, before, definition)
		}
	}
	if *update {
		content, err := json.MarshalIndent(kept, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(indexFile, append(content, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// declaredIndexes returns the definitions of the indexes of all layouts.
func declaredIndexes(t *testing.T) map[string]string {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1")) // nothing is sent
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(t.Context()) }()
	s := newStore(deployment{client: client}, "plaza", Options{})
	groups := []map[*mongo.Collection][]mongo.IndexModel{s.ownIndexes(), s.users.Indexes(), s.graph.Indexes(), s.log.Indexes(), s.profiles.Indexes(), s.ads.Indexes(), s.member.Indexes(), s.feeds.Indexes(), s.jobs.Indexes(), s.moderation.Indexes()}
	for _, layout := range s.threadLayouts {
		groups = append(groups, layout.Indexes())
	}
	for _, layout := range s.feeds.Layouts() {
		groups = append(groups, layout.Indexes())
	}
	for _, layout := range s.graph.Layouts() {
		groups = append(groups, layout.Indexes())
	}
	all := map[string]string{}
	for _, group := range groups {
		for c, models := range group {
			maps.Copy(all, definitionsOf(t, c, models))
		}
	}
	return all
}

func definitionsOf(t *testing.T, c *mongo.Collection, models []mongo.IndexModel) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, model := range models {
		name, d, err := indexes.Declared(model)
		if err != nil {
			t.Fatal(err)
		}
		text := d.Keys
		if d.Only != "" {
			text += " only " + d.Only
		}
		if d.Unique {
			text += " unique"
		}
		if d.Expires != indexes.Never {
			text += fmt.Sprintf(" expires after %d s", d.Expires)
		}
		all[c.Name()+"."+name] = text
	}
	return all
}
