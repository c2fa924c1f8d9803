package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage/storagetest"
)

// TestCommandsTakeTheTimeFromTheStore: what a command stores, compares and shows has the time of the
// database, whatever the clock of the machine where it runs.
func TestCommandsTakeTheTimeFromTheStore(t *testing.T) {
	t.Parallel()
	st := storagetest.Timed{Store: plazatest.Engines[0].Open(t), At: time.Date(2021, 1, 1, 12, 0, 0, 0, time.UTC)}
	options := plazatest.Cheap
	options.Now = st.Now
	service := network.New(st, options)
	if _, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "analytical engine"}); err != nil {
		t.Fatal(err)
	}
	local := &localServer{store: st}
	for _, step := range []struct{ args, want string }{
		{`"user", "suspend", "ada", "--for", "1h", "--reason", "Adverts"`, "ada is suspended until 2021-01-01T13:00:00Z."},
		{`"user", "list", "--json"`, `"standing":"SUSPENDED"`},
		{`"user", "reinstate", "ada", "--reason", "Adverts"`, "ada is reinstated."},
		{`"user", "suspend", "ada", "--until", "2021-01-01T12:30:00Z", "--reason", "Adverts"`, "ada is suspended until 2021-01-01T12:30:00Z."},
		{`"invitation", "create", "--days", "2"`, "until 2021-01-03 12:00 UTC."},
		{`"invitation", "list"`, "2021-01-03 12:00 UTC"},
		{`"user", "export", "ada"`, `{"type":"session",`},
	} {
		answer := httptest.NewRecorder()
		local.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"args": [`+step.args+`]}`)))
		var out strings.Builder
		if err := readLocalAnswer(answer.Body, &out); err != nil || !strings.Contains(out.String(), step.want) {
			t.Errorf("%s: %v, %q, want %q", step.args, err, out.String(), step.want)
		}
	}
}
