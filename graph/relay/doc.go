// Package relay has what Relay's specifications add to the wire, and no resolver: the ids that
// arguments name objects with, the cursors of lists, and connections, which are pages of lists. It
// reads nothing: a List reads its pages with the function that it was made with.
package relay
