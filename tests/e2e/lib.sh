# SPDX-License-Identifier: MIT
# Sourced by the end-to-end tests. Each test has its own daemon in its own runtime directory.
# OPENETW_BUILD names the build directory.
set -u
: "${OPENETW_BUILD:?run through meson test}"
PATH="$OPENETW_BUILD/tools:$OPENETW_BUILD/src/etwd:$PATH"
export OPENETW_ETWD="$OPENETW_BUILD/src/etwd/etwd"
export OPENETW_WAIT_MS="${OPENETW_WAIT_MS-8000}" # as meson test says
T=$(mktemp -d /tmp/openetw-e2e-XXXXXX)
export OPENETW_RUNTIME_DIR="$T/run"
# Collectors and autologgers of whoever runs the tests are none of ours, nor is what this machine has.
export OPENETW_ROOT="$T/root"
export XDG_CONFIG_HOME="$T/config" XDG_STATE_HOME="$T/state" XDG_DATA_HOME="$T/data"
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
	# Not jobs -p, which still names those that ended, and whose numbers may be others' by now.
	pgrep -P $$ >"$T/jobs"
	while read -r job; do kill -CONT "$job"; kill -9 "$job"; done <"$T/jobs" 2>/dev/null
	rm -rf "$T"
	exit "$code"
}
trap cleanup EXIT
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
# Does this machine let us see context switches? Without /sys there are neither BPF's types nor tracepoints.
has_switches() {
	openetw record --wait --no-stacks -d 20ms -o "$T/switches.etl" >/dev/null 2>"$T/switches" </dev/null &&
		! grep -q 'not recorded' "$T/switches"
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
has_events() { # has_events SESSION: etwd took some for it
	openetw query "$1" --json 2>/dev/null | grep -q '"events":[1-9]'
}
attached() { # attached PID: it consumes a session
	ls -l "/proc/$1/fd" 2>/dev/null | grep -q openetw-feed
}
honest_lines() { # honest_lines FILE COUNT: what emit said
	expect "what the honest program says" "$(cat "$1")" "attempts $2 ok $2"
}
verify_exactly() { # verify_exactly COUNT FILE PROVIDER: all of them, in order, unchanged
	v=$("$HELPERS/verify" "$2" provider="$3") || fail "$3 in $2: $v; $(cat "$T/stop" 2>/dev/null)"
	case $v in
	"events=$1 "*" gaps=0 "*) ;;
	*) fail "$3 in $2, wanted $1 events without gaps: $v; $(cat "$T/stop" 2>/dev/null)" ;;
	esac
}
loss_sum() { # loss_sum FILE: the ledger of "query --json" added up; buffers are counted by their events
	sed -n 's/.*"loss":{\(.*\)}}.*/\1/p' "$1" | tr ',' '\n' | sed 's/"//g' |
		awk -F: '$1 !~ /Buffers$/ && $1 != "torn" {n += $2} END {print n + 0}'
}
conserved() { # conserved EMITTED FILE QUERY STOP WHAT
	v=$("$HELPERS/verify" "$2") || fail "$5: $v; $(cat "$4")"
	events=$(echo "$v" | sed 's/events=\([0-9]*\).*/\1/')
	lost=$(loss_sum "$3")
	[ $((events + lost)) -eq "$1" ] ||
		fail "$5: $events events + $lost lost = $((events + lost)), not $1; $v; $(cat "$3" "$4")"
}
