package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/graph/relay"
	"plaza/internal/front"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/export"
	"plaza/social/network"
	"plaza/storage"
	"plaza/transport/execution"
)

// wholeExportPath is the path of wholeExport.
const wholeExportPath = "/export"

// wholeExportCharge is the charge for each page: as much as for a page of posts in GraphQL.
var wholeExportCharge = execution.Charge{Cost: 1_000}

// wholeExport is a handler: it answers a GET of a user who has signed in with all that Plaza has
// stored about the user, as JSON Lines. Only the last line of a complete answer has the type end.
// If a limit refuses a page that is not the first, the export waits.
type wholeExport struct {
	*exports

	records *export.Service
	ending  *atomic.Bool // the server is shutting down
}

// ServeHTTP implements http.Handler. 400: after is not a cursor of the user's export; 401: signed
// out; 403: an access token, which may not read everything; 429: a rate limit, or maxExports; 503:
// the database does not respond.
func (e *wholeExport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	ctx, err := e.authenticate(r.Context(), r.Header.Get("Authorization"))
	user := gate.UserOf(ctx)
	if err != nil || user.IsZero() {
		refuseSignedOut(w, err)
		return
	}
	if gate.SessionOf(ctx).Grant != nil {
		http.Error(w, "An access token is for programs, and may not read everything: sign in.", http.StatusForbidden)
		return
	}
	after, err := e.after(user, r)
	if err != nil {
		http.Error(w, string(fault.CodeInvalid)+": after: this is not a cursor of your export. Leave it out to begin at the start.", http.StatusBadRequest)
		return
	}
	if !e.begin(ctx, w, wholeExportCharge) {
		return
	}
	defer e.end(ctx)
	e.answer(ctx, w, r, after)
}

// after parses the cursor of a request. Error: INVALID.
func (e *wholeExport) after(user social.UserID, r *http.Request) (export.Position, error) {
	query := r.URL.Query()
	if !query.Has("after") {
		return export.Position{}, nil
	}
	cursor := query.Get("after")
	key, err := exportCursors(user).Decode("after", &cursor)
	if err != nil {
		return export.Position{}, err
	}
	return e.records.At(key)
}

// errDraining ends an export because its server is shutting down.
var errDraining = errors.New("the server is shutting down")

// answer writes the lines. An answer that is not complete has no line of type end; unless the
// server is shutting down, its connection is cut, too.
func (e *wholeExport) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, after export.Position) {
	w.Header().Set("Content-Type", exportType(r.Header.Get("Accept"))+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="plaza.jsonl"`)
	control, first := http.NewResponseController(w), true
	before := func() error {
		_ = control.SetWriteDeadline(time.Now().Add(front.WriteTimeout)) // a deadline for each page; recorders in tests have none
		if first {
			first = false
			return nil
		}
		if e.ending.Load() {
			return errDraining
		}
		return e.next(ctx, r.Header.Get("Authorization"), wholeExportCharge)
	}
	out := exportWriter{Writer: bufio.NewWriter(w), flush: func() { _ = control.Flush() }, before: before}
	err := out.write(ctx, e.records, gate.UserOf(ctx), after)
	switch {
	case err == nil || errors.Is(err, errDraining):
		return
	case ctx.Err() == nil && !isRefused(err):
		slog.ErrorContext(ctx, "an export was cut off", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// exportType chooses between the two names of the same format.
func exportType(accept string) string {
	if strings.Contains(accept, "application/x-ndjson") && !strings.Contains(accept, "application/jsonl") {
		return "application/x-ndjson"
	}
	return "application/jsonl"
}

// exportCursors returns the cursors of a user's export.
func exportCursors(user social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindExport, "export", user.String())
}

// exportWriter writes an export page by page, each as soon as it is read.
type exportWriter struct {
	*bufio.Writer

	flush  func()
	before func() error          // an error ends the export before a page
	shown  func(done, lists int) // may be nil
}

func (out *exportWriter) write(ctx context.Context, records *export.Service, user social.UserID, after export.Position) error {
	cursors := exportCursors(user)
	for {
		if err := out.before(); err != nil {
			return err
		}
		page, err := records.Read(ctx, user, after)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			if err := out.line(r, cursors.Encode(r.Position.Key())); err != nil {
				return err
			}
		}
		if !page.More {
			_, _ = out.WriteString(`{"type":"end"}` + "\n") // Flush returns the error
		}
		if err := out.Flush(); err != nil {
			return err
		}
		out.flush()
		if !page.More {
			return nil
		}
		after = page.Next
		if out.shown != nil {
			out.shown(records.Done(after), records.Lists())
		}
	}
}

// line writes a record: its type and cursor, then its own fields.
func (out *exportWriter) line(r export.Record, cursor string) error {
	var fields strings.Builder
	encoder := json.NewEncoder(&fields)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.Value); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, `{"type":%q,"cursor":%q,%s`, r.Type, cursor, strings.TrimPrefix(fields.String(), "{"))
	return err
}

// adsSeen tells exports which ads a user has seen.
type adsSeen struct{ server *adserver.Service }

// Sightings implements export.Ads.
func (a adsSeen) Sightings(ctx context.Context, user string) ([]export.Sighting, error) {
	found, err := a.server.SeenBy(ctx, user)
	all := make([]export.Sighting, len(found))
	for i, s := range found {
		all[i] = export.Sighting{ChoiceID: s.Choice.String(), At: s.At.UTC()}
		switch {
		case !s.Unit.IsZero():
			all[i].AdID = s.Unit.String()
		case !s.Campaign.IsZero():
			all[i].CampaignID = s.Campaign.String()
		case !s.Advertiser.IsZero():
			all[i].AdvertiserID = s.Advertiser.String()
		}
	}
	return all, err
}

// ExportUser writes all that a store has about a user, as JSON Lines, also about one who is banned. It calls shown (may be nil)
// after each page with how many lists are done.
func ExportUser(ctx context.Context, out io.Writer, st storage.Store, handle string, shown func(done, lists int)) error {
	user, err := userNamed(ctx, st, handle)
	if err != nil {
		return err
	}
	whole, now := export.EvenIfAway(st, user.ID), storage.TimeOf(st)
	records := export.New(whole, network.New(whole, network.Options{Now: now}), adsSeen{adserver.New(st.Ads(), adserver.Options{Now: now})})
	w := exportWriter{Writer: bufio.NewWriter(out), flush: func() {}, before: ctx.Err, shown: shown}
	return w.write(ctx, records, user.ID, export.Position{})
}
