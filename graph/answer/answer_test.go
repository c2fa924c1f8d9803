package answer

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// fields selects fields by their names, without aliases.
func fields(names ...string) ast.SelectionSet {
	var set ast.SelectionSet
	for _, name := range names {
		set = append(set, &ast.Field{Name: name, Alias: name})
	}
	return set
}

// userTypes are the types that a user satisfies.
var userTypes = []string{"User", "Node"}

func encoded(m graphql.Marshaler) string {
	var b strings.Builder
	m.MarshalGQL(&b)
	return b.String()
}

func constant(text string) func(context.Context) graphql.Marshaler {
	return func(context.Context) graphql.Marshaler { return graphql.MarshalString(text) }
}

// TestObject: fields are in the order of the selection, whatever is resolved first.
func TestObject(t *testing.T) {
	var selections Selections
	o := NewObject(selections.Of(&graphql.OperationContext{}, fields("a", "b", "c", "d"), userTypes))
	o.Concurrently(3, true, constant("4"))
	o.Set(1, true, graphql.MarshalString("2"))
	o.Concurrently(0, true, constant("1"))
	o.Set(2, false, graphql.Null)
	if got, want := encoded(o.Done(t.Context())), `{"a":"1","b":"2","c":null,"d":"4"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNothingSelected: all fields of an object may be skipped.
func TestNothingSelected(t *testing.T) {
	var selections Selections
	skipped := fields("a")
	yes := &ast.Argument{Name: "if", Value: &ast.Value{Kind: ast.BooleanValue, Raw: "true"}}
	skipped[0].(*ast.Field).Directives = ast.DirectiveList{{Name: "skip", Arguments: ast.ArgumentList{yes}}}
	o := NewObject(selections.Of(&graphql.OperationContext{}, skipped, userTypes))
	if got := encoded(o.Done(t.Context())); got != "{}" {
		t.Errorf("%s, want {}", got)
	}
}

// TestRequiredValues: an object without a required value is null, whether that is known immediately
// or later.
func TestRequiredValues(t *testing.T) {
	null := func(context.Context) graphql.Marshaler { return graphql.Null }
	for name, set := range map[string]func(*Object){
		"known":      func(o *Object) { o.Set(0, true, graphql.Null); o.Set(1, true, graphql.MarshalString("2")) },
		"resolved":   func(o *Object) { o.Concurrently(0, true, null); o.Set(1, true, graphql.MarshalString("2")) },
		"resolved 2": func(o *Object) { o.Concurrently(0, true, constant("1")); o.Concurrently(1, true, null) },
	} {
		var selections Selections
		o := NewObject(selections.Of(&graphql.OperationContext{}, fields("a", "b"), userTypes))
		if set(o); o.Done(t.Context()) != graphql.Null {
			t.Errorf("%s: %s, want null", name, encoded(o))
		}
	}
}

// TestSelections: two sets that begin with the same field and are equally long are not the same.
func TestSelections(t *testing.T) {
	var selections Selections
	op := &graphql.OperationContext{}
	names := func(set ast.SelectionSet, types []string) (names []string) {
		for _, field := range selections.Of(op, set, types).Fields {
			names = append(names, field.Name)
		}
		return names
	}
	first := fields("id")
	one, two := slices.Concat(first, fields("name")), slices.Concat(first, fields("bio"))
	onUsers := ast.SelectionSet{first[0], &ast.InlineFragment{TypeCondition: "User", SelectionSet: fields("handle")}}
	for range 2 { // the second time from memory
		for _, c := range []struct {
			set   ast.SelectionSet
			types []string
			want  []string
		}{
			{one, userTypes, []string{"id", "name"}},
			{two, userTypes, []string{"id", "bio"}},
			{onUsers, userTypes, []string{"id", "handle"}},
			{onUsers, []string{"Circle", "Node"}, []string{"id"}},
		} {
			if got := names(c.set, c.types); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		}
	}
}

// TestResolve: an error and a panic are null, with an error at the field's path.
func TestResolve(t *testing.T) {
	for name, resolve := range map[string]func(context.Context) (string, error){
		"error": func(context.Context) (string, error) { return "unused", errors.New("failed") },
		"panic": func(context.Context) (string, error) { panic("failed") },
	} {
		op := &graphql.OperationContext{RecoverFunc: func(_ context.Context, err any) error { return gqlerror.Errorf("%v", err) }}
		ctx := graphql.WithResponseContext(t.Context(), graphql.DefaultErrorPresenter, op.RecoverFunc)
		field := &graphql.FieldContext{Object: "User", Field: graphql.CollectedField{Field: &ast.Field{Name: "name", Alias: "called"}}}
		got := Resolve(ctx, op, field, resolve, func(_ context.Context, _ ast.SelectionSet, text string) graphql.Marshaler {
			return graphql.MarshalString(text)
		})
		errs := graphql.GetErrors(ctx)
		if got != graphql.Null || len(errs) != 1 || errs[0].Message != "failed" || errs[0].Path.String() != "called" {
			t.Errorf("%s: %s with %v", name, encoded(got), errs)
		}
	}
}

// TestEncode: a panic in the middle of an answer leaves no half of it, and an error in the
// response.
func TestEncode(t *testing.T) {
	op := &graphql.OperationContext{RecoverFunc: func(_ context.Context, err any) error { return gqlerror.Errorf("%v", err) }}
	ctx := graphql.WithResponseContext(t.Context(), graphql.DefaultErrorPresenter, op.RecoverFunc)
	var b Buffer
	b.Encode(ctx, op, graphql.WriterFunc(func(w io.Writer) {
		for range MaxLen/(1<<20) + 1 {
			write(w, strings.Repeat("a", 1<<20))
		}
	}))
	if errs := graphql.GetErrors(ctx); b.String() != "null" || len(errs) != 1 || errs[0].Message != ErrTooLarge.Error() {
		t.Errorf("%.100s with %v", b.String(), errs)
	}
}
