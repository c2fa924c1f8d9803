// Package ads chooses advertisements for places on a page, and counts what was shown and clicked.
//
// An [Advertiser] has campaigns; a [Campaign] has ad units; a [Unit] is a headline, a text, a
// picture and a landing page with a bid, placed in zones; a [Zone] is a place on a site's pages.
// [Service.Choose] takes the units of a zone that earn most for each thousand impressions (see
// [ECPM]), at random if several earn the same. Each [Choice] carries two signed tokens, with which
// its impression and its click are counted once.
//
// The inputs of a choice are the zone, the bids, budgets and schedules of its units and what they
// have earned, the keywords of the request, and the person's impressions of ads with caps. Posts,
// comments and circles are never an input. The package knows neither the social domain, nor
// GraphQL, nor any database driver.
package ads
