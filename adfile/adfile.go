// Package adfile reads advertisers, zones, campaigns and ads from a YAML or CSV file, and stores
// those that are new or have changed.
//
// The owner of a file chooses the keys of its entries. Ids are derived from the keys, so the same
// file always refers to the same entries.
package adfile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
)

// MaxEntries is the most entries of each kind that a file can have.
const MaxEntries = 100_000

// Error is a mistake in a file.
type Error struct {
	Line    int    // 0 if the mistake is not in a particular line
	Field   string // "units.3.landingUrl", or the column of a CSV file; empty if the mistake is not in a particular field
	Message string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return strings.TrimPrefix(e.Field+": "+e.Message, ": ")
	case e.Field == "":
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	default:
		return fmt.Sprintf("line %d: %s: %s", e.Line, e.Field, e.Message)
	}
}

// File is a parsed file.
type File struct {
	ads.Batch
	omitted  adserver.Omitted
	document *document
	where    where
}

// where returns the line of a path such as "units", "3", "landingUrl", and the field's name in the
// file; line 0 if there is none.
type where func(path []string) (line int, field string)

func newFile(d *document, where where) (*File, error) {
	f := &File{document: d, where: where, omitted: adserver.NewOmitted()}
	if err := f.read(d); err != nil {
		return nil, f.locate(err)
	}
	if err := f.Check(MaxEntries); err != nil {
		return nil, f.locate(err)
	}
	return f, nil
}

// The structure of a YAML file.
type (
	document struct {
		Advertisers []advertiser `yaml:"advertisers"`
		Zones       []zone       `yaml:"zones"`
		Campaigns   []campaign   `yaml:"campaigns"`
		Units       []unit       `yaml:"units"`
	}
	advertiser struct {
		Key  string  `yaml:"key"`
		Name string  `yaml:"name"`
		Caps []limit `yaml:"caps"`
	}
	zone struct {
		Site     string       `yaml:"site"`
		Name     string       `yaml:"name"`
		Currency ads.Currency `yaml:"currency"`
		Design   ads.Design   `yaml:"design"`
	}
	campaign struct {
		Key        string    `yaml:"key"`
		Advertiser string    `yaml:"advertiser"`
		Name       string    `yaml:"name"`
		State      ads.State `yaml:"state"`
		House      bool      `yaml:"house"`
		Schedule   schedule  `yaml:"schedule"`
		Budget     *budget   `yaml:"budget"` // {}: none
		Caps       []limit   `yaml:"caps"`
		// AttributionDays is how many days after its click a conversion counts.
		AttributionDays *int `yaml:"attributionDays"`
	}
	schedule struct {
		Start    time.Time `yaml:"start"`
		End      time.Time `yaml:"end"`
		TimeZone string    `yaml:"timeZone"`
		Weekdays []string  `yaml:"weekdays"`
		FromHour int       `yaml:"fromHour"`
		ToHour   int       `yaml:"toHour"`
	}
	budget struct {
		Currency ads.Currency `yaml:"currency"`
		Total    ads.Micros   `yaml:"total"`
		Daily    ads.Micros   `yaml:"daily"`
		Even     bool         `yaml:"even"`
	}
	unit struct {
		Key            string          `yaml:"key"`
		Campaign       string          `yaml:"campaign"`
		Headline       string          `yaml:"headline"`
		Body           string          `yaml:"body"`
		ImageURL       string          `yaml:"imageUrl"`
		LandingURL     string          `yaml:"landingUrl"`
		State          ads.State       `yaml:"state"`
		Bid            bid             `yaml:"bid"`
		Zones          []string        `yaml:"zones"`
		Keywords       []string        `yaml:"keywords"`
		KeywordWeights []keywordWeight `yaml:"keywordWeights"`
		Weight         *int            `yaml:"weight"`
		Caps           []limit         `yaml:"caps"`
	}
	keywordWeight struct {
		Keyword string `yaml:"keyword"`
		Weight  int    `yaml:"weight"`
	}
	bid struct {
		Model    ads.BidModel `yaml:"model"`
		Price    ads.Micros   `yaml:"price"`
		Currency ads.Currency `yaml:"currency"`
	}
	limit struct {
		Count int        `yaml:"count"`
		Per   ads.Window `yaml:"per"`
	}
)

