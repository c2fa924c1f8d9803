package resolvers

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unique"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

// sameView names the fields of the objects of a live update that depend on the viewer only through
// their view (network.Sighting.View): which of the people named by the post and the comment they
// are, and their relations to them. An update that selects only such fields is executed and encoded
// once for all subscribers with the same view.
//
// A field that is missing here is resolved for each subscriber. So a new field is safe, and a field
// belongs here only if it reads nothing by the viewer's id, names only the authors and the
// owner of the wall, and lists nothing that is filtered for the viewer.
var sameView = fieldSet(map[string]string{
	"NewsItemAdded":  "cursor event post",
	"IncomingAdded":  "cursor event post",
	"WallPostAdded":  "cursor event post",
	"CommentAdded":   "cursor event comment edge",
	"CommentEdge":    "cursor node",
	"CommentChanged": "event commentId comment",
	"PostChanged":    "event postId post",
	"Node":           "id",
	"Post":           samePost,
	"StatusPost":     samePost,
	"PhotoPost":      samePost + " url alt caption width height",
	"LinkPost":       samePost + " url title",
	"CheckinPost":    samePost + " place latitude longitude photo",
	"PollPost":       samePost + " question options closesAt isClosed votesCount viewerCanVote",
	"Picture":        "url alt width height",
	"PollOption":     "id index text votesCount",
	"ReactionCount":  "kind count",
	"Audience":       "kind",
	"ReplyPolicy":    "kind",
	"Comment": "id slug path depth author text createdAt editedAt isDeleted isHidden post repliesCount " +
		"viewerCanReply viewerCanEdit viewerCanDelete",
	"User": "id handle name bio avatarUrl createdAt followersCount followingCount " +
		"viewerFollows isFollowingViewer viewerIsMuting",
})

const samePost = "id author wallOwner audience text createdAt editedAt commentCount reactionCounts " +
	"viewerCanComment replyPolicy commentOrder viewerCanEdit viewerCanDelete"

type schemaField struct{ object, field string }

func fieldSet(objects map[string]string) map[schemaField]bool {
	set := map[schemaField]bool{}
	for object, fields := range objects {
		for field := range strings.FieldsSeq(fields) {
			set[schemaField{object, field}] = true
		}
	}
	return set
}

// sameSelection identifies what an operation selects: its document, its name and its variables.
// Equal ones are one string in memory.
type sameSelection struct{ text unique.Handle[string] }

// sharedSelection returns the selection of ctx's subscription, if viewers with the same view see
// the same of it; otherwise zero.
func sharedSelection(ctx context.Context) sameSelection {
	o, field := graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field
	if !looksTheSame(o.Doc, field.Selections) { // of all fields with the same response name
		return sameSelection{}
	}
	variables, err := json.Marshal(withoutArguments(o, field.Field))
	if err != nil {
		return sameSelection{}
	}
	return sameSelection{unique.Make(o.OperationName + "\x00" + string(variables) + "\x00" + o.RawQuery)}
}

// withoutArguments returns an operation's variables without those that are only arguments of the
// subscription: they choose its events, but the response to an event does not depend on them.
// Subscribers who begin at different cursors, or watch different posts, still select the same.
func withoutArguments(o *graphql.OperationContext, subscription *ast.Field) map[string]any {
	const definedAndUsed = 2
	rest := maps.Clone(o.Variables)
	for _, argument := range subscription.Arguments {
		if argument.Value.Kind == ast.Variable && countVariable(o.RawQuery, argument.Value.Raw) == definedAndUsed {
			delete(rest, argument.Value.Raw)
		}
	}
	return rest
}

// countVariable counts how often a document names a variable, its definition included.
func countVariable(document, name string) (n int) {
	tokens := lexer.New(&ast.Source{Input: document})
	for isName := false; ; {
		token, err := tokens.ReadToken()
		switch {
		case err != nil || token.Kind == lexer.EOF:
			return n
		case token.Kind == lexer.Comment:
			continue
		case isName && token.Value == name:
			n++
		}
		isName = token.Kind == lexer.Dollar
	}
}

// looksTheSame reports whether a selection and all fragments of its document have only fields of
// sameView. Fields that are skipped count, too.
func looksTheSame(doc *ast.QueryDocument, set ast.SelectionSet) bool {
	return isSameView(set) &&
		!slices.ContainsFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return !isSameView(f.SelectionSet) })
}

func isSameView(set ast.SelectionSet) bool {
	return !slices.ContainsFunc(set, func(selection ast.Selection) bool { return !isSameField(selection) })
}

func isSameField(selection ast.Selection) bool {
	switch s := selection.(type) {
	case *ast.Field:
		return s.Name == "__typename" || sameView[schemaField{s.ObjectDefinition.Name, s.Name}] && isSameView(s.SelectionSet)
	case *ast.InlineFragment:
		return isSameView(s.SelectionSet)
	}
	return true // fragments are examined separately
}
