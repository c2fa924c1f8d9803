package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/internal/plazatest"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// needDatabase lists the commands that need an existing database.
var needDatabase = [][]string{
	{"rights"},
	{"grant", "admin", "ada"},
	{"revoke", "admin", "ada"},
	{"work", "status"},
	{"work", "retry"},
	{"export", "comments", "--user", "ada"},
	{"user", "export", "ada"},
	{"delete", "user", "ada", "--yes"},
	{"ads", "rebuild"},
}

// TestCommandsCreateNoFile checks that commands do not create a missing folder, or a database in an
// empty one.
func TestCommandsCreateNoFile(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, data := range []string{empty, filepath.Join(empty, "typo")} {
		for _, args := range needDatabase {
			command, stdout, stderr := plazatest.Command(t.Context(), data, args...)
			_ = command.Run()
			want := "plaza: there is no Plaza database in " + data + ": name its folder with --data or PLAZA_DATA\n"
			if code := command.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || stderr.String() != want {
				t.Errorf("plaza %q: exit code %d, says %q and %q, want %q", args, code, stdout, stderr, want)
			}
		}
	}
	err := filepath.WalkDir(empty, func(path string, _ fs.DirEntry, err error) error {
		if path != empty {
			t.Errorf("%s was created", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCommandsRefuseAnEmptyFile: it is not a database, and stays empty.
func TestCommandsRefuseAnEmptyFile(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "plaza.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"user", "list"}, {"migrate", "back", "--to", "20"}} {
		command, _, stderr := plazatest.Command(t.Context(), data, args...)
		_ = command.Run()
		info, err := os.Stat(path)
		if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "there is no Plaza database in "+data) || err != nil || info.Size() > 0 {
			t.Errorf("plaza %q: exit code %d, says %q, %v", args, code, stderr, err)
		}
	}
}

// TestCommandsCreateNoMongoDB checks that commands leave a database alone that no server has
// opened, and work on a database that a server has opened.
func TestCommandsCreateNoMongoDB(t *testing.T) {
	t.Parallel()
	uri := mongotest.Database(t)
	migrations := [][]string{{"migrate", "status"}, {"migrate", "documents"}, {"migrate", "feeds", "--to", "month"}}
	for _, args := range append(migrations, needDatabase...) {
		command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), args...)
		command.Env = append(command.Env, "PLAZA_MONGODB_URI="+uri, "PLAZA_FEEDS=month")
		_ = command.Run()
		if code := command.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "there is no Plaza database") {
			t.Errorf("plaza %q: exit code %d, says %q and %q", args, code, stdout, stderr)
		}
	}
	if names, err := mongotest.Connect(t, uri).ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) > 0 {
		t.Errorf("%v were created, %v", names, err)
	}
	plazatest.OpenMongoDB(t, uri, mongodb.Options{})
	command, stdout, stderr := plazatest.Command(t.Context(), t.TempDir(), "rights")
	command.Env = append(command.Env, "PLAZA_MONGODB_URI="+uri)
	if err := command.Run(); err != nil || !strings.HasPrefix(stdout.String(), "No user has any rights") {
		t.Errorf("a new database: %v, says %q and %q", err, stdout, stderr)
	}
}
