package testtime

import (
	"testing"
	"time"
)

func TestSlownessIsBounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[float64]float64{-1: 1, 0: 1, 0.2: 1, 6: 6, 1e9: slowest} {
		if got := within(given); got != want {
			t.Errorf("a slowness of %v becomes %v, want %v", given, got, want)
		}
	}
}

func TestOneSettingScalesEverything(t *testing.T) {
	t.Setenv(EnvSlowness, "6")
	if got := Scale(time.Second); got != 6*time.Second {
		t.Errorf("a second becomes %v on a machine that is 6 times slower", got)
	}
	if got := Patience(); got != 6*patience {
		t.Errorf("patience becomes %v, want %v", got, 6*patience)
	}
}

func TestEventuallyWaits(t *testing.T) {
	t.Parallel()
	looks := 0
	Eventually(t, "the third look", func() bool {
		looks++
		return looks == 3
	})
	if looks != 3 {
		t.Errorf("%d looks", looks)
	}
}
