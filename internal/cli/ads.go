package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plaza/adfile"
	"plaza/ads/adserver"
	"plaza/internal/progress"
	"plaza/storage"
)

type adsCommand struct {
	Import  adsImportCommand  `cmd:"" help:"Load advertisers, zones, campaigns and ads from a YAML or CSV file."`
	Rebuild adsRebuildCommand `cmd:"" help:"Rebuild the reports from all impressions, clicks and conversions that are still stored."`
}

type adsRebuildCommand struct{}

// Run rebuilds the totals of reports.
func (*adsRebuildCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	from, err := adserver.New(st.Ads(), adserver.Options{Now: storage.TimeOf(st)}).Rebuild(ctx)
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	if from.IsZero() {
		fmt.Fprintln(common.console.stdout(), "There are no impressions or clicks to add up.")
		return nil
	}
	fmt.Fprintf(common.console.stdout(), "Reports are being rebuilt, starting from %s UTC.\n", from.UTC().Format(time.DateTime))
	return nil
}

type adsImportCommand struct {
	File string `arg:"" help:"The file: CSV if its name ends with .csv, otherwise YAML. docs/ads.md describes both." type:"existingfile"`
}

// Help explains the command, below its one-line help.
func (*adsImportCommand) Help() string {
	return `You can run it repeatedly: it adds what is new and updates what has changed. It leaves what is missing from the file unchanged: archive that instead.`
}

// Run imports the file.
func (c *adsImportCommand) Run(ctx context.Context, common *commonFlags) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	parse := adfile.Parse
	if strings.EqualFold(filepath.Ext(c.File), ".csv") {
		parse = adfile.ParseCSV
	}
	file, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	st, err := common.makeStore(ctx)
	if err != nil {
		return err
	}
	meter := progress.OnStderr()
	meter.Begin("importing", 0)
	sum, err := adfile.Load(ctx, adserver.New(st.Ads(), adserver.Options{Now: storage.TimeOf(st)}), file, meter.Show)
	meter.End()
	if err := errors.Join(stopped(err), st.Close()); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	fmt.Fprintf(common.console.stdout(), "%d added, %d changed, %d unchanged\n", sum.Added, sum.Changed, sum.Unchanged)
	return nil
}
