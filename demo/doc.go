// Package demo fills an empty database with a small lively community: the people of a harbour town, two weeks of what they
// told each other, and the ads beside it. Everybody and everything in it is invented.
//
// What happens is written down as data (people.go, circles.go, wall.go, town.go, ads.go) and is acted out through the
// services, each step at its own time in the past. All ids are derived from the steps' names, and each step can be told to be
// done, so that a seeding which was interrupted goes on where it stopped, and comes to the same.
//
// While a server runs, the community goes on living (life.go, scenes.go): its people post, comment and react as users do, through the
// server's own service, as long as somebody watches, and without growing. Pictures are drawn here (drawings.go) and served by the
// server, so that nothing is fetched from elsewhere.
package demo
