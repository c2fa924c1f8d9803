package figures

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestChartIsSound(t *testing.T) {
	c := chart{title: `Feeds & "walls" <1>`, parts: [2]string{"server", "mongod"}, unit: "CPU ms", groups: []group{
		{"news", []bar{{"read", [2]float64{1, 2}}, {"a<b", [2]float64{0, 0.5}}}},
		{"nothing", []bar{{"read", [2]float64{0, 0}}}},
	}}
	var texts strings.Builder
	for decoder := xml.NewDecoder(strings.NewReader(c.svg())); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts.Write(text)
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, attribute := range start.Attr {
				if strings.Contains(attribute.Value, "NaN") || strings.Contains(attribute.Value, "Inf") {
					t.Errorf("%s has %s=%q", start.Name.Local, attribute.Name.Local, attribute.Value)
				}
			}
		}
	}
	for _, want := range []string{c.title, "a<b", "3.00 = 1.00 + 2.00", "nothing"} {
		if !strings.Contains(texts.String(), want) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}
