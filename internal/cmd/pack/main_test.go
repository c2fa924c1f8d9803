package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestPack: packed files have the content of the built ones, even if they were packed before, and
// there are no other files.
func TestPack(t *testing.T) {
	t.Parallel()
	built, packed := t.TempDir(), t.TempDir()
	write(t, built, "index.html", []byte("a page"))
	write(t, built, "assets/same.js", []byte("same"))
	write(t, built, "assets/changed.js", []byte("after"))
	otherwise := stored(t, "same") // by a compressor with another output
	write(t, packed, "assets/same.js.gz", otherwise)
	write(t, packed, "assets/changed.js.gz", stored(t, "before"))
	write(t, packed, "assets/gone.js.gz", stored(t, "gone"))

	if err := pack(built, packed); err != nil {
		t.Fatal(err)
	}
	if got := read(t, packed, "index.html"); string(got) != "a page" {
		t.Errorf("index.html is %q", got)
	}
	if got := read(t, packed, "assets/same.js.gz"); !bytes.Equal(got, otherwise) {
		t.Error("a file with the same content was compressed again")
	}
	got, err := unpacked(filepath.Join(packed, "assets", "changed.js.gz"))
	if err != nil || string(got) != "after" {
		t.Errorf("the changed file is %q, %v", got, err)
	}
	left, err := filepath.Glob(filepath.Join(packed, "*", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// stored returns text as a gzip file that is not compressed.
func stored(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	to, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := to.Write([]byte(text))
	if err2 := to.Close(); err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return b.Bytes()
}

func write(t *testing.T, folder, name string, content []byte) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
