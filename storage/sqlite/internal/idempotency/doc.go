// Package idempotency implements social.IdempotencyKeys: it stores a row for each key. Every
// transaction that belongs to an attempt begins with [TakeEffect], which fails if another attempt
// has taken the key over.
package idempotency
