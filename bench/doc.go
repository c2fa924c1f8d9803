// Package bench loads databases with seeded data, and measures side by side what things cost in each layout.
//
// Figures of one run alone can be compared: machines drift. So rivals take turns, round by round, and what is said of each is the
// median of its rounds, and how far they lie apart. Cost is CPU time, of this process and of mongod apart from each other, because
// waiting differs from one disk to the next; MongoDB commands and bytes are counted beside it.
//
// A new comparison is a [Contest] with a [Call] for each thing to do, each of them with a [Turn] for each rival; a [Report] makes a
// table and a picture of the results.
package bench
