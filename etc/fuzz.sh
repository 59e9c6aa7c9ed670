#!/usr/bin/env bash
# Runs every fuzz target of the tree, one after the other.
# usage: fuzz.sh [TIME]      TIME a target, e.g. 5s
#        FUZZ_TOTAL_SECONDS=180 fuzz.sh   shares that many seconds among all targets
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t targets < <(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . |
	sed -E 's|^\./(.*)/[^/]+\.go:[0-9]+:func (Fuzz.*)$|\1 \2|' | sort -u)
[ ${#targets[@]} -gt 0 ] || { echo "no fuzz target found" >&2; exit 1; }
each=${1:-5s}
if [ -n "${FUZZ_TOTAL_SECONDS:-}" ]; then
	each=$((FUZZ_TOTAL_SECONDS / ${#targets[@]}))s
	[ "$each" != 0s ] || each=1s
fi
echo "${#targets[@]} fuzz targets, $each each"

# fuzz runs one target. The go command sometimes takes the end of the fuzzing time for a failure ("context
# deadline exceeded", without an input that fails); only then it gets a second run.
fuzz() {
	local log
	log=$(mktemp)
	if go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$each" 2>&1 | tee "$log"; then
		rm -f "$log"
		return 0
	fi
	if grep -q 'context deadline exceeded' "$log" && ! grep -q -e 'Failing input' -e panic "$log"; then
		rm -f "$log"
		go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$each"
		return
	fi
	rm -f "$log"
	return 1
}
for target in "${targets[@]}"; do
	read -r package name <<<"$target"
	echo "-- $package $name"
	fuzz "$package" "$name"
done
