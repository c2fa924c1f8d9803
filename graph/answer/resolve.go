package answer

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Resolve resolves a field: it is what resolve returns, as marshal encodes it. After an error or a
// panic it is null, and the error is in the response.
func Resolve[T any](
	ctx context.Context, op *graphql.OperationContext, field *graphql.FieldContext,
	resolve func(context.Context) (T, error),
	marshal func(context.Context, ast.SelectionSet, T) graphql.Marshaler,
) (answer graphql.Marshaler) {
	ctx = graphql.WithFieldContext(ctx, field)
	defer func() {
		if r := recover(); r != nil {
			op.Error(ctx, op.Recover(ctx, r))
			answer = graphql.Null
		}
	}()
	value, err := resolve(ctx)
	if err != nil {
		op.Error(ctx, err)
		return graphql.Null
	}
	return marshal(ctx, field.Field.Selections, value)
}

// ResolveStream resolves the field of a subscription: the function that it returns waits for the
// next event. It returns nil after the last one.
func ResolveStream[T any](
	ctx context.Context, op *graphql.OperationContext, field *graphql.FieldContext,
	resolve func(context.Context) (<-chan T, error),
	marshal func(context.Context, ast.SelectionSet, T) graphql.Marshaler,
) (next func(context.Context) graphql.Marshaler) {
	ctx = graphql.WithFieldContext(ctx, field)
	defer func() {
		if r := recover(); r != nil {
			op.Error(ctx, op.Recover(ctx, r))
			next = nil
		}
	}()
	events, err := resolve(ctx)
	if err != nil {
		op.Error(ctx, err)
		return nil
	}
	return func(ctx context.Context) graphql.Marshaler {
		select {
		case event, ok := <-events:
			if !ok {
				return nil
			}
			return graphql.WriterFunc(func(w io.Writer) {
				write(w, "{")
				graphql.MarshalString(field.Field.Alias).MarshalGQL(w)
				write(w, ":")
				marshal(ctx, field.Field.Selections, event).MarshalGQL(w)
				write(w, "}")
			})
		case <-ctx.Done():
			return nil
		}
	}
}
