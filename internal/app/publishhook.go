package app

import (
	"log/slog"
	"time"

	"plaza/social/network"
	"plaza/webhook"
)

// PublishHook is a program of the site that decides what users publish.
type PublishHook struct {
	URL, Secret string
	Timeout     time.Duration

	AllAudiences      bool // ask also about what is not public
	PublishUnreviewed bool // publish if the program does not answer
}

// reviews are the settings of the domain; observe is called after each request.
func (h *PublishHook) reviews(observe func(webhook.Outcome, time.Duration)) network.Reviews {
	if h == nil {
		return network.Reviews{}
	}
	return network.Reviews{
		Reviewer:     webhook.New(webhook.Options{URL: h.URL, Secret: h.Secret, Timeout: h.Timeout, Logger: slog.Default(), Observe: observe}),
		AllAudiences: h.AllAudiences, PublishUnreviewed: h.PublishUnreviewed,
	}
}
