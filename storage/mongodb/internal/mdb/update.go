package mdb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// UpdateOne updates one document. It returns ErrNotFound if none matches.
func UpdateOne(ctx context.Context, c *mongo.Collection, filter, update bson.D) error {
	result, err := c.UpdateOne(ctx, filter, update)
	if err == nil && result.MatchedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// DeleteOne deletes one document. It returns ErrNotFound if none matches.
func DeleteOne(ctx context.Context, c *mongo.Collection, filter bson.D) error {
	result, err := c.DeleteOne(ctx, filter)
	if err == nil && result.DeletedCount == 0 {
		return social.ErrNotFound
	}
	return err
}

// Increment adds to the counters of the documents with these ids. It returns ErrNotFound if one is
// missing.
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

// OrNotFound replaces the driver's ErrNoDocuments with the contract's ErrNotFound.
func OrNotFound(err error) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return social.ErrNotFound
	}
	return err
}

// OrRetry turns a duplicate key, which two concurrent upserts can cause, into ErrConflict, so that
// the transaction is retried.
func OrRetry(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// OrGone returns ErrAccountGone for ErrNotFound, where the document is the acting user's.
func OrGone(err error) error {
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrAccountGone
	}
	return err
}

// OrTaken replaces the driver's error for a duplicate key with the contract's ErrTaken.
func OrTaken(err error) error {
	if mongo.IsDuplicateKeyError(err) {
		return social.ErrTaken
	}
	return err
}
