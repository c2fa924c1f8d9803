package importer

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Meter shows how far an import, or something else that takes long, is: as a bar that is drawn over and over on a terminal, or as a line of a log now and then.
type Meter struct {
	// Doing is the first word of a log's lines. Default: importing.
	Doing string
	// From is how much was done before the clock started.
	From int

	out      io.Writer
	terminal bool
	now      func() time.Time
	began    time.Time
	shown    time.Time
	drawn    bool // a bar stands on the terminal's line
}

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 3 * time.Second
	barCells  = 24
)

// NewMeter makes a meter, and starts its clock (now is mostly time.Now).
func NewMeter(out io.Writer, terminal bool, now func() time.Time) *Meter {
	began := now()
	return &Meter{Doing: "importing", out: out, terminal: terminal, now: now, began: began, shown: began}
}

// Show shows the progress, unless it has just shown something. The end is always shown on a terminal.
func (m *Meter) Show(p Progress) {
	now := m.now()
	since := now.Sub(m.shown)
	if m.terminal && (since >= barEvery || p.Done == p.Total) {
		m.shown, m.drawn = now, true
		fmt.Fprintf(m.out, "\r%s %s\x1b[K", bar(p), m.figures(p, now))
	}
	if !m.terminal && since >= lineEvery {
		m.shown = now
		fmt.Fprintf(m.out, "%s: %s\n", m.Doing, m.figures(p, now))
	}
}

// End leaves the bar's line, so that something else can be written.
func (m *Meter) End() {
	if m.drawn {
		m.drawn = false
		fmt.Fprintln(m.out)
	}
}

// Took is the time since the clock was started.
func (m *Meter) Took() time.Duration { return m.now().Sub(m.began) }

func bar(p Progress) string {
	full := barCells
	if p.Total > 0 {
		full = barCells * p.Done / p.Total
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full)
}

// figures are the percentage, the counts, the rate, and the time that is left at this rate.
func (m *Meter) figures(p Progress, now time.Time) string {
	percent := 100
	if p.Total > 0 {
		percent = 100 * p.Done / p.Total
	}
	text := fmt.Sprintf("%3d %%  %s of %s", percent, Grouped(p.Done), Grouped(p.Total))
	rate := float64(p.Done-m.From) / now.Sub(m.began).Seconds()
	if p.Done <= m.From || now.Equal(m.began) {
		return text
	}
	left := time.Duration(float64(p.Total-p.Done) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s/s  %s left", text, Grouped(int(rate)), left.Round(time.Second))
}

// Grouped writes a number that is not negative with commas between its thousands.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
