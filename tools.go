//go:build tools

// Package main lists the build tools, so that their versions are pinned in go.mod.
package main

import (
	_ "github.com/99designs/gqlgen"
	_ "github.com/99designs/gqlgen/graphql/executor"
	_ "github.com/99designs/gqlgen/graphql/handler"
	_ "github.com/99designs/gqlgen/graphql/introspection"
	_ "github.com/alecthomas/kong"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/gorilla/websocket"
	_ "github.com/graph-gophers/dataloader/v7"
	_ "github.com/klauspost/compress/gzhttp"
	_ "github.com/lmittmann/tint"
	_ "github.com/maypok86/otter/v2"
	_ "github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/pressly/goose/v3"
	_ "github.com/rs/cors"
	_ "go.mongodb.org/mongo-driver/v2/bson"
	_ "go.mongodb.org/mongo-driver/v2/mongo"
	_ "go.uber.org/goleak"
	_ "golang.org/x/crypto/argon2"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sync/singleflight"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "golang.org/x/time/rate"
	_ "pgregory.net/rapid"
)
