// Package progress shows the progress of long operations.
package progress

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// Meter shows progress: on a terminal as a bar that is redrawn, elsewhere as a line in the log at
// intervals.
type Meter struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	doing    string // the first word of a log's lines
	from     int    // how much was done when the clock started
	began    time.Time
	shown    time.Time
	drawn    bool // the terminal's current line shows a bar
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 3 * time.Second
	barCells  = 24
)

// NewMeter creates a meter, and starts its clock (now is usually time.Now).
func NewMeter(out io.Writer, terminal bool, now func() time.Time) *Meter {
	began := now()
	return &Meter{out: out, terminal: terminal, now: now, began: began, shown: began}
}

// OnStderr creates a meter on the standard error.
func OnStderr() *Meter { return NewMeter(os.Stderr, term.IsTerminal(int(os.Stderr.Fd())), time.Now) }

// Begin restarts the clock for a stage of which a part is already done. The name is the first word
// of log lines.
func (m *Meter) Begin(doing string, done int) {
	m.End()
	m.doing, m.from, m.began = doing, done, m.now()
	m.shown = m.began
}

// Show shows the progress, at most as often as the meter's interval allows. A terminal always shows
// the end.
func (m *Meter) Show(done, total int) {
	now := m.now()
	since := now.Sub(m.shown)
	if m.terminal && (since >= barEvery || done == total) {
		m.shown, m.drawn = now, true
		fmt.Fprintf(m.out, "\r%s %s\x1b[K", bar(done, total), m.figures(done, total, now))
	}
	if !m.terminal && since >= lineEvery {
		m.shown = now
		fmt.Fprintf(m.out, "%s: %s\n", m.doing, m.figures(done, total, now))
	}
}

// End moves to a new line after the bar, so that something else can be printed.
func (m *Meter) End() {
	if m.drawn {
		m.drawn = false
		fmt.Fprintln(m.out)
	}
}

// Took returns the time since the clock was started.
func (m *Meter) Took() time.Duration { return m.now().Sub(m.began) }

func bar(done, total int) string {
	full := barCells
	if total > 0 {
		full = barCells * done / total
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full)
}

// figures returns the percentage, the counts, the rate, and the remaining time at this rate.
func (m *Meter) figures(done, total int, now time.Time) string {
	percent := 100
	if total > 0 {
		percent = 100 * done / total
	}
	text := fmt.Sprintf("%3d %%  %s of %s", percent, Grouped(done), Grouped(total))
	rate := float64(done-m.from) / now.Sub(m.began).Seconds()
	if done <= m.from || now.Equal(m.began) {
		return text
	}
	left := time.Duration(float64(total-done) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s/s  %s left", text, Grouped(int(rate)), left.Round(time.Second))
}

// Grouped formats a number that is not negative, with commas between thousands.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
