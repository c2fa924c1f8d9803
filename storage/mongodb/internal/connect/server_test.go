package connect

import (
	"strings"
	"testing"
	"time"
)

// TestParse checks what an address takes from a URI.
func TestParse(t *testing.T) {
	t.Parallel()
	a, err := Parse("mongodb://one.example,two.example:27018/blog?replicaSet=rs0&serverSelectionTimeoutMS=60000")
	if err != nil || len(a.Hosts) != 2 || a.Database != "blog" || a.replicaSet != "rs0" || a.Wait != time.Minute {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = Parse("mongodb://localhost"); err != nil || a.Database != defaultDatabase || a.Wait != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, uri := range []string{
		"", "localhost:27017", "mongodb://localhost/a.b", "mongodb://localhost/local", "mongodb://localhost/config",
		"mongodb://localhost/?serverSelectionTimeoutMS=-1",
	} {
		if a, err = Parse(uri); err == nil {
			t.Errorf("%q: %+v", uri, a)
		}
	}
	_, err = Parse("mongodb://operator:secret@localhost/admin")
	if err == nil || !strings.Contains(err.Error(), "authSource=admin") || strings.Contains(err.Error(), "secret") {
		t.Errorf("the database of users: %v", err)
	}
	if a, err = Parse("mongodb://operator:secret@localhost/plaza?authSource=admin"); err != nil || a.Database != "plaza" {
		t.Errorf("%+v, %v", a, err)
	}
}
