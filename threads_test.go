package main

import (
	"strings"
	"testing"

	"plaza/social"
	"plaza/storage/mongodb"
)

// TestAFullThreadSaysSo fills an embedded thread over the API, to the end.
func TestAFullThreadSaysSo(t *testing.T) {
	plaza := servePlaza(t, openMongoDB(t, mongoURI(t), mongodb.Options{Comments: mongodb.CommentsEmbedded}))
	ada := plaza.as(t, "ada")
	post := ada.status(t, "What do you think?", public)
	longest := strings.Repeat("\U0001F600", social.MaxTextLen)
	add := func() (id, code string) {
		t.Helper()
		var answer struct {
			AddComment struct {
				Comment    *struct{ ID string }
				UserErrors []struct {
					Code string
					Path []string
				}
			}
		}
		ada.do(t, `mutation($in: AddCommentInput!) { addComment(input: $in) { comment { id } userErrors { code path } } }`,
			map[string]any{"in": map[string]any{"postId": post, "text": longest}}, &answer)
		if len(answer.AddComment.UserErrors) == 0 {
			return answer.AddComment.Comment.ID, ""
		}
		mistake := answer.AddComment.UserErrors[0]
		if got := strings.Join(mistake.Path, "."); got != "input.postId" {
			t.Errorf("the error is at %q", got)
		}
		return "", mistake.Code
	}
	comment, code := add()
	for n := 1; code == ""; n++ {
		if n > 1000 {
			t.Fatal("it is never full")
		}
		_, code = add()
	}
	if code != "THREAD_FULL" {
		t.Errorf("got %s, want THREAD_FULL", code)
	}
	ada.mutate(t, "deleteComment", "", map[string]any{"commentId": comment})
	if _, code := add(); code != "" {
		t.Errorf("got %s after a comment has gone", code)
	}
}
