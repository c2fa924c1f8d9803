package sqldb

import (
	"slices"
	"strings"
)

// Statement is the text of an SQL statement.
type Statement struct{ text string }

var statements []*Statement

// Define makes a statement. It is called while packages are initialised.
func Define(text string) *Statement {
	st := &Statement{text}
	statements = append(statements, st)
	return st
}

// Statements returns all statements of the program.
func Statements() []*Statement { return slices.Clone(statements) }

// String returns the statement's text.
func (st *Statement) String() string { return st.text }

// reads reports whether the statement changes nothing.
func (st *Statement) reads() bool {
	verb := strings.Fields(st.text)[0]
	return verb == "SELECT" || verb == "WITH" || verb == "PRAGMA"
}
