package figures

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plaza/bench/measure"
)

// Report is the result of a comparison.
type Report struct {
	Name     string // of its file
	Title    string
	Command  string // that produced it
	Machine  string
	Notes    string
	Sections []*Section
}

// Section is a table with its picture.
type Section struct {
	Name    string // of the picture's file
	Title   string
	First   string // the rival that the others are compared with
	Results []measure.Result
	Stored  []StoredBy
	Remarks []string
	// Reads adds a column for the bytes that mongod reads into its cache.
	Reads bool
	// Rivals is the heading of the column of rivals. Default: layouts.
	Rivals string
	// Rates adds columns for calls per CPU second, and for the 99th percentile.
	Rates bool
}

// StoredBy is the size of a rival's database.
type StoredBy struct {
	Rival string
	measure.Stored
}

// Remarkf adds a remark.
func (s *Section) Remarkf(format string, args ...any) {
	s.Remarks = append(s.Remarks, fmt.Sprintf(format, args...))
}

// Comparef adds a remark on the ratio of two results, if both were measured; %.2f is replaced with
// the ratio.
func (s *Section) Comparef(one, other *measure.Result, of func(measure.Sample) float64, format string, args ...any) {
	if len(one.Samples) > 0 && other.Median(of) > 0 {
		s.Remarkf(format, append([]any{one.Median(of) / other.Median(of)}, args...)...)
	}
}

// Write writes the report as Markdown into a folder, with its pictures.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range r.Sections {
		if err := os.WriteFile(filepath.Join(dir, s.Name+".svg"), []byte(s.chart().svg()), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, r.Name+".md"), []byte(r.Markdown()), 0o644)
}

// Markdown returns the report as text.
func (r *Report) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", r.Title)
	fmt.Fprintf(&out, "Made by `%s`, on %s, with %s. Only figures of the same run can be compared.\n\n%s\n", r.Command, time.Now().UTC().Format(time.DateOnly), r.Machine, r.Notes)
	for _, s := range r.Sections {
		fmt.Fprintf(&out, "\n## %s\n\n![%s](%s.svg)\n\n%s", s.Title, s.Title, s.Name, s.table())
		if len(s.Stored) > 0 {
			fmt.Fprintf(&out, "\n%s", storedTable(s.Stored))
		}
		if len(s.Remarks) > 0 {
			out.WriteByte('\n')
		}
		for _, remark := range s.Remarks {
			fmt.Fprintf(&out, "- %s\n", remark)
		}
	}
	return out.String()
}

// table returns a table with a row for each call and rival.
func (s *Section) table() string {
	t := table{head: []string{"", cmp.Or(s.Rivals, "layout"), "server ms", "mongod ms", "both ms", "× " + s.First, "commands", "answered kB"}, left: 2}
	if s.Reads {
		t.head = append(t.head, "read kB")
	}
	if s.Rates {
		t.head = append(t.head, "calls a CPU second", "p99 ms")
	}
	named := ""
	for i := range s.Results {
		r := &s.Results[i]
		name := ""
		if r.Call != named {
			name, named = r.Call, r.Call
		}
		ratio := "–"
		if first := measure.Of(s.Results, r.Call, s.First).Median(measure.CPUMs); first > 0 {
			ratio = fmt.Sprintf("%.2f", r.Median(measure.CPUMs)/first)
		}
		row := []string{
			name, r.Rival, Significant(r.Median(measure.ServerMs)), Significant(r.Median(measure.MongodMs)),
			Significant(r.Median(measure.CPUMs)) + " ± " + Significant(r.Spread(measure.CPUMs)), ratio,
			Significant(r.Median(measure.Commands)), Significant(r.Median(measure.Answered) / 1000),
		}
		if s.Reads {
			row = append(row, Significant(r.Median(measure.ReadIn)/1000))
		}
		if s.Rates {
			row = append(row, rate(r.Median(measure.CPUMs)), Significant(r.Median(measure.SlowMs)))
		}
		t.rows = append(t.rows, row)
	}
	return t.markdown()
}

// rate returns how many operations of this many ms fit into a second.
func rate(ms float64) string {
	if ms <= 0 {
		return "–"
	}
	return Significant(1000 / ms)
}

func storedTable(all []StoredBy) string {
	t := table{head: []string{"stored", "documents MB", "on disk MB", "indexes MB"}, left: 1}
	for _, s := range all {
		t.rows = append(t.rows, []string{s.Rival, megabytes(s.Data), megabytes(s.Disk), megabytes(s.Indexes)})
	}
	return t.markdown()
}

func megabytes(bytes int64) string { return Significant(float64(bytes) / 1e6) }

// table is a Markdown table. Its first columns are texts, the others numbers.
type table struct {
	head []string
	left int
	rows [][]string
}

func (t *table) markdown() string {
	var out strings.Builder
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rules := make([]string, len(t.head))
	for i := range rules {
		rules[i] = "---"
		if i >= t.left {
			rules[i] = "---:"
		}
	}
	line(rules)
	for _, row := range t.rows {
		line(row)
	}
	return out.String()
}

func (s *Section) chart() chart {
	c := chart{title: s.Title, parts: [2]string{"server", "mongod"}, unit: "CPU ms"}
	for i := range s.Results {
		r := &s.Results[i]
		if len(c.groups) == 0 || c.groups[len(c.groups)-1].name != r.Call {
			c.groups = append(c.groups, group{name: r.Call})
		}
		last := &c.groups[len(c.groups)-1]
		last.bars = append(last.bars, bar{r.Rival, [2]float64{r.Median(measure.ServerMs), r.Median(measure.MongodMs)}})
	}
	return c
}
