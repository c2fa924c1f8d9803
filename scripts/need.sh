#!/usr/bin/env bash
# Installs the Debian packages of missing commands and libraries: need.sh WHAT=PACKAGE[,PACKAGE…] …
#
# WHAT is a command, or a shared library (lib….so.N). If nothing is missing,
# the script does nothing.
set -euo pipefail

has() {
	case $1 in
	lib*.so*) /sbin/ldconfig -p 2>/dev/null | grep -q -F "$1" ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

missing=() packages=()
for need in "$@"; do
	if ! has "${need%%=*}"; then
		missing+=("${need%%=*}")
		IFS=, read -r -a some <<<"${need#*=}"
		packages+=("${some[@]}")
	fi
done

if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

if ! has apt-get; then
	echo "need.sh: missing: ${missing[*]}. Please install it; this is not Debian, so need.sh did not try." >&2
	exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! sudo -n true 2>/dev/null; then
		echo "need.sh: missing: ${missing[*]}. Please run: sudo apt-get install ${packages[*]}" >&2
		exit 1
	fi
	as_root=(sudo -n)
fi

echo "need.sh: missing: ${missing[*]}; installing ${packages[*]} …" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null >&2
