package adfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"plaza/ads"
	"plaza/fault"
)

// A CSV file is one flat table with a row for each entry; the column "type" contains the kind of
// the entry. Lists in a cell are separated by '|', and money is in units of its currency: 2.50.
// docs/ads.md describes the columns.

// listSeparator separates the entries of a list in a cell.
const listSeparator = "|"

// columns maps the columns that a row of each type can have to the fields of the YAML file.
var columns = map[string]map[string]string{
	"advertiser": {"key": "key", "name": "name", "caps": "caps"},
	"zone":       {"site": "site", "zone": "name", "currency": "currency", "design": "design"},
	"campaign": {
		"key": "key", "advertiser": "advertiser", "name": "name", "state": "state", "house": "house",
		"start": "schedule.start", "end": "schedule.end", "time_zone": "schedule.timeZone", "weekdays": "schedule.weekdays",
		"from_hour": "schedule.fromHour", "to_hour": "schedule.toHour", "currency": "budget.currency", "total_budget": "budget.total",
		"daily_budget": "budget.daily", "even": "budget.even", "caps": "caps",
		"attribution_days": "attributionDays",
	},
	"ad": {
		"key": "key", "campaign": "campaign", "headline": "headline", "body": "body", "image_url": "imageUrl", "landing_url": "landingUrl", "state": "state",
		"bid_model": "bid.model", "bid": "bid.price", "currency": "bid.currency", "zones": "zones", "keywords": "keywords", "keyword_weights": "keywordWeights", "weight": "weight", "caps": "caps",
	},
}

// row is a line of a table.
type row struct {
	kind  string
	line  int
	cells map[string]string // by column, without empty cells
	err   *Error            // the first cell that cannot be parsed
}

// table finds the lines and columns of mistakes.
type table struct {
	lines map[string][]int // the lines of the entries in each list
	kinds map[string]string
}

// ParseCSV reads a table. Its error is an *Error with the first mistake.
func ParseCSV(text []byte) (*File, error) {
	t := &table{lines: map[string][]int{}, kinds: map[string]string{"advertisers": "advertiser", "zones": "zone", "campaigns": "campaign", "units": "ad"}}
	var d document
	if err := readTable(text, func(r *row) error { return t.add(&d, r) }); err != nil {
		return nil, err
	}
	return newFile(&d, t.where)
}

// readTable calls do for each row that is not empty.
func readTable(text []byte, do func(*row) error) error {
	content := strings.TrimPrefix(string(text), "\ufeff")
	if !utf8.ValidString(content) {
		return &Error{Message: "This is not UTF-8: save the file as CSV UTF-8."}
	}
	r := csv.NewReader(strings.NewReader(content))
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return &Error{Message: "The file is empty: its first line has the names of the columns."}
	}
	if err != nil {
		return csvFault(err, len(head))
	}
	line, _ := r.FieldPos(0)
	if err := checkHead(head, line); err != nil {
		return err
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvFault(err, len(head))
		}
		line, _ := r.FieldPos(0)
		found, err := newRow(head, record, line)
		if err == nil && found != nil {
			err = do(found)
		}
		if err != nil {
			return err
		}
	}
}

// checkHead checks the names of the columns, and recognizes files that were saved with other
// separators.
func checkHead(head []string, line int) error {
	if len(head) == 1 && strings.ContainsAny(head[0], ";\t") {
		return &Error{Line: line, Message: "The columns are separated by semicolons or tabs: save the file with commas."}
	}
	seen := map[string]bool{}
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
		switch name = head[i]; {
		case name != "type" && !isColumn(name):
			return &Error{Line: line, Message: fmt.Sprintf("There is no column %.40q.", name)}
		case seen[name]:
			return &Error{Line: line, Message: fmt.Sprintf("The column %s appears twice.", name)}
		}
		seen[name] = true
	}
	if !seen["type"] {
		return &Error{Line: line, Message: "The column type is missing: it says whether a row is an advertiser, a zone, a campaign or an ad."}
	}
	return nil
}

func isColumn(name string) bool {
	for _, known := range columns {
		if _, ok := known[name]; ok {
			return true
		}
	}
	return false
}

