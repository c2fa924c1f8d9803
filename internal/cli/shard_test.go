package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

func TestShardCommand(t *testing.T) {
	common := &commonFlags{MongodbURI: uriFlag(mongotest.Reused(t))}
	plazatest.OpenMongoDB(t, string(common.MongodbURI), mongodb.Options{Graph: mongodb.GraphTwo})
	st, err := common.openMongoDB(t.Context(), "", common.mongodbOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	var out bytes.Buffer
	if err := (&shardCommand{Print: true}).run(t.Context(), &out, st); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !strings.HasPrefix(lines[0], "sh.enableSharding(") || !strings.Contains(out.String(), `.followers", {"other": "hashed", "owner": 1})`) {
		t.Errorf("it prints\n%s", out.String())
	}
	out.Reset()
	if err := (&shardCommand{Apply: true}).run(t.Context(), &out, st); !errors.Is(err, mongodb.ErrNotSharded) || !strings.Contains(withAdvice(err).Error(), "mongos") || out.Len() > 0 {
		t.Errorf("without a cluster: %q, %v", out.String(), err)
	}
}

func TestShardNeedsMongoDB(t *testing.T) {
	if _, err := (&commonFlags{}).openMongoDB(t.Context(), "is one file", mongodb.Options{}); err == nil || !strings.Contains(err.Error(), "--mongodb-uri") {
		t.Errorf("the error is %v", err)
	}
}

func TestShardErrorsExplainWhatToDo(t *testing.T) {
	for arguments, want := range map[string]string{"shard": "--print or --apply", "shard --print --apply": "can't be used together"} {
		parser, err := kong.New(new(commandLine))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(arguments)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
}
