package cli

import (
	"context"
	"fmt"
	"io"

	"plaza/storage/mongodb"
)

// shardCommand distributes the database over the shards of a MongoDB cluster.
type shardCommand struct {
	Print bool `help:"Print the commands for mongosh." xor:"how" required:""`
	Apply bool `help:"Run them: enable sharding, and shard each collection by its declared key. Running it again changes nothing." xor:"how" required:""`
}

// Run prints the commands or applies them.
func (c *shardCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openMongoDB(ctx, "is one file: there is nothing to distribute", common.mongodbOptions())
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return c.run(ctx, common.console.stdout(), st)
}

func (c *shardCommand) run(ctx context.Context, out io.Writer, st *mongodb.Store) error {
	if c.Apply {
		return st.Shard(ctx, func(collection string) { fmt.Fprintf(out, "sharded: %s\n", collection) })
	}
	for _, line := range st.ShardCommands() {
		fmt.Fprintln(out, line)
	}
	return nil
}
