package mongotest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"golang.org/x/sync/errgroup"

	"plaza/internal/testtime"
)

// Pool is databases that tests use one after the other. Their collections and indexes stay: a server takes far longer to make
// them, and to remove them, than most tests take. The zero Pool is ready for use.
type Pool struct {
	mu   sync.Mutex
	uri  string
	free []string
}

// Database is [Database], but for the collections that an earlier test may have left in it, without documents.
func (p *Pool) Database(tb testing.TB) (uri, name string) {
	tb.Helper()

	uri, name = URI(tb), p.take(tb.Name())

	tb.Cleanup(func() {
		if err := empty(uri, name); err != nil {
			tb.Errorf("mongotest: emptying the database %s: %v", name, errors.Join(err, drop(uri, name)))

			return
		}

		p.mu.Lock()
		defer p.mu.Unlock()

		p.uri, p.free = uri, append(p.free, name)
	})

	return uri, name
}

func (p *Pool) take(test string) string {
	p.mu.Lock()
	defer p.mu.Unlock()

	if len(p.free) == 0 {
		return databaseName(test)
	}

	name := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]

	return name
}

// Close drops the databases, which no test uses any more.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	var errs []error
	for _, name := range p.free {
		errs = append(errs, drop(p.uri, name))
	}

	p.free = nil

	return errors.Join(errs...)
}

// empty removes all documents of a database, over a connection of its own, as drop does.
func empty(uri, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testtime.Patience())
	defer cancel()

	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetWriteConcern(writeconcern.Majority()))
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it is about
	}

	database := client.Database(name)
	names, err := database.ListCollectionNames(ctx, bson.D{})
	group, groupCtx := errgroup.WithContext(ctx)

	for _, name := range names {
		group.Go(func() error {
			_, err := database.Collection(name).DeleteMany(groupCtx, bson.D{})

			return err //nolint:wrapcheck // the caller says what it is about
		})
	}

	return errors.Join(err, group.Wait(), client.Disconnect(ctx))
}
