package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"plaza/internal/front"
	"plaza/paging"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/network"
	"plaza/transport/execution"
)

// ExportComments writes all comments of a user as JSON Lines, newest first, including comments on
// posts that the user can no longer see.
func ExportComments(ctx context.Context, out io.Writer, st social.Store, handle string) error {
	user, err := userNamed(ctx, st, handle)
	if err != nil {
		return err
	}
	return writeComments(out, func(p social.Page) (social.Slice[*social.Comment], error) {
		list := social.List[social.UserID]{Of: user.ID, Page: p.Beyond()}
		found, err := st.CommentsBy(ctx, []social.List[social.UserID]{list})
		return paging.Cut(found[list], p, func(c *social.Comment) social.Key { return social.Key(c.ID.Bytes()) }), err
	})
}

// userNamed reads the user with a handle, with or without @, even if the user is away.
func userNamed(ctx context.Context, st social.Store, handle string) (*social.User, error) {
	handle = strings.ToLower(strings.TrimPrefix(handle, "@"))
	users, err := st.UsersByHandle(ctx, []string{handle})
	if err != nil {
		return nil, err
	}
	if users[handle] == nil {
		return nil, fmt.Errorf("there is no user %q", handle)
	}
	return users[handle], nil
}

// exportPath is the path of commentExport.
const exportPath = "/export/comments"

// commentExport is a handler: it answers a GET of a signed-in user with all their comments that
// they can see, newest first, as JSON Lines. It answers 401 if the client is not signed in, 403 to
// an access token without the scope READ_FEED, and 429 if a rate limit refuses the first page, or
// for more than maxExports. If a limit refuses a later page, the export waits. If an error occurs
// later, or the session ends, the connection is cut, so that clients do not take the answer for a
// complete one.
type commentExport struct {
	*exports

	service *network.Service
}

// exportCharge is the charge for a page of an export: the same as for the same fields of
// User.comments.
var exportCharge = execution.Charge{Cost: 8 * exportPage}

// ServeHTTP implements http.Handler.
func (e *commentExport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	ctx, err := e.authenticate(r.Context(), r.Header.Get("Authorization"))
	if err != nil || gate.UserOf(ctx).IsZero() {
		refuseSignedOut(w, err)
		return
	}
	if !gate.SessionOf(ctx).May(social.ScopeReadFeed) {
		http.Error(w, "This access token lacks the scope READ_FEED.", http.StatusForbidden)
		return
	}
	if !e.begin(ctx, w, exportCharge) {
		return
	}
	defer e.end(ctx)
	if err := e.write(ctx, w, r.Header.Get("Authorization")); err != nil {
		if ctx.Err() == nil {
			slog.ErrorContext(ctx, "an export of comments was cut off", "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// write writes all pages. The first of them was charged already.
func (e *commentExport) write(ctx context.Context, w http.ResponseWriter, authorization string) error {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="comments.jsonl"`)
	control, viewer := http.NewResponseController(w), gate.UserOf(ctx)
	return writeComments(w, func(p social.Page) (social.Slice[*social.Comment], error) {
		if p.After != "" {
			if err := e.next(ctx, authorization, exportCharge); err != nil {
				return social.Slice[*social.Comment]{}, err
			}
		}
		_ = control.SetWriteDeadline(time.Now().Add(front.WriteTimeout)) // a deadline for each page; recorders in tests have none
		list := social.List[social.UserID]{Of: viewer, Page: p}
		found, _, err := e.service.Viewer(viewer).CommentsBy(ctx, []social.List[social.UserID]{list})
		return found[list], err
	})
}

// exportPage is how many comments one query reads, with the posts around them.
const exportPage = 100

// exportedComment is one line.
type exportedComment struct {
	ID        string     `json:"id"`
	PostID    string     `json:"postId"`
	ParentID  string     `json:"parentId,omitempty"`
	Slug      string     `json:"slug"`
	Path      string     `json:"path"`
	CreatedAt time.Time  `json:"createdAt"`
	EditedAt  *time.Time `json:"editedAt,omitempty"`
	Text      string     `json:"text"`
}

// writeComments writes page by page, each as soon as it is read.
func writeComments(out io.Writer, read func(social.Page) (social.Slice[*social.Comment], error)) error {
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	err := social.EachEntry(social.Page{Limit: exportPage}, read, func(c *social.Comment) error { return encoder.Encode(newExportedComment(c)) })
	if err != nil {
		return err
	}
	return buffered.Flush()
}

func newExportedComment(c *social.Comment) exportedComment {
	exported := exportedComment{
		ID: c.ID.String(), PostID: c.Post.String(), Slug: c.Slug, Path: c.Path, CreatedAt: c.CreatedAt(), Text: c.Text,
	}
	if !c.Parent.IsZero() {
		exported.ParentID = c.Parent.String()
	}
	if !c.EditedAt.IsZero() {
		exported.EditedAt = &c.EditedAt
	}
	return exported
}
