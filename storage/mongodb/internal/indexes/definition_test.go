package indexes

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// TestDeclarationsAreNotChanged: the driver adds to the options that it is given, while another
// goroutine may read the same declaration.
func TestDeclarationsAreNotChanged(t *testing.T) {
	t.Parallel()
	shared := []mongo.IndexModel{mdb.Index("user", mdb.Doc("user", 1)), mdb.UniqueIndex("handle", mdb.Doc("handle", 1))}
	for _, copied := range forDriver(shared...) {
		copied.Options.SetName("other")
	}
	for i, want := range []string{"user", "handle"} {
		if name, _, err := Declared(shared[i]); err != nil || name != want {
			t.Errorf("declaration %d has become %q: %v", i, name, err)
		}
		if n := len(shared[i].Options.List()); n != i+1 {
			t.Errorf("declaration %q has %d options, want %d", want, n, i+1)
		}
	}
}
