package mdb

// FirstVersion is the version of documents that have never changed.
const FirstVersion = 1
