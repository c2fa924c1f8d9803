// Package ads has the nouns of advertising, their rules, and the contract of their storage
// ([Store]).
//
// An [Advertiser] has campaigns; a [Campaign] has ad units; a [Unit] is a headline, a text, a
// picture and a landing page with a bid, placed in zones; a [Zone] is a place on a site's pages. A
// [Recording] is one impression, click or conversion; a [Ledger] is what a campaign has spent.
// Package adserver, below, chooses ads, records what happens to them, and reports it.
//
// Posts, comments and circles are never an input. The package knows neither the social domain, nor
// GraphQL, nor any database driver.
package ads
