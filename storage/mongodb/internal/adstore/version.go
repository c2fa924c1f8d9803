package adstore

// The changes between versions of documents, by collection. In all of them, a field that an older
// document lacks has its default meaning, so an upgrade changes only the version.
const (
	// recordingsVersion is for adImpressions, adClicks and adConversions. Documents of version 2
	// may be waiting to be counted; those of version 1 have been counted.
	recordingsVersion = 2
	// conversionsVersion is for adCampaigns, adTallies and adLedgers, and an earlier version of
	// adUnits and adZones. Since version 2 ads have conversions: campaigns, and their units in
	// zones, say for how many days after a click they count; units and tallies have their number;
	// ledgers have their expected cost. If these fields are absent, they are 0: the default number
	// of days, or none.
	conversionsVersion = 2
	// weightsVersion is for adUnits, and an earlier version of adZones. Since version 3, keywords of
	// units can have weights; if absent, they have none.
	weightsVersion = 3
	// budgetsVersion is for adZones. Since version 4, units say which revision of their campaign
	// they were copied from; if absent, servers learn of a lowered budget when their leases end.
	budgetsVersion = 4
)

// Versions returns the newest versions that this package reads and writes, for the collections that
// have had several.
func Versions() map[string]int {
	return map[string]int{
		"adImpressions": recordingsVersion, "adClicks": recordingsVersion, "adConversions": recordingsVersion,
		"adCampaigns": conversionsVersion, "adTallies": conversionsVersion, "adLedgers": conversionsVersion,
		"adUnits": weightsVersion, "adZones": budgetsVersion,
	}
}
