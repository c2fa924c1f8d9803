// Package adserver chooses ads for places on a page, counts impressions and clicks, and reports
// them to the people who manage ads.
//
// [Service.Choose] takes the units of a zone that earn most for each thousand impressions (see
// [ads.ECPM]), at random if several earn the same. Each [Choice] carries two signed tokens, with
// which its impression and its click are counted once. The inputs of a choice are the zone, the
// bids, budgets and schedules of its units and what they have earned, the keywords of the request,
// and the person's impressions of ads with caps. Posts, comments and circles are never an input.
//
// The service needs an [ads.Store], and knows neither the social domain, nor GraphQL, nor any
// database driver.
package adserver
