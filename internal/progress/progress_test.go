package progress_test

import (
	"strings"
	"testing"
	"time"

	"plaza/internal/progress"
)

// clock is a time that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestMeterOnATerminal(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(1000, 0)}
	m := progress.NewMeter(&out, true, c.now)
	m.Show(1, 2000) // too early
	c.at = c.at.Add(2 * time.Second)
	m.Show(500, 2000)
	m.Show(501, 2000) // too soon after
	c.at = c.at.Add(2 * time.Second)
	m.Show(2000, 2000)
	m.End()
	want := "\r██████░░░░░░░░░░░░░░░░░░  25 %  500 of 2,000  250/s  6s left\x1b[K" +
		"\r████████████████████████ 100 %  2,000 of 2,000  500/s  0s left\x1b[K\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestMeterInALog(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(1000, 0)}
	m := progress.NewMeter(&out, false, c.now)
	m.Begin("importing", 0)
	for i := range 8 {
		m.Show(1000*i, 10_000)
		c.at = c.at.Add(time.Second)
	}
	m.End()
	want := "importing:  30 %  3,000 of 10,000  1,000/s  7s left\n" +
		"importing:  60 %  6,000 of 10,000  1,000/s  4s left\n"
	if out.String() != want {
		t.Errorf("got\n%s, want\n%s", out.String(), want)
	}
	if m.Took() != 8*time.Second {
		t.Errorf("took %v", m.Took())
	}
}

func TestMeterOfNothing(t *testing.T) {
	var out strings.Builder
	m := progress.NewMeter(&out, true, time.Now)
	m.Show(0, 0)
	if !strings.Contains(out.String(), "100 %  0 of 0") {
		t.Errorf("got %q", out.String())
	}
}

func TestBeginRestartsTheClock(t *testing.T) {
	var out strings.Builder
	c := &clock{time.Unix(1000, 0)}
	m := progress.NewMeter(&out, false, c.now)
	c.at = c.at.Add(time.Minute)
	m.Begin("measuring", 2)
	c.at = c.at.Add(4 * time.Second)
	m.Show(3, 7)
	if want := "measuring:  42 %  3 of 7  0/s  16s left\n"; out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 176_388: "176,388", 1_234_567: "1,234,567"} {
		if got := progress.Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
