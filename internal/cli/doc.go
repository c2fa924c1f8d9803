// Package cli is the command line of plaza: commands, flags, environment variables, and how results
// and errors are phrased for people.
//
// Contract: Run parses the arguments of the process, carries out the command, and returns the exit
// code. It is the one place that knows which engine a setting selects. Only the main package and
// tests import it.
package cli
