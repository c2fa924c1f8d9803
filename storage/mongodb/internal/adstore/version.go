package adstore

// What changed from each version of documents to the next, by collection. In all of these steps, what is absent from an older document means what a
// newer one would say: an upgrade changes nothing but the version.
const (
	// recordingsVersion is that of adImpressions, adClicks and adConversions: those of version 2 may be waiting to be counted; those of version 1 have been.
	recordingsVersion = 2
	// conversionsVersion is that of adCampaigns, adTallies and adLedgers, and an earlier one of adUnits and adZones: in version 2 ads have conversions.
	// Campaigns, and their units in zones, say for how many days after a click they count; units and tallies have their number; ledgers say what is
	// expected of them. Absent, all of these are 0: the default, and none.
	conversionsVersion = 2
	// weightsVersion is that of adUnits and adZones: in version 3 keywords of units can have weights. Absent, they have none.
	weightsVersion = 3
)

// Versions are the newest versions that this package reads and writes, of the collections that have had several.
func Versions() map[string]int {
	return map[string]int{
		"adImpressions": recordingsVersion, "adClicks": recordingsVersion, "adConversions": recordingsVersion,
		"adCampaigns": conversionsVersion, "adTallies": conversionsVersion, "adLedgers": conversionsVersion,
		"adUnits": weightsVersion, "adZones": weightsVersion,
	}
}
