package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"plaza/social"
)

// people reports how often users, relations and sessions were found in memory.
type people struct{ stats func() social.CacheStats }

var (
	peopleLookups = prometheus.NewDesc("plaza_people_lookups_total",
		"Look-ups of users, relations and sessions: hits were answered from memory, misses by the database.", []string{"of", "result"}, nil)
	peopleBytes = prometheus.NewDesc("plaza_people_cache_bytes",
		"About how much memory users, relations and sessions take.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p *people) Describe(to chan<- *prometheus.Desc) {
	to <- peopleLookups
	to <- peopleBytes
}

// Collect implements prometheus.Collector.
func (p *people) Collect(to chan<- prometheus.Metric) {
	stats := p.stats()
	for of, l := range map[string]social.LookupStats{"user": stats.Users, "relation": stats.Relations, "session": stats.Sessions} {
		to <- prometheus.MustNewConstMetric(peopleLookups, prometheus.CounterValue, float64(l.Hits), of, "hit")
		to <- prometheus.MustNewConstMetric(peopleLookups, prometheus.CounterValue, float64(l.Misses), of, "miss")
	}
	to <- prometheus.MustNewConstMetric(peopleBytes, prometheus.GaugeValue, float64(stats.Bytes))
}
