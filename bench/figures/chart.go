package figures

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// chart is a set of groups of horizontal bars, each bar of two parts. Each group has its own scale,
// so compare only within a group.
type chart struct {
	title  string
	parts  [2]string // what the two parts of each bar are
	unit   string
	groups []group
}

type group struct {
	name string
	bars []bar
}

type bar struct {
	name  string
	parts [2]float64
}

// The chart's dimensions, in pixels.
const (
	chartWidth   = 860
	chartMargin  = 20
	labelWidth   = 150
	valueWidth   = 190
	barHeight    = 14
	barStep      = 20
	groupTitle   = 26
	groupSpace   = 14
	chartHeading = 64
)

// The colours are readable on white and on black. Texts follow the reader's colour scheme if the
// viewer supports that.
const chartStyle = `
    text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f; }
    .title { font-size: 16px; font-weight: 600; }
    .group { font-weight: 600; }
    .faint { fill: #6e7781; }
    .a { fill: #3b82c4; }
    .b { fill: #e08a2e; }
    .line { stroke: #8c959f; stroke-opacity: 0.4; }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .faint { fill: #9198a1; } }
`

// svg draws the chart.
func (c chart) svg() string {
	height := chartHeading + chartMargin
	for _, g := range c.groups {
		height += groupTitle + len(g.bars)*barStep + groupSpace
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", chartWidth, height)
	fmt.Fprintf(&out, "  <title>%s</title>\n  <style>%s  </style>\n", escaped(c.title), chartStyle)
	fmt.Fprintf(&out, `  <text class="title" x="%d" y="28">%s</text>`+"\n", chartMargin, escaped(c.title))
	c.legend(&out)
	y := chartHeading
	for _, g := range c.groups {
		y = g.draw(&out, y)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func (c chart) legend(out *strings.Builder) {
	x := chartMargin
	for i, class := range []string{"a", "b"} {
		fmt.Fprintf(out, `  <rect class="%s" x="%d" y="41" width="12" height="12" rx="2"/>`+"\n", class, x)
		fmt.Fprintf(out, `  <text x="%d" y="52">%s</text>`+"\n", x+18, escaped(c.parts[i]))
		x += 90
	}
	fmt.Fprintf(out, `  <text class="faint" x="%d" y="52">%s; each group has its own scale</text>`+"\n", x, escaped(c.unit))
}

// draw draws the group from y on, and returns where the next group begins.
func (g group) draw(out *strings.Builder, y int) int {
	longest := 0.0
	for _, b := range g.bars {
		longest = max(longest, b.parts[0]+b.parts[1])
	}
	fmt.Fprintf(out, `  <text class="group" x="%d" y="%d">%s</text>`+"\n", chartMargin, y+14, escaped(g.name))
	fmt.Fprintf(out, `  <line class="line" x1="%d" y1="%d" x2="%[1]d" y2="%[3]d"/>`+"\n",
		chartMargin+labelWidth, y+groupTitle-3, y+groupTitle+len(g.bars)*barStep-3)
	for i, b := range g.bars {
		b.draw(out, y+groupTitle+i*barStep, longest)
	}
	return y + groupTitle + len(g.bars)*barStep + groupSpace
}

func (b bar) draw(out *strings.Builder, y int, longest float64) {
	fmt.Fprintf(out, `  <text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartMargin+labelWidth-8, y+12, escaped(b.name))
	x := float64(chartMargin + labelWidth)
	for i, class := range []string{"a", "b"} {
		if longest > 0 {
			width := b.parts[i] / longest * (chartWidth - 2*chartMargin - labelWidth - valueWidth)
			fmt.Fprintf(out, `  <rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", class, x, y, width, barHeight)
			x += width
		}
	}
	value := Significant(b.parts[0] + b.parts[1])
	if !slices.Contains(b.parts[:], 0) {
		value += fmt.Sprintf(" = %s + %s", Significant(b.parts[0]), Significant(b.parts[1]))
	}
	fmt.Fprintf(out, `  <text class="faint" x="%.1f" y="%d">%s</text>`+"\n", x+8, y+12, value)
}

// escaped escapes a text for XML.
func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // writing to a strings.Builder never fails
	return out.String()
}
