package api

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/tools/txtar"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/graph/generated"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/storage"
)

var (
	update   = flag.Bool("update", false, "rewrite the golden answers")
	updating sync.Mutex // the engines rewrite a file one after the other
)

// TestGolden runs the cases of testdata/golden over HTTP, on every engine that may differ (see
// oneLayout). A case is a txtar file: each step is a file named "actor: what", which contains an
// operation, followed by a file named "want" with its answer.
//
// Actors are people who have signed up with that handle (and that name, and the password "password
// of <handle>"); "anyone" is not signed in, and "<token 1>" is the owner of that token. Three steps
// are not operations and have no answer: "SEED: ads" places ads (see seedAds and seedNewsAds),
// "GRANT: admin ada" grants that right, and "NOTIFY: so far" waits until the notifications of
// everything since the first such step are stored. In answers each id, cursor, token and time is
// replaced by a name (<post 1>), numbered in order of appearance, and steps use those names.
// "VARIABLES {…}" on the first line of a step gives variables.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			if slices.Contains(oneLayout, name) && !e.IsDefault() {
				continue
			}
			t.Run(name, func(t *testing.T) { runGolden(t, e, file) })
		}
	})
}

// oneLayout are the cases without follows, feeds and comments. All layouts of MongoDB keep the rest
// in the same way.
var oneLayout = []string{
	"adconversions", "admanager", "adrefunds", "ads", "emails", "id_tokens", "invitations", "names", "passwords", "polls", "reactions", "rights",
	"sessions",
}

func runGolden(t *testing.T, e plazatest.Engine, file string) {
	if *update {
		updating.Lock()
		defer updating.Unlock()
	}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plaza := serveGolden(t, e, archive)
	names := newNames()
	for i := 0; i < len(archive.Files); i++ {
		step := archive.Files[i]
		actor, _, ok := strings.Cut(step.Name, ":")
		if !ok {
			t.Fatalf("%s: a step is named actor: what, not %q", file, step.Name)
		}
		if actor == "INVITE" { // serveGolden has done it
			continue
		}
		if actor == "SEED" {
			plazatest.SeedAds(t, plaza.Store)
			seedNewsAds(t, plaza.Store)
			continue
		}
		if actor == "NOTIFY" {
			plaza.Notify(t)
			continue
		}
		if actor == "GRANT" {
			plazatest.Grant(t, plaza, step.Name)
			continue
		}
		got := names.hide(names.person(t, plaza, actor).Raw(t, names.reveal(string(step.Data))))
		if *update {
			archive.Files = setWant(archive.Files, i, got)
		} else if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
			t.Fatalf("%s: %q has no expected answer; run the test with -update", file, step.Name)
		} else if diff := cmp.Diff(string(archive.Files[i+1].Data), got); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", file, step.Name, diff)
		}
		i++
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serveGolden serves a fresh store. If the first step is "INVITE: ", registration is by invitation,
// and members may have two.
func serveGolden(t *testing.T, e plazatest.Engine, archive *txtar.Archive) *plazatest.Plaza {
	t.Helper()
	if strings.HasPrefix(archive.Files[0].Name, "INVITE:") {
		return plazatest.ServeInviting(t, e.Open(t), 2, time.Now)
	}
	return plazatest.Start(t, e)
}

// seedNewsAds places three ads in newsZone: "Tea" has the highest bid, "Anvils" and "Steam" have
// keywords, and "Steam" is shown to each person once a day.
func seedNewsAds(t *testing.T, st storage.Store) {
	t.Helper()
	advertised := func(n int) id.ID { return id.Derive(time.UnixMilli(1), fmt.Sprint("news ads/", n)) }
	batch := ads.Batch{Zones: []ads.Zone{{ID: plazatest.NewsZone, Currency: "EUR", Design: ads.ByKeywords}}}
	for n, u := range []ads.Unit{
		{Creative: ads.Creative{Headline: "Tea"}, Bid: ads.Bid{Price: 2_000_000}},
		{Creative: ads.Creative{Headline: "Anvils"}, Bid: ads.Bid{Price: 1_000_000}, Keywords: []string{"anvil", "forge.example"}},
		{Creative: ads.Creative{Headline: "Steam"}, Bid: ads.Bid{Price: 1_500_000}, Keywords: []string{"steam"}, Caps: []ads.Cap{{Count: 1, Per: ads.Day}}},
	} {
		a := ads.Advertiser{ID: ads.AdvertiserID{ID: advertised(n)}, Name: "Maker of " + u.Headline}
		c := ads.Campaign{ID: ads.CampaignID{ID: advertised(10 + n)}, Advertiser: a.ID, Name: "News", State: ads.Active}
		u.ID, u.Campaign, u.State, u.Zones = ads.UnitID{ID: advertised(20 + n)}, c.ID, ads.Active, []ads.ZoneID{plazatest.NewsZone}
		u.LandingURL, u.Bid.Model, u.Bid.Currency = "https://example.org/"+u.Headline, ads.CPM, "EUR"
		batch.Advertisers, batch.Campaigns, batch.Units = append(batch.Advertisers, a), append(batch.Campaigns, c), append(batch.Units, u)
	}
	if _, err := adserver.New(st.Ads(), adserver.Options{}).Add(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func setWant(files []txtar.File, step int, got string) []txtar.File {
	want := txtar.File{Name: "want", Data: []byte(got)}
	if step+1 < len(files) && files[step+1].Name == "want" {
		files[step+1] = want
		return files
	}
	return append(files[:step+1], append([]txtar.File{want}, files[step+1:]...)...)
}

// TestGoldenCoversTheSchema reports fields, arguments, input fields and enum values that no golden
// case uses.
func TestGoldenCoversTheSchema(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	used := coverage{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range archive.Files {
			if doc, err := gqlparser.LoadQueryWithRules(schema, string(step.Data), nil); err == nil { // otherwise it is an answer
				used.document(doc)
			}
		}
	}
	for _, missing := range used.missing(schema) {
		t.Errorf("no golden case uses %s", missing)
	}
}

// coverage holds the coordinates (https://spec.graphql.org/draft/#sec-Schema-Coordinates) that
// operations use.
type coverage map[string]bool

func (c coverage) document(doc *ast.QueryDocument) {
	for _, operation := range doc.Operations {
		c.selections(operation.SelectionSet)
	}
}

func (c coverage) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			at := s.ObjectDefinition.Name + "." + s.Name
			c[at] = true
			for _, argument := range s.Arguments {
				c[at+"("+argument.Name+":)"] = true
				c.value(argument.Value)
			}
			c.selections(s.SelectionSet)
		case *ast.InlineFragment:
			c.selections(s.SelectionSet)
		}
	}
}

