package social_test

import (
	"testing"

	"plaza/social"
)

func TestIdentitiesDiffer(t *testing.T) {
	t.Parallel()
	if social.KeyOfIdentity("https://a", "b") == social.KeyOfIdentity("https://", "ab") {
		t.Error("two identities have the same key")
	}
}