// Parse reads a YAML file. Its error is an *Error with the first mistake: broken YAML, an unknown
// field, or a value that is not allowed.
func Parse(text []byte) (*File, error) {
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlFault(err)
	}
	if !isMapping(tree) {
		return nil, &Error{Message: "This is not a file of ads: it should be a YAML mapping with the lists advertisers, zones, campaigns and units, or a CSV file whose name ends with .csv."}
	}
	var d document
	if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict()); err != nil && len(tree.Docs) > 0 && tree.Docs[0].Body != nil {
		return nil, yamlFault(err)
	}
	return newFile(&d, func(path []string) (int, string) { return lineIn(tree, path), strings.Join(path, ".") })
}

// isMapping reports whether a file is empty, or has names with values.
func isMapping(tree *ast.File) bool {
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return true
	}
	switch tree.Docs[0].Body.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.CommentGroupNode, *ast.NullNode:
		return true
	}
	return false
}

// yamlFault extracts the line from the library's message, which begins like "[3:5] message".
func yamlFault(err error) *Error {
	text, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
	found := &Error{Message: text}
	var column int
	if at, rest, ok := strings.Cut(text, "] "); ok {
		if n, _ := fmt.Sscanf(at, "[%d:%d", &found.Line, &column); n == 2 {
			found.Message = wrongType.ReplaceAllString(rest, "this must be a $2, not a $1")
		}
	}
	return found
}

// wrongType matches the library's message about a value of the wrong type.
var wrongType = regexp.MustCompile(`^cannot unmarshal (\S+) into Go (?:struct field \S+|value) of type (?:\S+\.)?(\S+)`)

func (f *File) read(d *document) error {
	keys := map[string]bool{}
	for i, a := range d.Advertisers {
		if err := newKey(keys, "advertisers", i, a.Key); err != nil {
			return err
		}
		f.Advertisers = append(f.Advertisers, ads.Advertiser{ID: ads.AdvertiserID{ID: idOf("advertiser", a.Key)}, Name: a.Name, Caps: capsOf(a.Caps)})
	}
	for _, z := range d.Zones {
		f.Zones = append(f.Zones, ads.Zone{ID: ads.ZoneID{Site: z.Site, Name: z.Name}, Currency: z.Currency, Design: cmp.Or(z.Design, ads.ByKeywords)})
	}
	for i, c := range d.Campaigns {
		if err := newKey(keys, "campaigns", i, c.Key); err != nil {
			return err
		}
		read, err := c.read(fmt.Sprintf("campaigns.%d", i))
		if err != nil {
			return err
		}
		f.omitted.CampaignStates[read.ID] = c.State == ""
		f.omitted.Budgets[read.ID] = c.Budget == nil
		f.Campaigns = append(f.Campaigns, read)
	}
	for i, u := range d.Units {
		if err := newKey(keys, "units", i, u.Key); err != nil {
			return err
		}
		read, err := u.read(fmt.Sprintf("units.%d", i))
		if err != nil {
			return err
		}
		f.omitted.UnitStates[read.ID] = u.State == ""
		f.Units = append(f.Units, read)
	}
	return nil
}

// newKey checks that a key is present and unique among the entries of its kind.
func newKey(keys map[string]bool, kind string, i int, key string) error {
	field := fmt.Sprintf("%s.%d.key", kind, i)
	if err := fault.CheckLine(field, key, 1, 100); err != nil {
		return err
	}
	if keys[kind+"/"+key] {
		return fault.Errorf(fault.CodeTaken, field, "The key %q is used twice.", key)
	}
	keys[kind+"/"+key] = true
	return nil
}

// idOf always returns the same id for the same key. The time in the id has no meaning: see
// ads.Creation.
func idOf(kind, key string) id.ID { return id.Derive(time.Unix(0, 0), "adfile/"+kind+"/"+key) }

func capsOf(limits []limit) []ads.Cap {
	var caps []ads.Cap
	for _, l := range limits {
		caps = append(caps, ads.Cap(l))
	}
	return caps
}

