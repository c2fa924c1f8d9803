// Package demo fills an empty database with a small lively community: the people of a harbour town,
// their posts of two weeks, and the ads beside them. Everyone and everything in it is invented.
//
// The script is data (people.go, circles.go, wall.go, town.go, ads.go). It runs through the
// services, each step at its own time in the past. All ids are derived from the steps' names, and
// each step can be recognized as done, so an interrupted seeding resumes where it stopped, with the
// same result.
//
// While a server runs, the community continues (life.go, scenes.go): its people post, comment and
// react as users do, through the server's own service, while anyone watches, and without growing.
// Pictures are drawn here (drawings.go) and served by the server, so that nothing is fetched from
// elsewhere.
package demo