func (c coverage) value(v *ast.Value) {
	if v.Kind == ast.EnumValue {
		c[v.Definition.Name+"."+v.Raw] = true
	}
	for _, child := range v.Children {
		if v.Kind == ast.ObjectValue {
			c[v.Definition.Name+"."+child.Name] = true
		}
		c.value(child.Value)
	}
}

// missing lists the coordinates that are not covered, sorted. If the field of an interface is
// covered, the fields of its types need not be. Live updates have their own tests.
func (c coverage) missing(schema *ast.Schema) []string {
	var missing []string
	need := func(coordinates ...string) {
		if !slices.ContainsFunc(coordinates, func(at string) bool { return c[at] }) {
			missing = append(missing, coordinates[0])
		}
	}
	for _, def := range schema.Types {
		switch {
		case def.BuiltIn || slices.Contains([]string{"Subscription", "NewsItemAdded", "CommentAdded", "LiveEvent", "PostChanged", "IncomingAdded", "WallPostAdded", "CommentChanged", "UserErrorCode", "AdVerdict", "AdForecastBasis", "Right", "Scope", "Registration", "NotificationKind", "NotificationAdded", "ReportSubject", "StandingKind"}, def.Name):
		case def.Kind == ast.Object:
			for _, f := range def.Fields {
				if strings.HasPrefix(f.Name, "__") {
					continue // introspection
				}
				need(coordinates(def, "."+f.Name)...)
				for _, a := range f.Arguments {
					need(coordinates(def, "."+f.Name+"("+a.Name+":)")...)
				}
			}
		case def.Kind == ast.InputObject:
			for _, f := range def.Fields {
				need(def.Name + "." + f.Name)
			}
		case def.Kind == ast.Enum:
			for _, v := range def.EnumValues {
				need(def.Name + "." + v.Name)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

func coordinates(def *ast.Definition, rest string) []string {
	all := []string{def.Name + rest}
	for _, implemented := range def.Interfaces {
		all = append(all, implemented+rest)
	}
	return all
}

// names replaces values that differ from run to run by names, and names by values.
type names struct {
	hidden, revealed map[string]string
	counts           map[string]int
}

func newNames() *names {
	return &names{hidden: map[string]string{}, revealed: map[string]string{}, counts: map[string]int{}}
}

var (
	timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	idText   = regexp.MustCompile(`^(user|circle|post|comment|session|ad|adchoice|adrefund|advertiser|campaign|viewer|polloption|notification|token|case|decision|invitation|invite)_[0-9a-z]{26}(?:_\d)?$`)
	field    = regexp.MustCompile(`^(\s*(?:"([A-Za-z]+)": )?)"([^"\\]+)"(,?)$`)
	name     = regexp.MustCompile(`<[a-z]+ \d+>`)
)

// hide works on an indented answer, line by line, because only the name of a field shows whether it
// is a cursor or a token.
func (n *names) hide(answer string) string {
	lines := strings.Split(answer, "\n")
	for i, line := range lines {
		m := field.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if kind := kindOf(m[2], m[3]); kind != "" {
			lines[i] = m[1] + `"` + n.nameOf(kind, m[3]) + `"` + m[4]
		}
	}
	return strings.Join(lines, "\n")
}

func kindOf(field, text string) string {
	if m := idText.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	switch {
	case timeText.MatchString(text):
		return "time"
	case field == "slug" || field == "token" || field == "impressionToken" || field == "clickUrl" || field == "path":
		return strings.ToLower(field)
	case strings.HasSuffix(strings.ToLower(field), "cursor"):
		return "cursor"
	default:
		return ""
	}
}

func (n *names) nameOf(kind, text string) string {
	if kind == "time" {
		return "<time>"
	}
	if known, ok := n.hidden[text]; ok {
		return known
	}
	n.counts[kind]++
	made := fmt.Sprintf("<%s %d>", kind, n.counts[kind])
	n.hidden[text], n.revealed[made] = made, text
	return made
}

// person returns the person with that token or handle.
func (n *names) person(t *testing.T, plaza *plazatest.Plaza, actor string) plazatest.Person {
	t.Helper()
	if token, ok := n.revealed[actor]; ok {
		return plazatest.Person{URL: plaza.URL, Token: token}
	}
	return plaza.As(t, actor)
}

func (n *names) reveal(operation string) string {
	return name.ReplaceAllStringFunc(operation, func(made string) string {
		if text, ok := n.revealed[made]; ok {
			return text
		}
		return made
	})
}
