#!/bin/sh
# SPDX-License-Identifier: MIT
# The list of headers that are not here (data/win/headers.txt) has none that is, and docs/porting.md has all that are.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cd "$root/include/etw" || exit 1
fold() { tr 'A-Z' 'a-z' | sort -u; }
# Those of the folders that programs look into; our own parts of them begin with etw_ or belong to one header.
here=$({ ls ./*.h && (cd win && ls ./*.h wrl/*.h); } | sed 's|^\./||' | grep -v '^etw_\|^evntrace_' | fold)
status=0
both=$({ echo "$here" && grep -v '^#' "$root/data/win/headers.txt" | tr -s ' \t' '\n\n' | fold; } | sort | uniq -d)
[ -z "$both" ] || { echo "data/win/headers.txt: is there: $both" && status=1; }
sed -n '/^## Headers$/,/^## /p' "$root/docs/porting.md" | grep -o '`[A-Za-z0-9_/]*\.h`' | tr -d '`' | fold >"${TMPDIR:-/tmp}/etw-headers-$$"
echo "$here" | diff - "${TMPDIR:-/tmp}/etw-headers-$$" | sed -n 's/^</docs\/porting.md, Headers, lacks/p; s/^>/docs\/porting.md, Headers, has/p' |
	grep . && status=1
rm "${TMPDIR:-/tmp}/etw-headers-$$"
exit $status
