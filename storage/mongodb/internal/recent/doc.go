// Package recent has the ids of the community's newest posts in memory, and merges news there (ADR
// 61). In the database, each followed author is a seek in an index.
//
// [Posts] has the ids. A reader first lets it catch up with the snapshot that the reader has, and
// gets what is known of the posts of that snapshot ([Known]).
package recent
