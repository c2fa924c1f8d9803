// Package demo fills an empty database with a small lively community: the people of a harbour town, two weeks of what they
// told each other, and the ads beside it. Everybody and everything in it is invented.
//
// What happens is written down as data (people.go, circles.go, wall.go, town.go, ads.go) and is acted out through the
// services, each step at its own time in the past. All ids are derived from the steps' names, and each step can be told to be
// done, so that a seeding which was interrupted goes on where it stopped, and comes to the same.
package demo
