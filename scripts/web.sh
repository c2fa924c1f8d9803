#!/usr/bin/env bash
# Rebuilds the dist of each page in web/ from its sources and its lock file, and checks its operations
# against the schema. The built files are committed, so this is skipped if there is no Node.js.
set -euo pipefail
cd "$(dirname "$0")/../web"

if ! command -v npm >/dev/null; then
	echo 'web.sh: no npm here: the pages are neither rebuilt nor checked' >&2
	exit 0
fi

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for page in graphiql app; do
	cd "$page"
	# Installing again is only needed when the lock file has changed.
	if ! cmp -s package-lock.json node_modules/.plaza-lock.json; then
		npm ci --silent --no-audit --no-fund </dev/null
		cp package-lock.json node_modules/.plaza-lock.json
	fi
	npm run --silent check
	npm run --silent build -- --outDir "$built/$page" --emptyOutDir >/dev/null
	# The files are compressed in the binary, and on the way to browsers.
	go run plaza/internal/cmd/pack "$built/$page" dist
	cd ..
done
