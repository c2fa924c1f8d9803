package websocket

import (
	"net/http"
	"testing"
)

func TestAnyOrigin(t *testing.T) {
	if !originAllowed(&http.Request{Header: http.Header{"Origin": {"https://evil.example"}}}, []string{"*"}) {
		t.Error("* does not allow all")
	}
}
