package bench

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
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
	Results []Result
	Stored  []StoredBy
	Remarks []string
	// Reads reports whether the bytes that mongod reads into its cache get a column.
	Reads bool
	// Rivals is the heading of the rivals. Default: layouts.
	Rivals string
	// Rates reports whether calls per CPU second, and the 99th percentile, get columns.
	Rates bool
}

// StoredBy is the size of a rival's database.
type StoredBy struct {
	Rival string
	Stored
}

func (s *Section) remarkf(format string, args ...any) {
	s.Remarks = append(s.Remarks, fmt.Sprintf(format, args...))
}

// comparef adds a remark on the ratio of two results, if both were measured; %.2f is replaced with
// the ratio.
func (s *Section) comparef(one, other *Result, of func(Sample) float64, format string, args ...any) {
	if len(one.Samples) > 0 && other.Median(of) > 0 {
		s.remarkf(format, append([]any{one.Median(of) / other.Median(of)}, args...)...)
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

// Markdown is the report as text.
func (r *Report) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", r.Title)
	fmt.Fprintf(&out, "Made by `%s`, on %s, with %s. Figures of one run alone can be compared.\n\n%s\n", r.Command, time.Now().UTC().Format(time.DateOnly), r.Machine, r.Notes)
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

// table has a row for each call and rival.
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
		if first := Of(s.Results, r.Call, s.First).Median(CPUMs); first > 0 {
			ratio = fmt.Sprintf("%.2f", r.Median(CPUMs)/first)
		}
		row := []string{
			name, r.Rival, significant(r.Median(ServerMs)), significant(r.Median(MongodMs)),
			significant(r.Median(CPUMs)) + " ± " + significant(r.Spread(CPUMs)), ratio,
			significant(r.Median(Commands)), significant(r.Median(Answered) / 1000),
		}
		if s.Reads {
			row = append(row, significant(r.Median(ReadIn)/1000))
		}
		if s.Rates {
			row = append(row, rate(r.Median(CPUMs)), significant(r.Median(SlowMs)))
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
	return significant(1000 / ms)
}

func storedTable(all []StoredBy) string {
	t := table{head: []string{"stored", "documents MB", "on disk MB", "indexes MB"}, left: 1}
	for _, s := range all {
		t.rows = append(t.rows, []string{s.Rival, megabytes(s.Data), megabytes(s.Disk), megabytes(s.Indexes)})
	}
	return t.markdown()
}

func megabytes(bytes int64) string { return significant(float64(bytes) / 1e6) }

// table is a table of Markdown. Its first columns are texts, the others numbers.
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

// significant formats a number that is not negative with at least two significant digits.
func significant(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x >= 0.1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x >= 0.01:
		return strconv.FormatFloat(x, 'f', 3, 64)
	default:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
}

// grouped formats a number with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// fileName converts a name to the name of a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '+' || r == ',' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
}

// machine describes the machine of a run.
func machine(mongod string) string {
	return fmt.Sprintf("%d CPUs, %s and MongoDB %s", runtime.NumCPU(), runtime.Version(), mongod)
}
