// Package answer bounds the memory that an answer takes.
package answer

import (
	"bytes"
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
)

// MaxLen is how long an answer's data may become, in bytes. The cost of a document bounds how many
// things it shows, but not how long their texts are.
const MaxLen = 16 << 20

// ErrTooLarge is what a Buffer panics with: marshallers have no other way out.
var ErrTooLarge = errors.New("the answer is too large")

// Buffer is a bytes.Buffer of at most MaxLen bytes. The generated code writes answers into it (see
// internal/cmd/gqlgen).
type Buffer struct{ bytes.Buffer }

// Encode appends the data of an answer. After a panic, which gqlgen recovers only in resolvers, the
// data is null and the error is in the response: the operation has run, perhaps as a mutation, and
// counts like any other.
func (b *Buffer) Encode(ctx context.Context, op *graphql.OperationContext, data graphql.Marshaler) {
	defer func() {
		if r := recover(); r != nil {
			op.Error(ctx, op.Recover(ctx, r))
			b.Buffer = *bytes.NewBufferString("null")
		}
	}()
	data.MarshalGQL(b)
}

// Write appends p. It panics with ErrTooLarge where the buffer would become too long, as the
// functions below do.
func (b *Buffer) Write(p []byte) (int, error) {
	b.reserve(len(p))
	return b.Buffer.Write(p)
}

// WriteString appends s.
func (b *Buffer) WriteString(s string) (int, error) {
	b.reserve(len(s))
	return b.Buffer.WriteString(s)
}

// WriteByte appends c.
func (b *Buffer) WriteByte(c byte) error {
	b.reserve(1)
	return b.Buffer.WriteByte(c)
}

func (b *Buffer) reserve(n int) {
	if b.Len()+n > MaxLen {
		panic(ErrTooLarge)
	}
}
