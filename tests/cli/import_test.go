package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"plaza/importer"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage/sqlite"
)

// networkFolder writes a clique of n friends of user 0 as a network, with the broken lines in
// front.
func networkFolder(t *testing.T, n int, broken string) string {
	t.Helper()
	var edges strings.Builder
	edges.WriteString(broken)
	for a := 1; a <= n; a++ {
		for b := a + 1; b <= n; b++ {
			fmt.Fprintf(&edges, "%d %d\n", a, b)
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"0.edges": edges.String(), "0.circles": "circle0\t1\t2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImportCommand(t *testing.T) {
	t.Parallel()
	dir, data := networkFolder(t, 4, strings.Repeat("x y\n", 25)), t.TempDir()
	command, stdout, stderr := plazatest.Command(t.Context(), data, "import", "ego-facebook", dir, "--password", "for all of them")
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var want strings.Builder
	for line := 1; line <= 20; line++ {
		fmt.Fprintf(&want, "%s:%d: \"x\" is not a number\n", filepath.Join(dir, "0.edges"), line)
	}
	want.WriteString("… and 5 more\n")
	if stderr.String() != want.String() {
		t.Errorf("stderr is\n%s, want\n%s", stderr, want.String())
	}
	took := regexp.MustCompile(`Took \S+\.`)
	if got, want := took.ReplaceAllString(stdout.String(), "Took …."), `Read 1 network; 25 lines were left out.

                         added   already there
users                        5               0
follows                     20               0
circles                      1               0
members in circles           2               0

Took …. Now start plaza and look at a user in GraphiQL:

  { user(handle: "fb0") { name followersCount followers(first: 5) { nodes { handle } } } }
`; got != want {
		t.Errorf("stdout is\n%s, want\n%s", got, want)
	}
	again, stdout, _ := plazatest.Command(t.Context(), data, "import", "ego-facebook", dir, "--password", "another one")
	if err := again.Run(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), "Existing users keep their passwords") {
		t.Errorf("the second run says\n%s", stdout)
	}
	signsIn(t, data, "for all of them")
}

func signsIn(t *testing.T, data, password string) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, _, err := network.New(st, network.Options{}).SignIn(t.Context(), accounts.Credentials{Handle: "fb3", Password: password}); err != nil {
		t.Error(err)
	}
}

func TestImportCommandRefuses(t *testing.T) {
	t.Parallel()
	good := networkFolder(t, 2, "")
	empty := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such folder": {[]string{"/no/such/folder"}, "plaza: there is no folder /no/such/folder\n"},
		"no networks": {
			[]string{empty}, "plaza: " + empty + " contains no networks: files such as 107.edges and 107.circles are expected\n",
		},
		"a short password": {[]string{good, "--password", "short"}, "plaza: --password: This has 5 characters; at least 8 are needed.\n"},
		"no password":      {[]string{good, "--password="}, "plaza: --password: This must not be empty.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			command, _, stderr := plazatest.Command(t.Context(), data, append([]string{"import", "ego-facebook"}, c.args...)...)
			_ = command.Run()
			if code := command.ProcessState.ExitCode(); code != 1 || stderr.String() != c.want {
				t.Errorf("exit code %d and\n%s, want 1 and\n%s", code, stderr, c.want)
			}
			if _, err := os.Stat(data); err == nil {
				t.Error("a database was created")
			}
		})
	}
}

// waitForRows waits until the import has stored something: more than the tables.
func waitForRows(t *testing.T, data string) {
	t.Helper()
	tables := logSize(emptyFile(t))
	testtime.Eventually(t, "the import stores something", func() bool { return logSize(data) > tables+1<<20 })
}

// emptyFile returns the folder of a database that has tables and no rows, and is open.
func emptyFile(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return data
}

// logSize is the size of a database's write-ahead log, in bytes; 0: there is none.
func logSize(data string) int64 {
	info, err := os.Stat(filepath.Join(data, "plaza.sqlite-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestImportCommandResumes checks that an import that was stopped or killed, and then repeated,
// gives the same result as an uninterrupted one.
func TestImportCommandResumes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("imports 25,760 follows")
	}
	dir, data := networkFolder(t, 160, ""), t.TempDir()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		command, stdout, stderr := plazatest.Command(t.Context(), data, "import", "ego-facebook", dir)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		waitForRows(t, data)
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait()
		if command.ProcessState.Success() {
			t.Fatalf("%v came too late:\n%s", signal, stdout)
		}
		if want := "plaza: the import was stopped; what is already stored remains, and the same command resumes from there"; signal == syscall.SIGINT &&
			(!strings.Contains(stderr.String(), want) || command.ProcessState.ExitCode() != 1) {
			t.Errorf("after Ctrl-C: exit code %d and\n%s", command.ProcessState.ExitCode(), stderr)
		}
	}
	command, stdout, stderr := plazatest.Command(t.Context(), data, "import", "ego-facebook", dir)
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if strings.Contains(stdout.String(), "follows                 25,760               0") {
		t.Errorf("the last run started over:\n%s", stdout)
	}
	followedByAll(t, data, 161)
}

// followedByAll checks by counts that all users from 0 to n-1 follow each other.
func followedByAll(t *testing.T, data string, n int) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ids := make([]social.UserID, n)
	for i := range ids {
		ids[i] = importer.UserID(importer.Person(i))
	}
	users, err := st.Users(t.Context(), ids)
	if err != nil || len(users) != n {
		t.Fatalf("%d users, want %d (%v)", len(users), n, err)
	}
	for _, user := range users {
		if user.FollowersCount != n-1 || user.FollowingCount != n-1 {
			t.Errorf("%s has %d followers and follows %d, want %d", user.Handle, user.FollowersCount, user.FollowingCount, n-1)
		}
	}
}
