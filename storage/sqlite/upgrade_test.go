package sqlite

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpgradesAreReported opens the file of an earlier version twice, and a new one.
func TestUpgradesAreReported(t *testing.T) {
	t.Parallel()
	earlier, fresh := earlierFile(t, 11), filepath.Join(t.TempDir(), "plaza.sqlite")
	for _, c := range []struct {
		opens, path string
		reports     int
	}{
		{"an earlier file", earlier, 1},
		{"an upgraded file", earlier, 0},
		{"a new file", fresh, 0},
	} {
		var log bytes.Buffer
		reports := 0
		store, err := OpenWith(t.Context(), c.path, Options{
			Logger: slog.New(slog.NewJSONHandler(&log, nil)),
			Upgraded: func(from, to int64) {
				if reports++; from != 11 || to <= from {
					t.Errorf("upgraded from %d to %d", from, to)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		begins := strings.Count(log.String(), `"level":"INFO","msg":"upgrading the tables","database":"`+c.path+`","from":11,`)
		ends := strings.Count(log.String(), `"level":"INFO","msg":"the tables are upgraded"`)
		if begins != c.reports || ends != c.reports || reports != c.reports || strings.Count(log.String(), "\n") != 2*c.reports {
			t.Errorf("%s: %d reports, and the log says %s", c.opens, reports, &log)
		}
	}
}
