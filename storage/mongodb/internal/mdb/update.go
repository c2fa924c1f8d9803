package mdb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// UpdateOne is ErrNotFound where nothing matches.
func UpdateOne(ctx context.Context, c *mongo.Collection, filter, update bson.D) error {
	result, err := c.UpdateOne(ctx, filter, update)
	if err == nil && result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// Increment adds to the counters of one document for each id: ErrNotFound where one is absent.
func Increment[K comparable](ctx context.Context, c *mongo.Collection, changes map[K]bson.D) error {
	if len(changes) == 0 {
		return nil
	}
	models := make([]mongo.WriteModel, 0, len(changes))
	for key, change := range changes {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(Doc("_id", key)).SetUpdate(Doc("$inc", change)))
	}
	result, err := c.BulkWrite(ctx, models)
	if err == nil && result.MatchedCount < int64(len(changes)) {
		return social.ErrNotFound
	}
	return err
}

// OrNotFound makes the driver's word for nothing the contract's.
func OrNotFound(err error) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return social.ErrNotFound
	}
	return err
}

// OrRetry makes the duplicate key that two concurrent upserts can end in a reason to run again.
func OrRetry(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// OrTaken makes a duplicate key the contract's error.
func OrTaken(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return social.ErrTaken
	}
	return err
}
