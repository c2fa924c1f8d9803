package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"plaza/bench"
	"plaza/bench/figures"
	"plaza/internal/app"
	"plaza/internal/progress"
	"plaza/storage"
)

// benchFlags are common to all comparisons.
type benchFlags struct {
	Layouts   []string      `help:"Measure only these layouts; the first is the baseline for the others." placeholder:"LAYOUT,…"`
	Scale     float64       `help:"How much data is loaded, as a multiple of the default amount." default:"1" placeholder:"X"`
	Rounds    int           `help:"How many turns each layout gets." default:"9" placeholder:"N"`
	Turn      time.Duration `help:"Approximately how long a turn takes." default:"150ms" placeholder:"TIME"`
	Seed      uint64        `help:"Seed of the generated data." default:"1" placeholder:"N"`
	Quick     bool          `help:"Smoke test: little data, two short rounds; the figures are meaningless."`
	Overwrite bool          `help:"Drop databases left over from an earlier run."`
	Only      string        `help:"Measure only calls whose names contain this, such as \"news\"." placeholder:"TEXT"`
	Profile   string        `help:"File for a CPU profile of this process (go tool pprof)." type:"path" placeholder:"FILE"`
	Out       string        `help:"Folder for the table and its pictures; without it the table is printed." type:"path" placeholder:"DIR"`
}

const benchHelp = `It needs an otherwise idle MongoDB, where it creates separate databases and drops them at the end. Their names begin with the name in the URI (default: plaza_bench), which must contain "bench".

Layouts take turns in one process. The command compares CPU time: that of this process, and that of mongod.`

// run runs a comparison, and delivers its report.
func (f *benchFlags) run(common *commonFlags, compare func(bench.Options) (*figures.Report, error)) error {
	tuneMemory()
	stop, err := f.startProfile()
	if err != nil {
		return err
	}
	stages := &stageMeter{meter: progress.OnStderr()}
	o := bench.Options{
		URI: string(common.MongodbURI), Overwrite: f.Overwrite, Layouts: f.Layouts, Rounds: f.Rounds, Turn: f.Turn, Scale: f.Scale, Seed: f.Seed,
		Only: f.Only, Command: reportedCommand(os.Args[1:]), Serve: benchHandler, Progress: stages.show,
	}
	if f.Quick {
		o.Rounds, o.Turn, o.Scale = 2, 5*time.Millisecond, f.Scale/100
	}
	report, err := compare(o)
	stages.meter.End()
	stop()
	return f.deliver(report, err)
}

func (f *benchFlags) startProfile() (stop func(), err error) {
	if f.Profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(f.Profile)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, nil
}

// reportedCommand returns the command line for the report, without the address of the database and
// the paths of files.
func reportedCommand(args []string) string {
	shown := []string{"plaza"}
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch name {
		case "--mongodb-uri", "--out", "--profile":
			if !joined {
				i++
			}
		case "--networks":
			shown = append(shown, name+"=…")
			if !joined {
				i++
			}
		default:
			shown = append(shown, args[i])
		}
	}
	return strings.Join(shown, " ")
}

func benchHandler(st storage.Store, peopleCache bool) http.Handler {
	c := app.Config{PublicURL: "http://plaza.invalid"}
	if peopleCache {
		c.Social.CacheSize = defaultPeopleCache << 20
	}
	return app.New(st, c).Handler
}

// deliver writes a report, or prints it.
func (f *benchFlags) deliver(report *figures.Report, err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("the benchmark was stopped; its databases are dropped")
	}
	if err != nil {
		return err
	}
	if f.Out == "" {
		_, err = fmt.Fprint(os.Stdout, report.Markdown())
		return err
	}
	return report.Write(f.Out)
}

// stageMeter shows one stage after another. Several goroutines may report the same stage.
type stageMeter struct {
	mu    sync.Mutex
	stage string
	meter *progress.Meter
}

func (m *stageMeter) show(stage string, done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stage != m.stage {
		m.stage = stage
		m.meter.Begin(stage, 0)
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprintf(os.Stderr, "%s …\n", stage)
		}
	}
	m.meter.Show(done, total)
}
