package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// newsCollector reports where pages of news were found.
type newsCollector struct{ pages func() (recent, older int64) }

var newsPages = prometheus.NewDesc("plaza_news_pages_total",
	"Pages of news that no feed was kept for: recent ones were found in memory, older ones merged in the database.", []string{"posts"}, nil)

// Describe implements prometheus.Collector.
func (n *newsCollector) Describe(to chan<- *prometheus.Desc) { to <- newsPages }

// Collect implements prometheus.Collector.
func (n *newsCollector) Collect(to chan<- prometheus.Metric) {
	recent, older := n.pages()
	to <- prometheus.MustNewConstMetric(newsPages, prometheus.CounterValue, float64(recent), "recent")
	to <- prometheus.MustNewConstMetric(newsPages, prometheus.CounterValue, float64(older), "older")
}