// newRow returns nil for a row without any text, since spreadsheets often leave such rows at the
// end.
func newRow(head, record []string, line int) (*row, error) {
	r := &row{line: line, cells: map[string]string{}}
	for i, cell := range record {
		if cell = strings.TrimSpace(cell); cell != "" {
			r.cells[head[i]] = cell
		}
	}
	if len(r.cells) == 0 {
		return nil, nil
	}
	r.kind = strings.ToLower(r.cells["type"])
	delete(r.cells, "type")
	known, ok := columns[r.kind]
	if !ok {
		return nil, &Error{Line: line, Field: "type", Message: "A row is an advertiser, a zone, a campaign or an ad."}
	}
	for _, name := range head {
		if _, ok := known[name]; !ok && r.cells[name] != "" {
			return nil, &Error{Line: line, Field: name, Message: fmt.Sprintf("This column is not for rows of the type %s: leave it empty.", r.kind)}
		}
	}
	return r, nil
}

// csvFault translates an error of the CSV library.
func csvFault(err error, cells int) error {
	broken, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return err
	case errors.Is(broken.Err, csv.ErrFieldCount):
		return &Error{Line: broken.StartLine, Message: fmt.Sprintf("This row has more or fewer cells than the first one, which has %d.", cells)}
	default:
		return &Error{Line: broken.StartLine, Message: "The quotes in this row are wrong: a cell that holds a quote, a comma or a line break is quoted, and a quote in it doubled."}
	}
}

// add reads a row into the document.
func (t *table) add(d *document, r *row) error {
	var list string
	switch r.kind {
	case "advertiser":
		list = "advertisers"
		d.Advertisers = append(d.Advertisers, advertiser{Key: r.text("key"), Name: r.text("name"), Caps: r.caps()})
	case "zone":
		list = "zones"
		d.Zones = append(d.Zones, zone{Site: r.text("site"), Name: r.text("zone"), Currency: ads.Currency(r.text("currency")), Design: ads.Design(r.word("design"))})
	case "campaign":
		list = "campaigns"
		d.Campaigns = append(d.Campaigns, r.campaign())
	default:
		list = "units"
		d.Units = append(d.Units, r.unit())
	}
	t.lines[list] = append(t.lines[list], r.line)
	if r.err != nil {
		return r.err
	}
	return nil
}

func (r *row) campaign() campaign {
	return campaign{
		Key: r.text("key"), Advertiser: r.text("advertiser"), Name: r.text("name"), State: ads.State(r.word("state")), House: r.flag("house"), Caps: r.caps(),
		Schedule: schedule{
			Start: r.moment("start"), End: r.moment("end"), TimeZone: r.text("time_zone"), Weekdays: r.list("weekdays"),
			FromHour: r.number("from_hour"), ToHour: r.number("to_hour"),
		},
		Budget: r.budget(), AttributionDays: r.optional("attribution_days"),
	}
}

// budget returns nil if there is no amount. The currency is then only validated.
func (r *row) budget() *budget {
	b := &budget{Total: r.money("total_budget"), Daily: r.money("daily_budget"), Even: r.flag("even")}
	currency := ads.Currency(r.text("currency"))
	if b.Total > 0 || b.Daily > 0 {
		b.Currency = currency
		return b
	}
	if b.Even {
		r.wrong("even", "There is no budget to spread.")
	}
	if mistake, ok := errors.AsType[*fault.Error](currency.Check("currency")); ok && currency != "" {
		r.wrong("currency", mistake.Message)
	}
	return nil
}

func (r *row) unit() unit {
	return unit{
		Key: r.text("key"), Campaign: r.text("campaign"), Headline: r.text("headline"), Body: r.text("body"), ImageURL: r.text("image_url"),
		LandingURL: r.text("landing_url"), State: ads.State(r.word("state")), Zones: r.list("zones"), Keywords: r.list("keywords"), KeywordWeights: r.keywordWeights(), Weight: r.optional("weight"), Caps: r.caps(),
		Bid: bid{Model: ads.BidModel(r.word("bid_model")), Price: r.money("bid"), Currency: ads.Currency(r.text("currency"))},
	}
}

