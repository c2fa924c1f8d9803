// Package plazatest starts Plaza for black-box tests, in the test's process or in one of its own,
// and speaks to it as clients do.
//
// Contract: Start, Serve and their relatives serve a store over HTTP, on the engines of Engines,
// and end with the test. Each request waits until the background work of those before it is done,
// so a test sees what it has caused. Main, called by a package's TestMain, lets Command and
// StartProcess run the whole program: the test binary starts itself again.
package plazatest
