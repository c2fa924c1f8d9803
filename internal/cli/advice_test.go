package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
)

func TestAdviceNamesCommands(t *testing.T) {
	t.Parallel()
	feeds := func(reason mongodb.MigrationReason) error {
		return &mongodb.MigrationError{Subject: mongodb.MigrateFeeds, From: "read", To: "month", Wanted: "bucket", Reason: reason, Detail: "it is odd"}
	}
	for err, want := range map[error]string{
		errors.New("odd"): "odd",
		&mongodb.LayoutError{Subject: mongodb.MigrateGraph, Has: "two", Wanted: "reverse"}: `this database keeps its graph in the layout "two", and this server is set to "reverse": ` +
			`start it with --graph=two (PLAZA_GRAPH=two), or without that setting; or move the database with "plaza migrate graph --to reverse" first`,
		&mongodb.NoDatabaseError{Database: "x"}: `there is no Plaza database "x" on that MongoDB: name another one with --mongodb-uri or PLAZA_MONGODB_URI`,
		feeds(mongodb.MigrationUnderWay): `a migration of feeds from "read" to "month" is under way: finish it ("plaza migrate feeds --to month --finish"), ` +
			`or go back ("plaza migrate feeds --back-out"), before you move to "bucket"`,
		feeds(mongodb.MigrationPastReturn):                                `"read" is being removed, so the way back is closed: run "plaza migrate feeds --finish", and then move to "read"`,
		feeds(mongodb.MigrationFinishing):                                 `feeds: "month" is read already, and "read" is being removed: run "plaza migrate feeds --finish"`,
		feeds(mongodb.MigrationBackingOut):                                `the migration of feeds to "month" is being backed out of: run "plaza migrate feeds --back-out" first`,
		feeds(mongodb.MigrationNotSwitched):                               `feeds: "month" is not read yet: run "plaza migrate feeds --to month" first`,
		feeds(mongodb.MigrationDiffers):                                   `it is odd; look at "plaza work status", and try again, or go back with "plaza migrate feeds --back-out"`,
		feeds(mongodb.MigrationDoesNotFit):                                `it is odd: go back with "plaza migrate feeds --back-out", and choose another layout`,
		fmt.Errorf("the file: %w", &sqlite.TooNewError{Has: 9, Knows: 8}): "the file: the file has tables of version 9, and this Plaza knows 8: run a newer Plaza, or downgrade the file with that version: plaza migrate back --to 8",
	} {
		if got := withAdvice(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("it says\n%v, want\n%s", got, want)
		}
	}
}

// TestOnlyTheCommandLineNamesFlags: the packages below cli contain no name of a command, flag or
// environment variable of Plaza.
func TestOnlyTheCommandLineNamesFlags(t *testing.T) {
	t.Parallel()
	ours := ownNames(t)
	for _, folder := range []string{"ads", "adfile", "demo", "fault", "id", "importer", "internal/app", "live", "loaders", "paging", "resolvers", "social", "storage", "transport"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test"+string(filepath.Separator)) {
				return err
			}
			return eachText(path, func(at token.Position, text string) {
				if named := ours.FindString(text); named != "" {
					t.Errorf("%s names %q: return a typed error, and phrase it in internal/cli/advice.go", at, named)
				}
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// ownNames matches the commands, flags and variables of plaza.
func ownNames(t *testing.T) *regexp.Regexp {
	t.Helper()
	parser, err := kong.New(new(commandLine))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{`PLAZA_[A-Z]`}
	_ = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		switch node := node.(type) {
		case *kong.Flag:
			names = append(names, `--`+regexp.QuoteMeta(node.Name)+`\b`)
		case *kong.Command:
			names = append(names, `plaza `+regexp.QuoteMeta(node.Name)+`\b`)
		}
		return next(nil)
	})
	if len(names) < 30 {
		t.Fatalf("only %q are known", names)
	}
	return regexp.MustCompile(strings.Join(names, "|"))
}

func eachText(path string, do func(token.Position, string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			do(files.Position(text.Pos()), text.Value)
		}
		return true
	})
	return nil
}
