package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"plaza/social/people"
)

// peopleCollector reports how often users, relations and sessions were found in memory.
type peopleCollector struct{ stats func() people.Stats }

var (
	peopleLookups = prometheus.NewDesc("plaza_people_lookups_total",
		"Look-ups of users, relations and sessions: hits were answered from memory, misses by the database.", []string{"of", "result"}, nil)
	peopleBytes = prometheus.NewDesc("plaza_people_cache_bytes",
		"About how much memory users, relations and sessions take.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p *peopleCollector) Describe(to chan<- *prometheus.Desc) {
	to <- peopleLookups
	to <- peopleBytes
}

// Collect implements prometheus.Collector.
func (p *peopleCollector) Collect(to chan<- prometheus.Metric) {
	stats := p.stats()
	for of, l := range map[string]people.LookupStats{"user": stats.Users, "relation": stats.Relations, "session": stats.Sessions} {
		to <- prometheus.MustNewConstMetric(peopleLookups, prometheus.CounterValue, float64(l.Hits), of, "hit")
		to <- prometheus.MustNewConstMetric(peopleLookups, prometheus.CounterValue, float64(l.Misses), of, "miss")
	}
	to <- prometheus.MustNewConstMetric(peopleBytes, prometheus.GaugeValue, float64(stats.Bytes))
}
