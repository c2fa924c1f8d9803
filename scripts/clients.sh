#!/usr/bin/env bash
# Installs the public clients that tests/clients runs: npm's beside their lock file, and PyPI's into
# bin/clients. Installing again is only needed when a lock file has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh npm=nodejs,npm python3=python3,python3-venv

clients=tests/clients
if ! cmp -s $clients/package-lock.json $clients/node_modules/.plaza-lock.json; then
	(cd $clients && npm ci --silent --no-audit --no-fund </dev/null)
	cp $clients/package-lock.json $clients/node_modules/.plaza-lock.json
fi

if ! cmp -s $clients/requirements.txt bin/clients/requirements.txt; then
	python3 -m venv --clear bin/clients
	bin/clients/bin/pip install --quiet --no-deps --disable-pip-version-check -r $clients/requirements.txt </dev/null
	cp $clients/requirements.txt bin/clients/requirements.txt
fi
