# SPDX-License-Identifier: MIT
# Sourced by the end-to-end tests. Each test has its own daemon in its own runtime directory.
# OPENETW_BUILD names the build directory.
set -u
: "${OPENETW_BUILD:?run through meson test}"
PATH="$OPENETW_BUILD/src/cli:$OPENETW_BUILD/src/etwd:$PATH"
export OPENETW_ETWD="$OPENETW_BUILD/src/etwd/etwd"
T=$(mktemp -d /tmp/openetw-e2e-XXXXXX)
export OPENETW_RUNTIME_DIR="$T/run"
SAMPLES=$OPENETW_BUILD/samples
HELPERS=$OPENETW_BUILD/tests

etwd_pid() { cat "$OPENETW_RUNTIME_DIR/pid" 2>/dev/null; }
cleanup() {
	code=$?
	if [ "$code" -ne 0 ] && [ -f "$OPENETW_RUNTIME_DIR/etwd.log" ]; then
		echo "--- etwd.log"
		tail -30 "$OPENETW_RUNTIME_DIR/etwd.log"
	fi
	p=$(etwd_pid)
	[ -z "$p" ] || kill "$p" 2>/dev/null
	jobs -p >"$T/jobs" # not in $(…): there, a subshell has no jobs
	while read -r job; do kill -CONT "$job"; kill -9 "$job"; done <"$T/jobs" 2>/dev/null
	rm -rf "$T"
	exit "$code"
}
trap cleanup EXIT
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
skip() {
	echo "skipped: $*"
	exit 77
}
expect() { # expect WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}
# The number of events whose JSON line matches a pattern.
count() { openetw dump --quiet --json "$1" | grep -c -- "$2"; }
wait_for() { # wait_for SECONDS COMMAND…
	n=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ "$n" -gt 0 ] || return 1
		sleep 0.05
	done
}
