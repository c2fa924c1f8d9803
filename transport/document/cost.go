package document

import (
	"context"
	"encoding/json"
	"math"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Cost is an upper bound of what an operation has to compute, which is known before it runs. Every
// answer contains it as extensions.cost, if it could be computed:
//
//	{"requestedQueryCost": 1242, "maximumQueryCost": 50000}
//
// Each selected field costs 1, and the fields inside a list count once for each item. The number of
// items in a list comes from its first, last or count argument (the largest, if there are several)
// or from the length of ids. On a field that is not itself a list, such as a connection, these
// arguments determine the size of the lists directly below it (edges, nodes). Nested lists
// multiply. Each object of a list costs at least 1, and so does each entry of a connection,
// whatever is selected of them, because all of them are read. __typename and fields that @skip or
// @include leave out are free; __schema costs 2,500 and __type 250, whatever is selected in them.
// Limits.Reads names fields that cost more. Fields that several fragments repeat are counted each
// time.
type Cost struct {
	// Requested is the operation's cost. It is at most 2,147,483,647, even if the operation costs
	// more.
	Requested int `json:"requestedQueryCost"`
	// Maximum is Limits.MaxCost: a higher Requested is rejected as QUERY_TOO_COMPLEX.
	Maximum int `json:"maximumQueryCost"`
	// Beginning is what the beginning of a subscription costs in addition, because it reads before it
	// sends anything: 1 for each of the postIds that it watches, or a page behind a cursor.
	Beginning int `json:"-"`
}

// CostOf returns the requested cost of the operation that ctx belongs to.
func CostOf(ctx context.Context) int {
	cost, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(costExtension).(int)
	return cost
}

// costExtension is the key of the cost in an operation's statistics.
const costExtension = "plaza.cost"

const (
	maxCost              = math.MaxInt32 // products of two stay within int64
	schemaIntrospections = 2500
	typeIntrospections   = 250
)

// costOf computes the requested cost of one operation of a validated document.
func (l Limits) costOf(operation *ast.OperationDefinition, variables map[string]any) Cost {
	c := coster{limits: l, variables: variables, fragments: map[pagedFragment]int64{}}
	return Cost{Requested: int(c.selections(operation.SelectionSet, 0)), Maximum: l.MaxCost, Beginning: int(c.beginning)}
}

// coster computes the cost of each fragment once for each page size with which it is used.
type coster struct {
	limits    Limits
	variables map[string]any
	fragments map[pagedFragment]int64
	beginning int64
}

type pagedFragment struct {
	name string
	page int64
}

// selections computes the cost of a selection set. page is the size that the parent's arguments
// give to the lists directly in it, or 0.
func (c *coster) selections(set ast.SelectionSet, page int64) int64 {
	var total int64
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if c.included(selection.Directives) {
				total = costAdd(total, c.field(selection, page))
			}
		case *ast.InlineFragment:
			if c.included(selection.Directives) {
				total = costAdd(total, c.selections(selection.SelectionSet, page))
			}
		case *ast.FragmentSpread:
			if c.included(selection.Directives) && selection.Definition != nil {
				total = costAdd(total, c.fragment(selection.Definition, page))
			}
		}
	}
	return total
}

func (c *coster) fragment(definition *ast.FragmentDefinition, page int64) int64 {
	key := pagedFragment{definition.Name, page}
	if cost, ok := c.fragments[key]; ok {
		return cost
	}
	cost := c.selections(definition.SelectionSet, page)
	c.fragments[key] = cost
	return cost
}

func (c *coster) field(field *ast.Field, page int64) int64 {
	switch field.Name {
	case "__typename":
		return 0
	case "__schema":
		return schemaIntrospections
	case "__type":
		return typeIntrospections
	}
	if field.ObjectDefinition != nil && field.ObjectDefinition.Name == subscriptionType {
		c.beginning = costAdd(c.beginning, c.beginningOf(field))
	}
	return costAdd(c.reads(field), c.returns(field, page))
}

// reads computes what a field costs whatever it returns.
func (c *coster) reads(field *ast.Field) int64 {
	if field.ObjectDefinition == nil {
		return 0
	}
	return int64(c.limits.Reads[field.ObjectDefinition.Name+"."+field.Name])
}

