package adfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

// goodCSV has the same content as good, in lines 2 to 8.
const goodCSV = `type,key,name,advertiser,campaign,site,zone,currency,design,state,house,start,end,time_zone,weekdays,from_hour,to_hour,total_budget,daily_budget,even,headline,body,image_url,landing_url,bid_model,bid,zones,keywords,weight,caps,attribution_days
advertiser,acme,Acme,,,,,,,,,,,,,,,,,,,,,,,,,,,9/WEEK,
zone,,,,,example.org,top,EUR,FREQUENCY,,,,,,,,,,,,,,,,,,,,,,
zone,,,,,example.org,side,EUR,,,,,,,,,,,,,,,,,,,,,,,
campaign,spring,Spring,acme,,,,EUR,,,,2026-03-01,2026-06-01T00:00:00+02:00,Europe/Berlin,MONDAY|friday,8,20,1000,20.00,yes,,,,,,,,,,,
Campaign,ours,Ours,acme,,,,EUR,,paused,TRUE,,,,,,,,,,,,,,,,,,,,7
,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
ad,anvils,,,spring,,,EUR,,,,,,,,,,,,,Anvils,,,https://acme.example/anvils,cpc,0.25,example.org/top|example.org/side,Anvil | heavy  load,2,1/day,
ad,house,,,ours,,,EUR,,,,,,,,,,,,,Read on,,,https://example.org/,CPM,0.001,,,,,
`

func TestCSVEqualsYAML(t *testing.T) {
	want, err := adfile.Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as it is": goodCSV,
		"with a byte order mark and the line ends of Windows": "\ufeff" + strings.ReplaceAll(goodCSV, "\n", "\r\n"),
		"without a last line end":                             strings.TrimSuffix(goodCSV, "\n"),
		"all quoted":                                          `"` + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(goodCSV, "\n"), ",", `","`), "\n", "\"\n\"") + `"`,
	} {
		got, err := adfile.ParseCSV([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want.Batch, got.Batch); diff != "" {
			t.Errorf("%s (- YAML, + CSV):\n%s", name, diff)
		}
	}
}

