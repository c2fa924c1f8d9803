package scalars_test

import (
	"encoding/json"
	"math"
	"testing"

	"plaza/ads"
	"plaza/graph/scalars"
)

// TestMicrosAreWholeNumbers: literals arrive as int64 and float64, variables as json.Number.
func TestMicrosAreWholeNumbers(t *testing.T) {
	for _, given := range []any{int64(1_000), float64(1_000), json.Number("1000"), json.Number("1000.0"), json.Number("1E3"), json.Number("1.0e+3")} {
		if got, err := scalars.UnmarshalMicros(given); err != nil || got != 1_000 {
			t.Errorf("%v: %v, %v", given, got, err)
		}
	}
	if got, err := scalars.UnmarshalMicros(json.Number("9007199254740991")); err != nil || got != ads.Micros(1<<53-1) {
		t.Errorf("the largest: %v, %v", got, err)
	}
	for _, given := range []any{1_000.5, math.Inf(1), json.Number("1000.5"), json.Number("1e999"), json.Number("9007199254740992"), json.Number("9007199254740992.0"), json.Number("1e400"), "1000", nil} {
		if got, err := scalars.UnmarshalMicros(given); err == nil {
			t.Errorf("%v: %v", given, got)
		}
	}
}
