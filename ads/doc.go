// Package ads chooses advertisements for places on a page, and counts what was shown and clicked.
//
// An [Advertiser] has campaigns; a [Campaign] has ad units; a [Unit] is a headline, a text, a picture and a
// landing page with a bid, placed in zones; a [Zone] is a place on a site's pages. [Service.Choose] takes the
// units of a zone that earn most for each thousand impressions (see [ECPM]), at random where several earn the
// same. Each [Choice] carries two signed tokens, with which its impression and its click are counted once.
//
// The inputs of a choice are the zone and what its units bid and earned, and nothing else: nothing about the
// viewer, nothing that people write, nobody whom they follow. The package knows neither the social domain,
// nor GraphQL, nor any database driver.
package ads
