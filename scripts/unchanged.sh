#!/usr/bin/env bash
# Runs a command, and fails if it changed any file of the work tree: unchanged.sh COMMAND [ARGUMENT …]
#
# It compares the files before and after, not with the last commit, so that it gives the same result in a
# work tree with changes as in a fresh clone. Files that git ignores don't count.
set -euo pipefail
cd "$(dirname "$0")/.."

fingerprint() {
	git ls-files -z --cached --others --exclude-standard | sort -z -u |
		while IFS= read -r -d '' file; do
			[ ! -f "$file" ] || printf '%s\0' "$file"
		done | xargs -0 -r sha256sum --
}

before=$(fingerprint)
"$@"
after=$(fingerprint)

if [ "$before" != "$after" ]; then
	echo "These generated files do not match their sources (< before, > regenerated):" >&2
	diff <(echo "$before") <(echo "$after") | grep '^[<>]' | awk '{ print "  " $1 " " $3 }' | sort -k2 -u >&2 || true
	echo "They have just been regenerated: check the changes (git diff), and commit them." >&2
	exit 1
fi
