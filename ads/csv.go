package ads

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// CSV writes a report in the format of RFC 4180, with a header. A text that a spreadsheet would run
// as a formula gets an apostrophe in front. Cells without a value are empty.
func CSV(by Dimension, rows []ReportRow) string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write([]string{
		strings.ToLower(string(by)), "currency", "impressions", "clicks", "invalid", "ctr", "spend", "ecpm", "refunded", "requested", "filled", "fill_rate",
		"conversions", "conversion_rate", "conversions_per_impression", "cost_per_conversion",
	})
	for i := range rows {
		row, key := &rows[i], rows[i].Key
		if strings.ContainsAny(key[:min(len(key), 1)], "=+-@") {
			key = "'" + key
		}
		asked, filled, rate, costEach := "", "", "", ""
		if cost, ok := row.CostPerConversion(); ok {
			costEach = amount(cost)
		}
		if row.Requested > 0 {
			asked, filled, rate = strconv.FormatInt(row.Requested, 10), strconv.FormatInt(row.Filled, 10), fmt.Sprintf("%.6f", row.FillRate())
		}
		_ = w.Write([]string{
			key, string(row.Currency), strconv.FormatInt(row.Impressions, 10), strconv.FormatInt(row.Clicks, 10), strconv.FormatInt(row.Invalid, 10),
			fmt.Sprintf("%.6f", row.CTR()), amount(row.Spend), amount(row.ECPM()),
			amount(row.Refunded), asked, filled, rate,
			strconv.FormatInt(row.Conversions, 10), fmt.Sprintf("%.6f", row.ConversionRate()), fmt.Sprintf("%.6f", row.ConversionsPerImpression()), costEach,
		})
	}
	w.Flush()
	return text.String()
}

// amount formats micros as units: "2.500000".
func amount(m Micros) string { return fmt.Sprintf("%d.%06d", m/1_000_000, m%1_000_000) }
