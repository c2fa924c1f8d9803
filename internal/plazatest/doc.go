// Package plazatest starts Plaza for black-box tests, in the test's process or in a separate one,
// and speaks to it as clients do.
//
// Contract: Start, Serve and their relatives serve a store over HTTP, on the engines of Engines,
// and end with the test. Each request waits until the background work of earlier requests is done,
// so a test sees the results of its actions. Main, called by a package's TestMain, lets Command and
// StartProcess run the whole program: the test binary starts itself again.
package plazatest
