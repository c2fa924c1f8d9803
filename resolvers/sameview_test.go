package resolvers

import (
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"plaza/graph/generated"
)

// TestSameViewNamesFields: every entry is a field of the schema. One with arguments or with a list
// of things that are filtered for the viewer would not be the same for all, except the entry of a
// list, whose argument changes only its cursor, and is a part of the selection.
func TestSameViewNamesFields(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	filtered := []string{"Comment", "Post", "StatusPost", "User", "Circle", "PostVersion", "UserProperty"}
	for entry := range sameView {
		object := schema.Types[entry.object]
		if object == nil || object.Fields.ForName(entry.field) == nil {
			t.Errorf("%s.%s is not in the schema", entry.object, entry.field)
			continue
		}
		field := object.Fields.ForName(entry.field)
		if len(field.Arguments) > 0 && !strings.HasSuffix(field.Type.Name(), "Edge") || strings.HasSuffix(field.Type.Name(), "Connection") ||
			field.Type.Elem != nil && slices.Contains(filtered, field.Type.Name()) {
			t.Errorf("%s.%s can't be the same for all who have the same view", entry.object, entry.field)
		}
		if leaf := schema.Types[field.Type.Name()]; leaf.IsCompositeType() && !hasFields(field.Type.Name()) {
			t.Errorf("%s.%s is a %s, of which no field is the same", entry.object, entry.field, field.Type.Name())
		}
	}
}

func hasFields(object string) bool {
	for entry := range sameView {
		if entry.object == object {
			return true
		}
	}
	return false
}

func TestSelectionsThatAreShared(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		`subscription { newsItemAdded { cursor event post { id text author { handle viewerFollows } wallOwner { name } } } }`:  true,
		`subscription { newsItemAdded { post { __typename ... on PollPost { question options { text votesCount } } } } }`:      true,
		`subscription { newsItemAdded { post { ...P } } } fragment P on Post { id audience { kind } }`:                         true,
		`subscription { newsItemAdded { post { ...P } } } fragment P on Post { id audience { kind circles { id } } }`:          false,
		`subscription { newsItemAdded { post { id viewerReaction } } }`:                                                        false,
		`subscription { newsItemAdded { post { id latestComments { id } } } }`:                                                 false,
		`subscription { newsItemAdded { post { author { viewerCircles { id } } } } }`:                                          false,
		`subscription { newsItemAdded { post { ... on PollPost { viewerVote } } } }`:                                           false,
		`subscription { newsItemAdded { post { viewerIsMutingThread } } }`:                                                     false,
		`subscription { commentAdded(postId: "x") { comment { id text viewerCanReply post { commentCount } } } }`:              true,
		`subscription { commentAdded(postId: "x") { edge(order: NEWEST) { cursor node { id text } } } }`:                       true,
		`subscription { commentAdded(postId: "x") { edge { node { parent { id } } } } }`:                                       false,
		`subscription { postChanged(postIds: ["x"]) { event postId post { id text commentCount reactionCounts { count } } } }`: true,
		`subscription { commentChanged(postId: "x") { event commentId comment { text isDeleted } } }`:                          true,
		`subscription { incomingAdded { cursor event post { id } } }`:                                                          true,
		`subscription { wallPostAdded(userId: "x") { cursor event post { id } } }`:                                             true,
		`subscription { postChanged(postIds: ["x"]) { post { viewerReaction } } }`:                                             false,
		`subscription { commentAdded(postId: "x") { comment { ancestors { id } } } }`:                                          false,
		`subscription { commentAdded(postId: "x") { comment { parent { id } } } }`:                                             false,
		`subscription { commentAdded(postId: "x") { comment { author { wall { nodes { id } } } } } }`:                          false,
		`subscription { commentAdded(postId: "x") { comment { id parent @skip(if: true) { id } } } }`:                          false,
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatal(err)
		}
		schema := generated.NewExecutableSchema(generated.Config{}).Schema()
		if errs := validator.ValidateWithRules(schema, doc, rules.NewDefaultRules()); len(errs) > 0 {
			t.Fatalf("%s: %v", query, errs)
		}
		root, _ := doc.Operations[0].SelectionSet[0].(*ast.Field)
		if got := looksTheSame(doc, root.SelectionSet); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// TestSubscribersWithOtherArgumentsSelectTheSame: a variable that is an argument of the
// subscription is not a part of what it selects, unless it is used elsewhere, too.
func TestSubscribersWithOtherArgumentsSelectTheSame(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		`subscription($at: String, $x: String) { newsItemAdded(after: $at) { cursor } }`:                                                         true,
		`subscription($at: String, $atAll: Boolean!) { newsItemAdded(after: $at) { cursor @skip(if: $atAll) } }`:                                 true,
		`subscription($at: [ID!]!, $x: String) { postChanged(postIds: $at) { event } }`:                                                          true,
		`subscription($at: [ID!]!) { postChanged(postIds: $at) { event } two: postChanged(postIds: $at) { event } }`:                             false,
		`subscription($x: String) { newsItemAdded(after: "x") { cursor } }`:                                                                      false,
		`subscription($at: String) { newsItemAdded(after: $at) { post { author { posts(first: 1, after: $at) { nodes { id } } } } } }`:           false,
		`subscription($at: String) { newsItemAdded(after: $at) { cursor } } # $at`:                                                               true,
		"subscription($at: Boolean!) { postChanged(postIds: [\"x\"], current: $at) { event @include(if: $ at) } }":                               false,
		"subscription($at: Boolean!) { postChanged(postIds: [\"x\"], current: $at) { event @include(if: $,# $\nat) } }":                          false,
		`subscription($at: Boolean!) { postChanged(postIds: ["x"], current: $at) { ... @skip(if: $ at) { event } } }`:                            false,
		`subscription($at: Boolean!) { postChanged(postIds: ["x"], current: $at) { ...F @skip(if: $ at) } } fragment F on PostChanged { event }`: false,
		`subscription($at: Boolean!) { postChanged(postIds: ["x"], current: $at) { ...F } } fragment F on PostChanged { event @skip(if: $ at) }`: false,
		`subscription($at: Boolean!) { ...F } fragment F on Subscription { postChanged(postIds: ["x"], current: $at) { event } }`:                true,
		`subscription($at: Boolean!) { postChanged(postIds: ["x"], current: $at) @skip(if: $ at) { event } }`:                                    false,
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatal(err)
		}
		root, isField := doc.Operations[0].SelectionSet[0].(*ast.Field)
		if !isField {
			root, _ = doc.Fragments[0].SelectionSet[0].(*ast.Field)
		}
		o := &graphql.OperationContext{RawQuery: query, Doc: doc, Operation: doc.Operations[0], Variables: map[string]any{"at": "cursor", "x": "y"}}
		rest := withoutArguments(o, root)
		if _, kept := rest["at"]; kept == want || rest["x"] != "y" || len(o.Variables) != 2 {
			t.Errorf("%s: the selection has the variables %v of %v", query, rest, o.Variables)
		}
	}
}
