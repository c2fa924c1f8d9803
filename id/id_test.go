package id_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plaza/id"
)

func TestTextIsATypeID(t *testing.T) {
	// The pair is from the TypeID specification's valid vectors.
	made := id.ID{0x01, 0x89, 0x0a, 0x5d, 0xac, 0x96, 0x77, 0x4b, 0xbc, 0xce, 0xb3, 0x02, 0x09, 0x9a, 0x80, 0x57}
	if got, want := made.Text("prefix"), "prefix_01h455vb4pex5vsknk084sn02q"; got != want {
		t.Fatalf("Text = %s, want %s", got, want)
	}
	back, err := id.Parse("prefix", "prefix_01h455vb4pex5vsknk084sn02q")
	if err != nil || back != made {
		t.Fatalf("Parse = %v, %v", back, err)
	}
}

func TestParseRejectsMalformedIDs(t *testing.T) {
	good := id.New().Text("post")
	for name, text := range map[string]string{
		"empty":         "",
		"no prefix":     good[5:],
		"other prefix":  "user" + good[4:],
		"short":         good[:len(good)-1],
		"long":          good + "0",
		"upper case":    strings.ToUpper(good),
		"bad character": good[:len(good)-1] + "u",
		"overflow":      "post_8zzzzzzzzzzzzzzzzzzzzzzzzz",
		"NUL":           good[:len(good)-1] + "\x00",
		"line feed":     good[:10] + "\n" + good[11:],
	} {
		if _, err := id.Parse("post", text); err == nil {
			t.Errorf("%s: Parse(%q) succeeded", name, text)
		}
	}
}

func TestIDsSortByTime(t *testing.T) {
	var ids []id.ID
	for range 1000 {
		ids = append(ids, id.New())
	}
	if !slices.IsSortedFunc(ids, id.ID.Compare) {
		t.Error("ids of one process do not grow")
	}
	if !slices.IsSortedFunc(ids, func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) }) {
		t.Error("texts do not sort as the bytes do")
	}
	at := time.Date(2012, 4, 1, 12, 0, 0, 0, time.UTC)
	if got := id.At(at).Time(); !got.Equal(at) {
		t.Errorf("Time = %v, want %v", got, at)
	}
	if id.Derive(at, "a") != id.Derive(at, "a") || id.Derive(at, "a") == id.Derive(at, "b") {
		t.Error("Derive does not depend on its name alone")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(id.New().Text("post"))
	f.Add("post_")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := id.Parse("post", text)
		if err == nil && got.Text("post") != text {
			t.Errorf("%q was read, but is written %q", text, got.Text("post"))
		}
	})
}