func TestCSVIsStoredOnce(t *testing.T) {
	service := adserver.New(adsmodel.New(), adserver.Options{})
	for i, step := range []struct {
		text string
		want adfile.Summary
	}{
		{goodCSV, adfile.Summary{Added: 7}},
		{goodCSV, adfile.Summary{Unchanged: 7}},
		{strings.Replace(goodCSV, ",0.25,", ",0.250001,", 1), adfile.Summary{Changed: 1, Unchanged: 6}},
	} {
		f, err := adfile.ParseCSV([]byte(step.text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := adfile.Load(t.Context(), service, f, func(int, int) {})
		if err != nil || got != step.want {
			t.Errorf("step %d: %+v, %v; want %+v", i, got, err, step.want)
		}
	}
	f, err := adfile.ParseCSV([]byte("type,key,campaign,headline,landing_url,bid_model,bid,currency\n\nad,a,nowhere,A,https://a.example/,CPM,1,EUR\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = adfile.Load(t.Context(), service, f, func(int, int) {})
	if mistake, ok := errors.AsType[*adfile.Error](err); !ok || mistake.Line != 3 || !strings.Contains(mistake.Message, "campaign") {
		t.Errorf("an ad of no campaign: %v", err)
	}
}

func TestMoneyIsExact(t *testing.T) {
	for cell, want := range map[string]ads.Micros{
		"1.25": 1_250_000, "1": 1_000_000, "0.001": 1_000, "12345678.9": 12_345_678_900_000, "007.50": 7_500_000, "999999999.999": 999_999_999_999_000,
	} {
		f, err := adfile.ParseCSV([]byte(strings.Replace(goodCSV, ",CPM,0.001,", ",CPM,"+cell+",", 1)))
		if err != nil {
			t.Errorf("%s: %v", cell, err)
		} else if got := f.Units[1].Bid.Price; got != want {
			t.Errorf("%s is %d micros, want %d", cell, got, want)
		}
	}
}

func TestCSVMistakesNameLineAndColumn(t *testing.T) {
	head, _, _ := strings.Cut(goodCSV, "\n")
	for name, c := range map[string]struct {
		old, replaced string
		line          int
		field, says   string
	}{
		"no columns":               {goodCSV, "", 0, "", "empty"},
		"semicolons":               {goodCSV, strings.ReplaceAll(goodCSV, ",", ";"), 1, "", "semicolons"},
		"tabs":                     {goodCSV, strings.ReplaceAll(goodCSV, ",", "\t"), 1, "", "tabs"},
		"another encoding":         {"Spring", "Fr\xfchling", 0, "", "UTF-8"},
		"no type":                  {"type,key", "body,key", 1, "", "twice"},
		"no column type":           {goodCSV, "key,name\nacme,Acme\n", 1, "", "type is missing"},
		"an unknown column":        {"time_zone", "timezone", 1, "", `"timezone"`},
		"an unknown type":          {"Campaign,ours", "group,ours", 6, "type", "advertiser"},
		"a row without type":       {"Campaign,ours", ",ours", 6, "type", "advertiser"},
		"a column of another":      {"zone,,,,,example.org,side", "zone,,Side,,,example.org,side", 4, "name", "zone"},
		"too few cells":            {"advertiser,acme,Acme,", "advertiser,acme,", 2, "", "31"},
		"an open quote":            {"advertiser,acme", "advertiser,\"acme", 2, "", "quote"},
		"a quote inside":           {"advertiser,acme,Acme", "advertiser,acme,Ac\"me", 2, "", "quote"},
		"no name":                  {"acme,Acme", "acme,", 2, "name", "empty"},
		"a cap without a number":   {"9/WEEK", "often", 2, "caps", "3/DAY"},
		"a cap of nothing":         {"9/WEEK", "0/WEEK", 2, "caps", "1 to 100"},
		"a cap of another window":  {"9/WEEK", "9/YEAR", 2, "caps", "LIFETIME"},
		"an unknown currency":      {"top,EUR", "top,EUX", 3, "currency", "currency"},
		"a bad zone":               {"example.org,side", "example.org,Side", 4, "zone", "a–z"},
		"no such day":              {"friday", "freitag", 5, "weekdays", "SUNDAY"},
		"no moment":                {"2026-03-01", "01.03.2026", 5, "start", "2026-03-01"},
		"end before start":         {"2026-06-01", "2025-06-01", 5, "end", "after the start"},
		"an hour like a time":      {",8,20,", ",8:00,20,", 5, "from_hour", "whole number"},
		"an hour too late":         {",8,20,", ",8,25,", 5, "to_hour", "24"},
		"neither yes nor no":       {",yes,", ",maybe,", 5, "even", "yes or no"},
		"a budget of nothing":      {",1000,20.00,yes", ",,,yes", 5, "even", "no budget"},
		"an even pace without end": {",2026-06-01T00:00:00+02:00,Europe/Berlin,MONDAY|friday,8,20,1000,20.00", ",,Europe/Berlin,MONDAY|friday,8,20,1000,", 5, "even", "a daily budget or an end"},
		"no such currency":         {"acme,,,,EUR,,paused", "acme,,,,QQQ,,paused", 6, "currency", "ISO 4217"},
		"a decimal comma":          {",20.00,", ",\"20,00\",", 5, "daily_budget", "2.50"},
		"a daily above total":      {",20.00,", ",2000,", 5, "daily_budget", "more than the total"},
		"a budget of a house":      {",TRUE,,,,,,,,", ",TRUE,,,,,,,5,", 6, "budget", "no budget"},
		"a key twice":              {"ad,house", "ad,anvils", 9, "key", "twice"},
		"too many days":            {",7\n", ",61\n", 6, "attribution_days", "1 to 60"},
		"days that are none":       {",7\n", ",week\n", 6, "attribution_days", "whole number"},
		"a landing page":           {"https://acme.example/anvils", "javascript:alert(1)", 8, "landing_url", "http"},
		"a negative bid":           {",0.25,", ",-1,", 8, "bid", "2.50"},
		"a bid in euros":           {",0.25,", ",0.25 €,", 8, "bid", "2.50"},
		"thousands":                {",0.25,", ",1.000.000,", 8, "bid", "2.50"},
		"a formula":                {",0.25,", ",=1+1,", 8, "bid", "2.50"},
		"too exact":                {",0.25,", ",0.2500001,", 8, "bid", "6 digits"},
		"nothing to pay":           {",0.25,", ",0.00,", 8, "bid", "more than 0"},
		"too much":                 {",0.25,", ",999999999999,", 8, "bid", "micros"},
		"an impression in parts":   {",CPM,0.001,", ",CPM,0.0015,", 9, "bid", "whole micros"},
		"no place":                 {"example.org/top|", "example.org|", 8, "zones", "site/zone"},
		"a weight":                 {",2,1/day", ",heavy,1/day", 8, "weight", "whole number"},
		"no weight":                {",2,1/day", ",0,1/day", 8, "weight", "1 to 1000"},
		"a headline of two lines":  {"Read on", "\"Read\non\"", 9, "headline", "single line"},
		"after one of two lines":   {"Anvils,,", "Anvils,\"a\nb\",", 8, "body", "single line"},
	} {
		text := strings.Replace(goodCSV, c.old, c.replaced, 1)
		if text == goodCSV {
			t.Errorf("%s: the case changes nothing", name)
		}
		_, err := adfile.ParseCSV([]byte(text))
		mistake, ok := errors.AsType[*adfile.Error](err)
		if !ok || mistake.Line != c.line || mistake.Field != c.field || !strings.Contains(mistake.Message, c.says) {
			t.Errorf("%s: %v; want line %d, %s, and %q", name, err, c.line, c.field, c.says)
		}
	}
	text := head + "\n" + `advertiser,x,"A` + strings.Repeat("\n", 5) + `B"` + strings.Repeat(",", 28) + "\nzone" + strings.Repeat(",", 30)
	_, err := adfile.ParseCSV([]byte(text))
	if mistake, ok := errors.AsType[*adfile.Error](err); !ok || mistake.Line != 2 || mistake.Field != "name" {
		t.Errorf("a name of many lines: %v", err)
	}
}

func FuzzParseCSV(f *testing.F) {
	f.Add([]byte(goodCSV))
	f.Add([]byte("type,bid\nad,1.2.3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := adfile.ParseCSV(text)
		if _, ok := errors.AsType[*adfile.Error](err); err != nil && !ok {
			t.Errorf("%T: %v", err, err)
		}
		if err == nil && file.Check(adfile.MaxEntries) != nil {
			t.Error("a mistake was let through")
		}
	})
}