// returns computes what a field costs because of what it returns.
func (c *coster) returns(field *ast.Field, page int64) int64 {
	size, sized := c.size(field)
	if field.Definition == nil || field.Definition.Type.Elem == nil { // one object, perhaps a connection
		return costAdd(1, max(size, c.selections(field.SelectionSet, size))) // a page is read even if only its pageInfo is selected
	}
	var least int64 // for each item
	if len(field.SelectionSet) > 0 {
		least = 1 // objects are read, even for their __typename alone
	}
	switch {
	case sized:
	case page > 0:
		size = page
	default:
		size = int64(c.limits.DefaultListSize)
	}
	return costAdd(1, costMultiply(size, max(least, c.selections(field.SelectionSet, 0))))
}

// size reads the arguments that determine how many items a field returns.
func (c *coster) size(field *ast.Field) (size int64, sized bool) {
	if field.Definition == nil {
		return 0, false
	}
	given := false
	for _, definition := range field.Definition.Arguments {
		if !isSizeArgument(definition) {
			continue
		}
		sized = true
		if n, ok := itemCount(c.argument(field, definition)); ok {
			size, given = max(size, n), true
		}
	}
	if sized && (!given || size < 1) {
		size = int64(c.limits.DefaultPageSize)
	}
	return min(size, int64(c.limits.MaxPageSize)), sized
}

// subscriptionType is the name of the type that subscriptions select from.
const subscriptionType = "Subscription"

// beginningOf computes what a field of a subscription reads when it begins.
func (c *coster) beginningOf(field *ast.Field) (entries int64) {
	for _, definition := range field.Definition.Arguments {
		value := c.argument(field, definition)
		switch n, ok := itemCount(value); {
		case !ok: // not given
		case definition.Name == "postIds":
			entries += min(n, int64(c.limits.MaxPageSize))
		case definition.Name == "after":
			entries += int64(c.limits.DefaultPageSize)
		}
	}
	return entries
}

func isSizeArgument(definition *ast.ArgumentDefinition) bool {
	switch definition.Name {
	case "first", "last", "count":
		return definition.Type.NamedType == "Int"
	case "ids":
		return definition.Type.Elem != nil
	}
	return false
}

// argument returns an argument's value: from the query, its variables, or the schema's default.
func (c *coster) argument(field *ast.Field, definition *ast.ArgumentDefinition) any {
	literal := definition.DefaultValue
	if argument := field.Arguments.ForName(definition.Name); argument != nil {
		if argument.Value.Kind != ast.Variable {
			literal = argument.Value
		} else if value, ok := c.variables[argument.Value.Raw]; ok {
			return value
		}
	}
	if literal == nil {
		return nil
	}
	if literal.Kind == ast.ListValue { // its items may be variables, and only their number counts
		return len(literal.Children)
	}
	value, err := literal.Value(c.variables)
	if err != nil {
		return nil
	}
	return value
}

// itemCount reads a number, or the length of a list. ok is false for null and for anything else.
func itemCount(value any) (n int64, ok bool) {
	switch value := value.(type) {
	case int:
		return int64(value), true
	case int64:
		return value, true
	case json.Number:
		n, err := value.Int64()
		return n, err == nil
	case string: // a single id is a list of one
		return 1, true
	case []any:
		return int64(len(value)), true
	}
	return 0, false
}

// included evaluates @skip and @include.
func (c *coster) included(directives ast.DirectiveList) bool {
	if len(directives) == 0 {
		return true
	}
	return !c.condition(directives, "skip", false) && c.condition(directives, "include", true)
}

func (c *coster) condition(directives ast.DirectiveList, name string, absent bool) bool {
	directive := directives.ForName(name)
	if directive == nil {
		return absent
	}
	argument := directive.Arguments.ForName("if")
	if argument == nil {
		return absent
	}
	value, err := argument.Value.Value(c.variables)
	condition, ok := value.(bool)
	if err != nil || !ok {
		return absent
	}
	return condition
}

func costAdd(a, b int64) int64 { return min(a+b, maxCost) }

func costMultiply(a, b int64) int64 { return min(a*b, maxCost) }