func weightsOf(given []keywordWeight) []ads.KeywordWeight {
	var weights []ads.KeywordWeight
	for _, w := range given {
		weights = append(weights, ads.KeywordWeight(w))
	}
	return weights
}

func (c *campaign) read(field string) (ads.Campaign, error) {
	read := ads.Campaign{
		ID: ads.CampaignID{ID: idOf("campaign", c.Key)}, Name: c.Name, State: cmp.Or(c.State, ads.Active), House: c.House,
		Caps: capsOf(c.Caps),
		Schedule: ads.Schedule{
			Start: c.Schedule.Start.UTC().Truncate(time.Millisecond), End: c.Schedule.End.UTC().Truncate(time.Millisecond), TimeZone: c.Schedule.TimeZone, FromHour: c.Schedule.FromHour, ToHour: c.Schedule.ToHour,
		},
	}
	if c.Advertiser != "" {
		read.Advertiser.ID = idOf("advertiser", c.Advertiser)
	}
	if c.Budget != nil {
		read.Budget = ads.Budget(*c.Budget)
	}
	if c.AttributionDays != nil {
		if err := ads.CheckAttribution(field+".attributionDays", *c.AttributionDays); err != nil {
			return read, err
		}
		read.Attribution = *c.AttributionDays
	}
	for i, name := range c.Schedule.Weekdays {
		day := slices.IndexFunc(weekdays, func(known string) bool { return strings.EqualFold(known, name) })
		if day < 0 {
			return read, fault.Invalidf(fmt.Sprintf("%s.schedule.weekdays.%d", field, i), "A weekday must be one of MONDAY to SUNDAY.")
		}
		read.Schedule.Weekdays |= ads.On(time.Weekday(day))
	}
	return read, nil
}

var weekdays = []string{"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"}

func (u *unit) read(field string) (ads.Unit, error) {
	read := ads.Unit{
		ID: ads.UnitID{ID: idOf("unit", u.Key)}, State: cmp.Or(u.State, ads.Active), Bid: ads.Bid(u.Bid), Caps: capsOf(u.Caps),
		Creative: ads.Creative{Headline: u.Headline, Body: u.Body, ImageURL: u.ImageURL, LandingURL: u.LandingURL},
	}
	if u.Campaign != "" {
		read.Campaign.ID = idOf("campaign", u.Campaign)
	}
	if u.Weight != nil {
		if err := ads.CheckWeight(field+".weight", *u.Weight); err != nil {
			return read, err
		}
		read.Weight = *u.Weight
	}
	for i, text := range u.Zones {
		zone, err := ads.ParseZoneID(text)
		if err != nil {
			return read, fault.Invalidf(fmt.Sprintf("%s.zones.%d", field, i), "A zone must be written as site/zone, such as example.org/sidebar.")
		}
		read.Zones = append(read.Zones, zone)
	}
	var err error
	if read.Keywords, err = ads.NormalKeywords(field+".keywords", u.Keywords); err != nil {
		return read, err
	}
	read.KeywordWeights, err = ads.NormalKeywordWeights(field+".keywordWeights", read.Keywords, weightsOf(u.KeywordWeights))
	return read, err
}

// locate adds the line to the mistakes in err that name a field. It returns other errors unchanged.
func (f *File) locate(err error) error {
	mistake, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	line, field := f.where(mistake.Path())
	return &Error{Line: line, Field: field, Message: mistake.Message}
}

// lineIn returns the line of a field, or of the innermost existing parent.
func lineIn(tree *ast.File, path []string) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		var text strings.Builder
		text.WriteByte('$')
		for _, step := range path {
			if strings.Trim(step, "0123456789") == "" {
				text.WriteString("[" + step + "]")
			} else {
				text.WriteString("." + step)
			}
		}
		where, err := yaml.PathString(text.String())
		if err != nil {
			continue
		}
		if node, err := where.FilterFile(tree); err == nil && node != nil {
			return firstLine(node)
		}
	}
	return 0
}

// firstLine returns the first line of a node. A mapping's own token is the colon after its first
// key, which may be in a later line.
func firstLine(node ast.Node) int {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		node = m.Values[0].Key
	}
	return node.GetToken().Position.Line
}
