// Package figures renders the results of comparisons: a [Report] is a text in Markdown, and each of
// its [Section]s is a table and a picture.
package figures
