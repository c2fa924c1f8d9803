// Package idempotency stores which operations have been carried out, as social.IdempotencyKeys
// says: a document for each key. Every transaction that belongs to an attempt first changes the
// document of its key, so it conflicts with whoever takes the key over.
package idempotency
