package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/tools/txtar"

	"plaza/ads"
	"plaza/graph/generated"
	"plaza/id"
	"plaza/social"
	"plaza/storage"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// TestGolden runs the cases of testdata/golden on every engine, over HTTP. A case is a txtar file: each step is a
// file named "actor: what", which holds an operation, followed by a file named "want" with its answer.
//
// Actors are people who have signed up with that handle (and that name, and the password "password of <handle>");
// "anyone" is not signed in, and "<token 1>" is whose token that is. Two steps are no operations and have no answer:
// "SEED: ads" places ads (see seedAds and seedNewsAds), "GRANT: admin ada" gives that right. In answers each id, cursor, token and time is
// replaced by a name (<post 1>), numbered in order of appearance, and steps use those names. "VARIABLES {…}" on the first line of a step gives variables.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	forEachEngine(t, func(t *testing.T, e engine) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				runGolden(t, e, file)
			})
		}
	})
}

func runGolden(t *testing.T, e engine, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plaza := startPlaza(t, e)
	names := newNames()
	for i := 0; i < len(archive.Files); i++ {
		step := archive.Files[i]
		actor, _, ok := strings.Cut(step.Name, ":")
		if !ok {
			t.Fatalf("%s: a step is named actor: what, not %q", file, step.Name)
		}
		if actor == "SEED" {
			seedAds(t, plaza.store)
			seedNewsAds(t, plaza.store)
			continue
		}
		if actor == "GRANT" {
			grant(t, plaza, step.Name)
			continue
		}
		got := names.hide(names.person(t, plaza, actor).raw(t, names.reveal(string(step.Data))))
		if *update {
			archive.Files = setWant(archive.Files, i, got)
		} else if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
			t.Fatalf("%s: %q wants nothing; run the test with -update", file, step.Name)
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

// grant gives a right to an actor; the step is "GRANT: right actor".
func grant(t *testing.T, p *plaza, step string) {
	t.Helper()
	words := strings.Fields(step)
	right, err := social.ParseRight(words[1])
	if err != nil {
		t.Fatal(err)
	}
	p.as(t, words[2])
	if _, err := social.New(p.store, social.Options{}).GrantRight(t.Context(), words[2], right); err != nil {
		t.Fatal(err)
	}
}

// seedAds places two ads in the zone "sidebar" of example.org, of which "Engines" has the higher bid.
func seedAds(t *testing.T, st storage.Store) {
	t.Helper()
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Babbage & Sons"}
	campaign := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Autumn", State: ads.Active}
	zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "sidebar"}, Currency: "EUR", Design: ads.ByKeywords}
	unit := func(headline, image string, price ads.Micros) ads.Unit {
		return ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: campaign.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID},
			Creative: ads.Creative{Headline: headline, Body: "By steam.", ImageURL: image, LandingURL: "https://example.org/" + headline},
			Bid:      ads.Bid{Model: ads.CPM, Price: price, Currency: zone.Currency},
		}
	}
	_, err := ads.New(st.Ads(), ads.Options{}).Add(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{campaign}, Zones: []ads.Zone{zone},
		Units: []ads.Unit{unit("Tables", "", 1_000_000), unit("Engines", "https://example.org/engine.png", 2_000_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// seedNewsAds places three ads in newsZone: "Tea" has the highest bid, "Anvils" and "Steam" have keywords, and "Steam" is for each person once a day.
func seedNewsAds(t *testing.T, st storage.Store) {
	t.Helper()
	advertised := func(n int) id.ID { return id.Derive(time.UnixMilli(1), fmt.Sprint("news ads/", n)) }
	batch := ads.Batch{Zones: []ads.Zone{{ID: newsZone, Currency: "EUR", Design: ads.ByKeywords}}}
	for n, u := range []ads.Unit{
		{Creative: ads.Creative{Headline: "Tea"}, Bid: ads.Bid{Price: 2_000_000}},
		{Creative: ads.Creative{Headline: "Anvils"}, Bid: ads.Bid{Price: 1_000_000}, Keywords: []string{"anvil", "forge.example"}},
		{Creative: ads.Creative{Headline: "Steam"}, Bid: ads.Bid{Price: 1_500_000}, Keywords: []string{"steam"}, Caps: []ads.Cap{{Count: 1, Per: ads.Day}}},
	} {
		a := ads.Advertiser{ID: ads.AdvertiserID{ID: advertised(n)}, Name: "Maker of " + u.Headline}
		c := ads.Campaign{ID: ads.CampaignID{ID: advertised(10 + n)}, Advertiser: a.ID, Name: "News", State: ads.Active}
		u.ID, u.Campaign, u.State, u.Zones = ads.UnitID{ID: advertised(20 + n)}, c.ID, ads.Active, []ads.ZoneID{newsZone}
		u.LandingURL, u.Bid.Model, u.Bid.Currency = "https://example.org/"+u.Headline, ads.CPM, "EUR"
		batch.Advertisers, batch.Campaigns, batch.Units = append(batch.Advertisers, a), append(batch.Campaigns, c), append(batch.Units, u)
	}
	if _, err := ads.New(st.Ads(), ads.Options{}).Add(t.Context(), batch); err != nil {
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

// TestGoldenCoversTheSchema says which field, argument, input field or enum value no golden case uses.
func TestGoldenCoversTheSchema(t *testing.T) {
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
			if doc, err := gqlparser.LoadQueryWithRules(schema, string(step.Data), nil); err == nil { // else it is an answer
				used.document(doc)
			}
		}
	}
	for _, missing := range used.missing(schema) {
		t.Errorf("no golden case uses %s", missing)
	}
}

// coverage has the coordinates (https://spec.graphql.org/draft/#sec-Schema-Coordinates) of what operations use.
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

// missing lists what is not covered, sorted. What an interface's field covers, its types' fields need not; live
// updates have tests of their own.
func (c coverage) missing(schema *ast.Schema) []string {
	var missing []string
	need := func(coordinates ...string) {
		if !slices.ContainsFunc(coordinates, func(at string) bool { return c[at] }) {
			missing = append(missing, coordinates[0])
		}
	}
	for _, def := range schema.Types {
		switch {
		case def.BuiltIn || slices.Contains([]string{"Subscription", "NewsItemAdded", "CommentAdded", "LiveEvent", "UserErrorCode", "AdVerdict", "AdForecastBasis", "Right"}, def.Name):
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

// names replaces what differs from run to run by names, and back.
type names struct {
	hidden, revealed map[string]string
	counts           map[string]int
}

func newNames() *names {
	return &names{hidden: map[string]string{}, revealed: map[string]string{}, counts: map[string]int{}}
}

var (
	timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	idText   = regexp.MustCompile(`^(user|circle|post|comment|ad|adchoice|adrefund|advertiser|campaign)_[0-9a-z]{26}$`)
	field    = regexp.MustCompile(`^(\s*(?:"([A-Za-z]+)": )?)"([^"\\]+)"(,?)$`)
	name     = regexp.MustCompile(`<[a-z]+ \d+>`)
)

// hide works on an indented answer, line by line, because only a field's name tells what is a cursor or a token.
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

// person is the one whose token is named, or who has that handle.
func (n *names) person(t *testing.T, plaza *plaza, actor string) person {
	t.Helper()
	if token, ok := n.revealed[actor]; ok {
		return person{url: plaza.url, token: token}
	}
	return plaza.as(t, actor)
}

func (n *names) reveal(operation string) string {
	return name.ReplaceAllStringFunc(operation, func(made string) string {
		if text, ok := n.revealed[made]; ok {
			return text
		}
		return made
	})
}

// person sends operations to a running Plaza.
type person struct {
	url, token string
}

// raw sends an operation, and answers with the indented body.
func (p person) raw(t testing.TB, operation string) string {
	t.Helper()
	request := map[string]any{"query": operation}
	if rest, ok := strings.CutPrefix(operation, "VARIABLES "); ok {
		line, query, _ := strings.Cut(rest, "\n")
		request = map[string]any{"query": query, "variables": json.RawMessage(line)}
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer := p.post(t, body)
	var indented bytes.Buffer
	if err := json.Indent(&indented, withoutCost(t, answer), "", "  "); err != nil {
		t.Fatalf("the answer is not JSON: %v: %s", err, answer)
	}
	return indented.String() + "\n"
}

func (p person) post(t testing.TB, body []byte) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// withoutCost leaves extensions.cost out of an answer, but not the order of its fields.
func withoutCost(t testing.TB, answer []byte) []byte {
	t.Helper()
	var parts struct {
		Errors json.RawMessage `json:"errors,omitempty"`
		Data   json.RawMessage `json:"data,omitempty"`
	}
	if err := json.Unmarshal(answer, &parts); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	kept, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// do sends an operation with variables, and reads its data into into; errors fail the test.
func (p person) do(t testing.TB, operation string, variables map[string]any, into any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	raw := p.post(t, body)
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if len(answer.Errors) > 0 {
		t.Fatalf("errors: %s", answer.Errors)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Data, into); err != nil {
			t.Fatalf("%v: %s", err, answer.Data)
		}
	}
}
