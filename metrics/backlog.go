package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"plaza/social"
)

// backlogTime limits the database query of a scrape.
const backlogTime = 2 * time.Second

// backlog is the remaining background work in the database: the same on all servers.
type backlog struct {
	worker                social.Worker
	waiting, oldest, dead *prometheus.Desc
}

func newBacklog(worker social.Worker) *backlog {
	return &backlog{
		worker:  worker,
		waiting: prometheus.NewDesc("plaza_work_jobs_waiting", "Background jobs to do, including those in progress.", nil, nil),
		oldest:  prometheus.NewDesc("plaza_work_oldest_job_age_seconds", "Age of the oldest waiting job; 0 if none waits.", nil, nil),
		dead:    prometheus.NewDesc("plaza_work_jobs_dead", "Background jobs that were given up: see plaza work status.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- b.waiting
	descriptions <- b.oldest
	descriptions <- b.dead
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	left, err := b.worker.Backlog(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(b.waiting, err)
		return
	}
	age := 0.0
	if !left.Oldest.IsZero() {
		age = max(0, time.Since(left.Oldest).Seconds())
	}
	metrics <- prometheus.MustNewConstMetric(b.waiting, prometheus.GaugeValue, float64(left.Waiting))
	metrics <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age)
	metrics <- prometheus.MustNewConstMetric(b.dead, prometheus.GaugeValue, float64(left.Dead))
}