func (r *row) text(column string) string { return r.cells[column] }

// word returns an enum value of the API.
func (r *row) word(column string) string { return strings.ToUpper(r.cells[column]) }

func (r *row) list(column string) []string {
	var entries []string
	for entry := range strings.SplitSeq(r.cells[column], listSeparator) {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

func (r *row) wrong(column, message string) {
	if r.err == nil {
		r.err = &Error{Line: r.line, Field: column, Message: message}
	}
}

func (r *row) number(column string) int {
	cell := r.cells[column]
	if cell == "" {
		return 0
	}
	n, err := strconv.ParseInt(cell, 10, 32)
	if err != nil {
		r.wrong(column, "This must be a whole number.")
	}
	return int(n)
}

// optional returns nil if the cell is empty.
func (r *row) optional(column string) *int {
	if r.cells[column] == "" {
		return nil
	}
	n := r.number(column)
	return &n
}

func (r *row) flag(column string) bool {
	switch strings.ToLower(r.cells[column]) {
	case "", "false", "no":
		return false
	case "true", "yes":
		return true
	default:
		r.wrong(column, "This is yes or no.")
		return false
	}
}

// decimal matches an amount of money: no sign, no thousands separators, no currency.
var decimal = regexp.MustCompile(`^(\d{1,12})(?:\.(\d{1,6}))?$`)

// money converts units of a currency to micros, exactly.
func (r *row) money(column string) ads.Micros {
	cell := r.cells[column]
	if cell == "" {
		return 0
	}
	parts := decimal.FindStringSubmatch(cell)
	if parts == nil {
		r.wrong(column, "An amount is written like 2.50: with a point, and up to 6 digits behind it.")
		return 0
	}
	micros, err := strconv.ParseInt(parts[1]+(parts[2] + "000000")[:6], 10, 64)
	if err != nil {
		r.wrong(column, "This amount is too large.")
	}
	if micros == 0 {
		r.wrong(column, "This must be more than 0, or empty.")
	}
	return ads.Micros(micros)
}

func (r *row) moment(column string) time.Time {
	cell := r.cells[column]
	if cell == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, cell); err == nil {
			return at
		}
	}
	r.wrong(column, "A moment is written like 2026-03-01 or 2026-03-01T08:00:00+01:00; a day begins at midnight, UTC.")
	return time.Time{}
}

// caps parses counts and windows: 3/DAY|20/LIFETIME.
func (r *row) caps() []limit {
	var caps []limit
	for _, entry := range r.list("caps") {
		count, per, _ := strings.Cut(entry, "/")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil {
			r.wrong("caps", "A cap is written like 3/DAY.")
		}
		caps = append(caps, limit{Count: n, Per: ads.Window(strings.ToUpper(strings.TrimSpace(per)))})
	}
	return caps
}

// keywordWeights parses keywords and their weights: anvil/5|heavy load/2. A keyword may contain
// slashes.
func (r *row) keywordWeights() []keywordWeight {
	var weights []keywordWeight
	for _, entry := range r.list("keyword_weights") {
		slash := max(strings.LastIndex(entry, "/"), 0)
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(entry[slash:], "/")))
		if err != nil {
			r.wrong("keyword_weights", "The weight of a keyword is written like anvil/5.")
		}
		weights = append(weights, keywordWeight{Keyword: strings.TrimSpace(entry[:slash]), Weight: n})
	}
	return weights
}

// where returns the line of a path, and its column.
func (t *table) where(path []string) (line int, field string) {
	if len(path) < 2 {
		return 0, strings.Join(path, ".")
	}
	i, err := strconv.Atoi(path[1])
	if err != nil || i >= len(t.lines[path[0]]) {
		return 0, strings.Join(path, ".")
	}
	return t.lines[path[0]][i], column(t.kinds[path[0]], strings.Join(path[2:], "."))
}

// column returns the column for a field of the YAML file, or for a part of it.
func column(kind, field string) string {
	for name, of := range columns[kind] {
		if field == of || strings.HasPrefix(field, of+".") {
			return name
		}
	}
	return field
}
