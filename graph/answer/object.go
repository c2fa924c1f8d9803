package answer

import (
	"context"
	"io"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// Object is an object of an answer: the values of its selected fields.
type Object struct {
	selection *Selection
	Values    []graphql.Marshaler // of Selection.Fields
	isInvalid bool                // a required value is null
	waiting   []waiting
}

// waiting is a field that still has to be resolved.
type waiting struct {
	i        int
	required bool
	resolve  func(context.Context) graphql.Marshaler
}

// NewObject returns an object without values.
func NewObject(selection *Selection) *Object {
	return &Object{selection: selection, Values: make([]graphql.Marshaler, len(selection.Fields))}
}

// Set sets the value of the field i. An object of which a required value is null is null.
func (o *Object) Set(i int, required bool, value graphql.Marshaler) {
	o.Values[i] = value
	if required && value == graphql.Null {
		o.isInvalid = true
	}
}

// Concurrently lets Done resolve the field i, at the same time as other ones.
func (o *Object) Concurrently(i int, required bool, resolve func(context.Context) graphql.Marshaler) {
	o.waiting = append(o.waiting, waiting{i, required, resolve})
}

// Done resolves what is left and returns the object, or null.
func (o *Object) Done(ctx context.Context) graphql.Marshaler {
	o.resolve(ctx)
	for _, w := range o.waiting {
		o.Set(w.i, w.required, o.Values[w.i])
	}
	if o.isInvalid {
		return graphql.Null
	}
	return o
}

func (o *Object) resolve(ctx context.Context) {
	if len(o.waiting) == 0 {
		return
	}
	var others sync.WaitGroup
	for _, w := range o.waiting[1:] {
		others.Go(func() { o.Values[w.i] = w.resolve(ctx) })
	}
	first := o.waiting[0]
	o.Values[first.i] = first.resolve(ctx)
	others.Wait()
}

// MarshalGQL implements graphql.Marshaler.
func (o *Object) MarshalGQL(w io.Writer) {
	write(w, "{")
	separator := ""
	for i, name := range o.selection.names {
		if name == "" {
			continue
		}
		write(w, separator)
		write(w, name)
		o.Values[i].MarshalGQL(w)
		separator = ","
	}
	write(w, "}")
}

// write writes into a Buffer, which does not fail.
func write(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
