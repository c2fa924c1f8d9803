// Package idempotency implements social.IdempotencyKeys: it stores a document for each key. Every
// transaction that belongs to an attempt first changes the document of its key, so it conflicts
// with another attempt that takes the key over.
package idempotency
