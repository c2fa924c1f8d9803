// Package figures renders the results of comparisons: a [Report] is a text in Markdown, and each
// [Section] of it a table and a picture.
package figures
