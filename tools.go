//go:build tools

// Package main lists the build tools, so that their versions are pinned in go.mod.
package main

import (
	_ "github.com/99designs/gqlgen"
)
