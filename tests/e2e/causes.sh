# SPDX-License-Identifier: MIT
# The first lines of report name what was planted, and whom it cost time; where nothing was planted, nobody.
. "$(dirname "$0")/lib.sh"
f=$T/a.etl

# findings: what stands before the first empty line
findings() {
	openetw report "$f" >"$T/report" || fail "report: $(cat "$T/report")"
	sed '/^$/,$d' "$T/report" >"$T/first"
	[ "$(wc -l <"$T/first")" -le 3 ] || fail "more than three lines: $(cat "$T/first")"
	openetw report --json "$f" | grep '"table":"causes"' >"$T/json"
}
# names WHAT CAUSE: a line with that title names one of the threads that the program said
names() {
	for id in $(sed -n "s/^$1 //p" "$T/said"); do
		grep "^$2: " "$T/first" | grep -qw "$id" && grep -qw "$id" "$T/json" && return 0
	done
	return 1
}

# Garbage collection, of an application's session: no rights are needed.
openetw run -p '{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}' -o "$f" -- "$HELPERS/collector" 20 40 20 >"$T/said" 2>"$T/err" ||
	fail "run: $(cat "$T/err")"
findings
names gc 'garbage collection' || fail "pauses of the collector: $(cat "$T/said" "$T/first")"
grep -q '20 pauses' "$T/first" || fail "suspensions of a debugger are no collections: $(cat "$T/first")"
openetw run -p '{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}' -o "$f" -- "$HELPERS/collector" 100 1 10 >"$T/said" 2>"$T/err" ||
	fail "run: $(cat "$T/err")"
findings
grep -q '^nothing stands out: ' "$T/first" || fail "short pauses: $(cat "$T/first")"

has_switches || skip "the kernel cannot be recorded here: $(cat "$T/switches")"
# Before whatever else the machine has to do, which would be another neighbour.
favoured="chrt -r 1"
$favoured true 2>/dev/null || favoured=
# planted CAUSE TITLE MORE…: the machine may be busy with other things, and these may cost more; not always.
planted() {
	cause=$1 title=$2
	shift 2
	for try in 1 2 3 4 5; do
		# As it is recorded when nothing is said.
		openetw record -o "$f" -- $favoured "$HELPERS/planted" "$cause" 1.5 "$@" >"$T/said" 2>"$T/err" || fail "record: $(cat "$T/err")"
		findings
		names "$cause" "$title" && return 0
	done
	fail "$cause: $(cat "$T/said" "$T/first" "$T/err")"
}
planted lock 'lock contention' 4
planted futex 'lock contention' 4
planted fsync 'slow fsync' "$T"
planted neighbour 'busy neighbour'
planted faults 'page faults'
planted peer 'slow peer' 50
planted unix 'slow peer' 50

healthy() {
	for try in 1 2 3 4 5; do
		openetw record -o "$f" -- $favoured "$HELPERS/healthy" "$1" 1.5 >"$T/said" 2>"$T/err" || fail "record: $(cat "$T/err")"
		findings
		grep -q '^nothing stands out: ' "$T/first" && grep -q '"cause":null' "$T/json" && return 0
	done
	fail "$1: $(cat "$T/first")"
}
healthy idle
healthy pool
healthy rounds
healthy busy
