// Command pack makes the second folder hold the files of the first, compressed as NAME.gz:
//
//	go run ./internal/cmd/pack BUILT PACKED
//
// Compressors differ, between programs and between versions of one. So a packed file that has the
// right content already stays as it is, and the same built files give the same packed ones on every
// machine. index.html is not compressed: servers fill it in.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const plain = "index.html"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack BUILT PACKED")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(built, packed string) error {
	wanted := map[string]bool{}
	err := eachFile(built, func(name string) error {
		content, err := os.ReadFile(filepath.Join(built, name)) //nolint:gosec // a folder of the caller's
		if err != nil {
			return err
		}
		if name != plain {
			name += ".gz"
		}
		wanted[name] = true
		return put(filepath.Join(packed, name), content)
	})
	if err != nil {
		return err
	}
	return eachFile(packed, func(name string) error {
		if wanted[name] {
			return nil
		}
		return os.Remove(filepath.Join(packed, name)) //nolint:gosec // in a folder of the caller's
	})
}

// eachFile calls do with the path of each file inside a folder.
func eachFile(folder string, do func(name string) error) error {
	return fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return do(filepath.FromSlash(name))
	})
}

// put stores content in a file, compressed if the file's name ends like that, unless the file has
// that content.
func put(path string, content []byte) error {
	if filepath.Ext(path) == ".gz" {
		if had, err := unpacked(path); err == nil && bytes.Equal(had, content) {
			return nil
		}
		var err error
		if content, err = compressed(content); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // source files are readable
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // the same
}

func unpacked(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // in a folder of the caller's
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	from, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}

func compressed(content []byte) ([]byte, error) {
	var b bytes.Buffer
	to, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(content); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
