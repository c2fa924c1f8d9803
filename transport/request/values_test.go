package request

import (
	"strings"
	"testing"

	"plaza/transport/codes"
)

// TestValuesAreLimited: wherever they are in a request, and whether a document needs them or not.
func TestValuesAreLimited(t *testing.T) {
	t.Parallel()
	list := func(n int, item string) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }
	text := `"` + strings.Repeat(`,[{\"\\`, 5000) + `"`
	for body, fits := range map[string]bool{
		`{"query":"{a}","variables":{"v":` + list(MaxValues-4, "0") + `}}`:      true, // the request, the query, the variables and the list
		`{"query":"{a}","variables":{"v":` + list(MaxValues-3, "0") + `}}`:      false,
		`{"query":"{a}","variables":{"v":` + list(700, `{"a":[0]}`) + `}}`:      false,
		`{"query":"{a}","extensions":{"v":` + list(MaxValues, `""`) + `}}`:      false,
		`{"query":"{a}","unknown":` + list(MaxValues, "null") + `}`:             false,
		`{"query":"{a}","variables":{"v":` + list(MaxValues, `"\ud800"`) + `}}`: false,
		`{"query":"{a}","variables":{"v":` + text + `}}`:                        true,
		`{"query":"{a}","variables":{` + text + `:0}}`:                          true,
		`{"query":"{a}"` + strings.Repeat(`,"a":0`, MaxValues) + `}`:            false,
	} {
		_, err := Parse([]byte(body))
		if err == nil != fits {
			t.Errorf("%.60s: %v", body, err)
			continue
		}
		if err == nil {
			continue
		}
		presented := Present(err)
		if codes.Of(presented) != codes.QueryTooComplex || presented.Extensions["limit"] != "values" || presented.Extensions["maximum"] != MaxValues {
			t.Errorf("%.60s: %v %v", body, presented, presented.Extensions)
		}
	}
	if _, err := ParseQueryString("query={a}&variables=" + list(MaxValues, "0")); !IsRefusal(err) {
		t.Errorf("in a query string: %v", err)
	}
}
