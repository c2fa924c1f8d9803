// Package idempotency stores which operations have been carried out, as social.IdempotencyKeys
// says: a row for each key. Every transaction that belongs to an attempt begins with [TakeEffect],
// which fails if another attempt has taken the key over.
package idempotency
