package indexes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// Turns allows only one server at a time to do something: see cluster.Member.
type Turns interface {
	TakeTurn(ctx context.Context, name string, waiting func(process string)) (holder *cluster.Server, err error)
	EndTurn(ctx context.Context, name string) error
	Pause(ctx context.Context) error
}

// Builder creates indexes.
type Builder struct {
	turns  Turns
	logger *slog.Logger
	own    []string // collections whose expiry only Expire sets
}

// NewBuilder returns a builder. It takes a turn before it replaces an index. It does not change the
// expiry of the collections in own.
func NewBuilder(turns Turns, logger *slog.Logger, own ...string) *Builder {
	return &Builder{turns: turns, logger: logger, own: own}
}

// New creates a collection that no server uses yet, with its indexes.
func (b *Builder) New(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) error {
	_, err := ensure(ctx, c, models)
	return mdb.Translate(ctx, "indexes of "+c.Name(), err)
}

// BringUpToDate creates the collection and the indexes that are missing, while servers may use the
// collection. It replaces an index that has the same name but another definition, which only a
// Plaza under development can have made: released definitions never change. One server at a time
// does that. Meanwhile, calls that need the index fail with ErrUnavailable.
func (b *Builder) BringUpToDate(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) error {
	diff, err := ensure(ctx, c, models)
	for _, model := range diff.expires {
		if err == nil && !slices.Contains(b.own, c.Name()) {
			err = setExpiry(ctx, c, model)
		}
	}
	if err == nil && len(diff.changed) > 0 {
		err = b.replaceAll(ctx, c, models)
	}
	return err
}

// Prepare is BringUpToDate for the collections of a layout.
func (b *Builder) Prepare(ctx context.Context, all map[*mongo.Collection][]mongo.IndexModel) error {
	for c, models := range all {
		if err := b.BringUpToDate(ctx, c, models); err != nil {
			return mdb.Translate(ctx, "indexes of "+c.Name(), err)
		}
	}
	return nil
}

// Expire creates a TTL index, or changes its expiry, and reports whether it has changed the expiry.
func (b *Builder) Expire(ctx context.Context, c *mongo.Collection, model mongo.IndexModel) (changed bool, err error) {
	diff, err := ensure(ctx, c, []mongo.IndexModel{model})
	for _, model := range diff.expires {
		changed, err = true, errors.Join(err, setExpiry(ctx, c, model))
	}
	return changed, err
}

// setExpiry changes when a collection's documents expire.
func setExpiry(ctx context.Context, c *mongo.Collection, model mongo.IndexModel) error {
	name, want, err := Declared(model)
	if err != nil {
		return err
	}
	return c.Database().RunCommand(ctx, mdb.Doc("collMod", c.Name(), "index", mdb.Doc("name", name, "expireAfterSeconds", want.Expires))).Err()
}

const setting = "indexes" // the turn to replace indexes, a document of "settings"

func (b *Builder) replaceAll(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) (err error) {
	name := fmt.Sprintf("%s.%s", setting, c.Name())
	for {
		holder, err := b.turns.TakeTurn(ctx, name, nil)
		if err != nil {
			return err
		}
		if holder == nil {
			break
		}
		if err := b.turns.Pause(ctx); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, b.turns.EndTurn(ctx, name)) }()
	diff, err := compare(ctx, c, models) // another server may have replaced them
	for _, model := range diff.changed {
		if err == nil {
			err = b.replace(ctx, c, model)
		}
	}
	return err
}

func (b *Builder) replace(ctx context.Context, c *mongo.Collection, model mongo.IndexModel) error {
	name, _, err := Declared(model)
	if err != nil {
		return err
	}
	b.logger.WarnContext(ctx, "an index has another definition and is replaced", "collection", c.Name(), "index", name)
	if err := c.Indexes().DropOne(ctx, name); err != nil {
		return err
	}
	_, err = c.Indexes().CreateMany(ctx, forDriver(model))
	return err
}

// Drop removes those of the indexes that exist, and returns their names. No server may use them. It
// looks first, because dropping locks the collection, even if there is nothing to drop.
func Drop(ctx context.Context, c *mongo.Collection, names ...string) (dropped []string, err error) {
	stored, err := storedIn(ctx, c)
	for _, index := range stored {
		if err == nil && slices.Contains(names, index.Name) {
			dropped = append(dropped, index.Name)
			err = unlessMissing(c.Indexes().DropOne(ctx, index.Name))
		}
	}
	return dropped, err
}

// unlessMissing returns the error, unless it says that the index or its collection is missing:
// another server may have been faster.
func unlessMissing(err error) error {
	const indexNotFound = 27
	if mdb.HasCode(err, indexNotFound, mdb.NamespaceNotFound) {
		return nil
	}
	return err
}
