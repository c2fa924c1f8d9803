package main

import (
	"path/filepath"
	"testing"

	"plaza/social"
	"plaza/storage/sqlite"
)

func TestRightsCommands(t *testing.T) {
	data := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	service := social.New(st, social.Options{})
	ada, _, err := service.SignUp(t.Context(), social.SignUpInput{Handle: "ada", Name: "Ada", Password: "analytical engine"})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		out  string
		err  string
	}{
		{[]string{"revoke", "admin", "ada"}, "ada has not had the right admin.\n", ""},
		{[]string{"grant", "admin", "ada"}, "ada has the right admin now.\n", ""},
		{[]string{"grant", "admin", "Ada"}, "Ada has had the right admin already.\n", ""},
		{[]string{"grant", "ads:manage", "ada"}, "ada has the right ads:manage now.\n", ""},
		{[]string{"revoke", "admin", "ada"}, "ada has no more the right admin.\n", ""},
		{[]string{"grant", "admin", "bob"}, "", "plaza: There is no such user.\n"},
		{[]string{"grant", "root", "ada"}, "", "plaza: There is no right \"root\": choose admin or ads:manage.\n"},
	} {
		command, stdout, stderr := plazaCommand(t.Context(), data, c.args...)
		err := command.Run()
		if stdout.String() != c.out || stderr.String() != c.err || (err == nil) != (c.err == "") {
			t.Errorf("plaza %q: %v, says %q and %q, want %q and %q", c.args, err, stdout, stderr, c.out, c.err)
		}
	}
	st, err = sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	requireRights(t, social.New(st, social.Options{}), ada)
}

// requireRights asks for what a user needs who has the right to manage ads alone.
func requireRights(t *testing.T, service *social.Service, user social.UserID) {
	t.Helper()
	for right, want := range map[social.Right]string{
		social.RightManageAds: "",
		social.RightAdmin:     `FORBIDDEN: This needs the right "admin".`,
	} {
		got := ""
		if err := service.RequireRight(t.Context(), user, right); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("RequireRight %s says %q, want %q", right, got, want)
		}
	}
	if _, err := service.GrantRight(t.Context(), "ada", social.RightAdmin); err != nil {
		t.Fatal(err)
	}
	if err := service.RequireRight(t.Context(), user, social.RightManageAds); err != nil {
		t.Errorf("an admin has all rights: %v", err)
	}
	if err := service.RequireRight(t.Context(), social.UserID{}, social.RightAdmin); err == nil {
		t.Error("nobody has rights")
	}
}
