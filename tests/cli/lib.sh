# SPDX-License-Identifier: MIT
# Sourced by the tests of the command line: those of tests/e2e, and checks of what a verb prints.
. "$(dirname "$0")/../e2e/lib.sh"
CORPUS=${OPENETW_CORPUS:-$(cd "$(dirname "$0")/../../.." && pwd)/shared/corpus}
HAVE_PYTHON=$(command -v python3 || :)

# run_status WANTED COMMAND…: the exit status; output goes to $T/out, errors to $T/err.
run_status() {
	wanted=$1
	shift
	"$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	[ "$got" -eq "$wanted" ] || fail "'$*' ended with $got, not $wanted: $(cat "$T/err")"
}
says() { # says PATTERN FILE WHAT
	grep -q -- "$1" "$2" || fail "$3: no '$1' in: $(cat "$2")"
}
# json_lines FILE: every line is a JSON object (by whatever reads JSON here)
json_lines() {
	if [ -n "$HAVE_PYTHON" ]; then
		python3 -c '
import json, sys
for n, line in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    if not isinstance(json.loads(line), dict):
        sys.exit("line %d is no object" % n)' "$1" || fail "$1 is not JSON lines"
	elif command -v jq >/dev/null; then
		jq -e 'type == "object"' "$1" >/dev/null || fail "$1 is not JSON lines"
	fi
}
# py CODE ARGS…: skips the check where there is no Python
py() {
	[ -z "$HAVE_PYTHON" ] || python3 -c "$@"
}
# record_hello FILE ROUNDS: all events of hello-tracelogging. It does not wait until somebody listens, and
# EventRegister waits for etwd only so long; on a very busy machine the first events may come too early.
record_hello() {
	for try in 1 2 3 4 5; do
		openetw run -o "$1" -p OpenETW.Sample.Hello -- "$SAMPLES/hello-tracelogging" "$2" 1 >/dev/null 2>&1 ||
			fail "run"
		[ "$(openetw dump -q -e Hello "$1" | wc -l)" -eq 0 ] || return 0
	done
	fail "in $try tries the first event of hello-tracelogging was never recorded"
}
# wpr ARGS…, which has to succeed; refused CODE WORDS ARGS…: it fails with that code and says those words
wpr() { run_status 0 openetw wpr "$@"; }
refused() {
	code=$1
	words=$2
	shift 2
	run_status 1 openetw wpr "$@"
	says "Error code: $code" err "$*"
	says "$words" err "$*"
}
