package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestDeleteUserCommand deletes a user from the command line. The user must exist, and the command
// asks for confirmation.
func TestDeleteUserCommand(t *testing.T) {
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		st := plazatest.NewResting(e.Open(t))
		plaza := plazatest.Serve(t, st)
		ada, ben := plaza.As(t, "ada"), plaza.As(t, "ben")
		ada.Follow(t, "ben")
		ben.Status(t, "hello", plazatest.Public)
		close(st.Rest) // the server leaves the work to the command
		var out strings.Builder
		common := &commonFlags{console: console{out: &out}}
		for command, want := range map[*deleteUserCommand]string{
			{Handle: "ben"}:                "pass --yes",
			{Handle: "unknown", Yes: true}: "There is no such user.",
			{Handle: "!", Yes: true}:       "There is no such user.",
		} {
			if err := command.delete(t.Context(), common, st.Store); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
				t.Errorf("%+v: %v, %q, want %q", command, err, out.String(), want)
			}
		}
		if err := (&deleteUserCommand{Handle: "@Ben", Yes: true}).delete(t.Context(), common, st.Store); err != nil {
			t.Fatal(err)
		}
		if want := "ben is deleted: the account is hidden, and the handle can't be registered again for 30 days.\nAll data of the account has been removed.\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		if answer := ada.Raw(t, `{ viewer { user { followingCount } news { nodes { id } } } }`); strings.Contains(answer, "post_") || !strings.Contains(answer, `"followingCount": 0`) {
			t.Errorf("what is left: %s", answer)
		}
	})
}
