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

// Turns lets one server at a time do something, as cluster.Member does.
type Turns interface {
	TakeTurn(ctx context.Context, name string, waiting func(process string)) (holder *cluster.Server, err error)
	EndTurn(ctx context.Context, name string) error
	Pause(ctx context.Context) error
}

// Builder makes indexes.
type Builder struct {
	turns  Turns
	logger *slog.Logger
	own    []string // collections whose expiry is set by Expire alone
}

// NewBuilder returns a builder. It takes turns with those of other servers where it replaces an
// index. It leaves the expiry of the collections in own as it is.
func NewBuilder(turns Turns, logger *slog.Logger, own ...string) *Builder {
	return &Builder{turns: turns, logger: logger, own: own}
}

// New makes a collection that no server uses yet, with its indexes.
func (b *Builder) New(ctx context.Context, c *mongo.Collection, models []mongo.IndexModel) error {
	_, err := ensure(ctx, c, models)
	return mdb.Translate(ctx, "indexes of "+c.Name(), err)
}

// BringUpToDate makes the collection, which servers may use, and those of the indexes that are
// missing. An index that a Plaza under development has made under the same name, with another
// definition, is replaced, by one server at a time. (Released definitions never change.) While it
// is built, calls that need it are answered with ErrUnavailable.
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

// Expire makes an index by which documents expire, or changes when they do, and reports whether it has
// changed that.
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

const setting = "indexes" // the document of settings whose driver replaces indexes

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
	diff, err := compare(ctx, c, models) // another server may have done it
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
	_, err = c.Indexes().CreateOne(ctx, model)
	return err
}
