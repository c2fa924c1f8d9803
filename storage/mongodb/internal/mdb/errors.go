package mdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"plaza/fault"
	"plaza/social"
)

// ErrConflict means that this transaction conflicted with another one and must run again.
var ErrConflict = errors.New("conflict between transactions")

// Interrupted is MongoDB's error code for a command whose session was ended. Plaza servers end the
// sessions of a server that sends no heartbeats.
const Interrupted = 11601

// NamespaceNotFound is MongoDB's error code for a missing collection.
const NamespaceNotFound = 26

// snapshotTooOld is MongoDB's error code for a snapshot that the server has dropped.
const snapshotTooOld = 239

// unavailableCodes are the codes of MongoDB's temporary errors: shutdown, no primary, stepping
// down, time limits.
var unavailableCodes = []int{6, 7, 24, 50, 64, 89, 91, 112, 189, 251, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436, 50915}

// Translate turns the driver's errors into the contracts' errors, without the driver's types.
func Translate(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case fault.IsRefusal(err), errors.Is(err, social.ErrAccountGone):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("mongodb: %s: %w", op, ctx.Err())
	case IsNoRoom(err):
		return fmt.Errorf("mongodb: %s: %w: %v", op, social.ErrNoRoom, err) //nolint:errorlint // hides the driver's types
	case IsUnavailable(err):
		return fmt.Errorf("mongodb: %s: %w: %v", op, social.ErrUnavailable, err) //nolint:errorlint // as above
	}
	return fmt.Errorf("mongodb: %s: %v", op, err) //nolint:errorlint // as above
}

// IsUnavailable reports whether the database could not answer for a temporary reason.
func IsUnavailable(err error) bool {
	if mongo.IsTimeout(err) || mongo.IsNetworkError(err) || isTransient(err) || errors.Is(err, social.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mongo.ErrClientDisconnected) ||
		hasLabel(err, "RetryableWriteError") || hasLabel(err, "UnknownTransactionCommitResult") {
		return true
	}
	var connection topology.ConnectionError
	if HasNoPrimary(err) || errors.As(err, &connection) {
		return true
	}
	const badValue = 2 // an index is being replaced (replaceIndex)
	var server mongo.ServerError
	return HasCode(err, unavailableCodes...) ||
		errors.As(err, &server) && server.HasErrorCodeWithMessage(badValue, "hint provided does not correspond to an existing index")
}

// IsNoRoom reports whether the database could not write because its disk or its quota is full. A
// mongod that notices this too late terminates.
func IsNoRoom(err error) bool {
	const outOfDiskSpace, atlasError = 14031, 8000
	var server mongo.ServerError
	return errors.Is(err, social.ErrNoRoom) || HasCode(err, outOfDiskSpace) ||
		errors.As(err, &server) && server.HasErrorCodeWithMessage(atlasError, "space quota")
}

func isTransient(err error) bool {
	return errors.Is(err, ErrConflict) || hasLabel(err, "TransientTransactionError") || HasCode(err, Interrupted)
}

// isUnknownCommit reports whether the transaction may have been committed. A second commit finds
// out.
func isUnknownCommit(err error) bool {
	return hasLabel(err, "UnknownTransactionCommitResult") || HasCode(err, Interrupted)
}

// HasNoPrimary reports whether the driver found no primary in time.
func HasNoPrimary(err error) bool {
	var selection topology.ServerSelectionError
	return errors.As(err, &selection)
}

func hasLabel(err error, label string) bool {
	var labeled mongo.LabeledError
	return errors.As(err, &labeled) && labeled.HasErrorLabel(label)
}

// HasCode reports whether the server returned one of these error codes.
func HasCode(err error, codes ...int) bool {
	var server mongo.ServerError
	return errors.As(err, &server) && slices.ContainsFunc(codes, server.HasErrorCode)
}

// onLostSnapshot returns ErrConflict, so that the caller reads again, if the server has dropped the
// snapshot or has changed an index since.
func onLostSnapshot(err error) error {
	const snapshotUnavailable = 246
	if HasCode(err, snapshotTooOld, snapshotUnavailable) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}
