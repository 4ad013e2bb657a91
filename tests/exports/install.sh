# SPDX-License-Identifier: MIT
# Sourced by the tests of exports: readers that others wrote, from npm, into the build directory, once.
. "$(dirname "$0")/../cli/lib.sh"
EXPORTS=$(cd "$(dirname "$0")" && pwd)
EXPORT_MODULES=$OPENETW_BUILD/tests/exports
export EXPORT_MODULES
command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
mkdir -p "$EXPORT_MODULES"
# Nothing of the packages runs while they are installed.
(
	flock 9
	if ! cmp -s "$EXPORTS/package-lock.json" "$EXPORT_MODULES/installed"; then
		cp "$EXPORTS/package.json" "$EXPORTS/package-lock.json" "$EXPORT_MODULES/" &&
			(cd "$EXPORT_MODULES" && npm ci --ignore-scripts --no-audit --no-fund) >"$EXPORT_MODULES/npm.log" 2>&1 &&
			cp "$EXPORTS/package-lock.json" "$EXPORT_MODULES/installed"
	fi
) 9>"$EXPORT_MODULES/lock" || skip "npm cannot install the readers: $(grep -m1 'npm .*ERR\|npm error' "$EXPORT_MODULES/npm.log")"

# each_trace COMMAND…: COMMAND with a trace behind it; some from Windows, one with application events alone, and one
# of this machine's kernel where we may record it.
each_trace() {
	for f in perfview/net.4.5.2.x86.etl perfview/gcevents.etl perfview/primitive-types.etl tx/HTTP_Server.etl \
		krabsetw/powershell.etl; do
		[ ! -e "$CORPUS/$f" ] || "$@" "$CORPUS/$f"
	done
	[ -e "$T/hello.etl" ] || record_hello "$T/hello.etl" 20
	"$@" "$T/hello.etl"
	if [ ! -e "$T/kernel.etl" ] && ! openetw record --cpu --wait -o "$T/kernel.etl" -- \
		sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; sleep 0.1' >"$T/out" 2>&1 </dev/null; then
		rm -f "$T/kernel.etl"
		echo "without kernel events of this machine: $(head -1 "$T/out")"
	fi
	[ ! -e "$T/kernel.etl" ] || "$@" "$T/kernel.etl"
}
# exported KIND TRACE OUT OPTIONS…: into OUT, what dump says into $T/dump, the summary into $T/summary; the options
# are a selection
exported() {
	kind=$1 trace=$2 into=$3
	shift 3
	if [ "$trace $*" != "${dumped-}" ]; then
		openetw dump -q --json --stacks "$@" "$trace" >"$T/dump" 2>"$T/err" || fail "dump $trace: $(cat "$T/err")"
		dumped="$trace $*"
	fi
	openetw export "$trace" --as "$kind" -o "$into" --force --json --no-inlines "$@" 2>"$T/summary" ||
		fail "export $trace --as $kind: $(cat "$T/summary")"
}
