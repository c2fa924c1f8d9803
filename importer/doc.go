// Package importer loads people, follows and circles from files of other networks, in bulk.
//
// It reads SNAP's ego-facebook data (https://snap.stanford.edu/data/ego-Facebook.html; J. McAuley
// and J. Leskovec, Learning to Discover Social Circles in Ego Networks, NIPS 2012): for each user N
// a file N.edges with the friendships among N's friends, and a file N.circles with the circles that
// N sorted them into by hand.
//
// All ids are derived from the data, so an import can be stopped or killed at any point, and
// repeated: it adds what is missing, without duplicates.
package importer
