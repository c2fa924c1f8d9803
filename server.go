// Command plaza is a headless social network: a GraphQL API over MongoDB or an embedded SQLite
// file.
package main

import (
	"os"

	"plaza/internal/cli"
)

//go:generate go run ./internal/cmd/gqlgen
//go:generate go run ./internal/cmd/schemadoc graph/schema docs

func main() { os.Exit(cli.Run()) }
