# SPDX-License-Identifier: MIT
# Stacks of application sessions have names of functions when the program has ended: in files of all kinds, and live.
. "$(dirname "$0")/lib.sh"
P='{5c5f5a11-1f6b-4b7c-9a21-010203040506}'
cp "$HELPERS/one_event" "$T/acts" # which does not run any more when its stacks are read

named() { # named FILE WHAT EVENTS
	openetw dump --quiet --stacks "$1" >"$T/said" || fail "$2: dump"
	expect "$2: events" "$(grep -c 'Test.OneEvent/One' "$T/said")" "$3"
	expect "$2: stacks with names" "$(grep -c 'acts!main+' "$T/said")" "$3"
	! openetw dump --quiet --headers --json "$1" | grep '"FileName":"[^/[]' || fail "$2: an image without its path"
	# How far up a stack goes depends on when the unwinder came.
	[ "$(grep -c 'libc.*!__libc_start_' "$T/said")" -ge "$3" ] || fail "$2: other code has no names: $(cat "$T/said")"
}

openetw run -s -p "$P" -o "$T/run.etl" -- "$T/acts" 1 >"$T/out" 2>&1 || fail "run: $(cat "$T/out")"
named "$T/run.etl" run 1
# What explains is no event, and is all there: an image comes with its build.
grep -q 'run.etl: 1 event' "$T/out" || fail "run counts what explains: $(cat "$T/out")"
openetw dump --quiet --headers --json "$T/run.etl" >"$T/all"
images=$(grep -c '"event":"Image/Load"' "$T/all")
[ "$images" -ge 3 ] || fail "$images images"
expect "builds" "$(grep -c '"event":"ImageID/DbgID_RSDS"' "$T/all")" "$(grep -c '"event":"ImageID"' "$T/all")"
expect "processes" "$(grep -c '"event":"Process/Start"' "$T/all")" 1
# The first stack stands behind what explains it.
last=$(grep -n '"event":"Image/Load"' "$T/all" | tail -1 | cut -d: -f1)
[ "$last" -lt "$(grep -n '"event":"One"' "$T/all" | cut -d: -f1)" ] || fail "the images come late"

# The stacks for other programs: those of the events, as there are no samples; alone on standard output.
one=$(openetw report "$T/run.etl" --folded - 2>"$T/err") || fail "report: $(cat "$T/err")"
echo "$one" | grep -q '^acts ([0-9]*);.*acts!main.*;[^;]*/One 1$' || fail "folded: $one"
expect "other lines" "$(echo "$one" | grep -vc ' [0-9]*$')" 0
openetw report "$T/run.etl" | grep -q '/One$' || fail "report does not count the event"

# Without stacks nobody is asked.
openetw run -p "$P" -o "$T/plain.etl" -- "$T/acts" 1 >"$T/out" 2>&1 || fail "run: $(cat "$T/out")"
expect "images without stacks" "$(openetw dump --quiet --headers --json "$T/plain.etl" | grep -c '"event":"Image')" 0

for mode in circular sequential; do
	openetw start later -p "$P:::stack" -o "$T/$mode.etl" --mode $mode --max-size 1MB >"$T/out" 2>&1 || fail "start: $(cat "$T/out")"
	"$T/acts" 1
	"$T/acts" 2
	openetw stop later >"$T/out" 2>&1 || fail "stop: $(cat "$T/out")"
	named "$T/$mode.etl" $mode 2
done

openetw start later -p "$P:::stack" -o "$T/memory.etl" --mode buffering >"$T/out" 2>&1 || fail "start: $(cat "$T/out")"
"$T/acts" 1
openetw flush later -o "$T/copy.etl" >"$T/out" 2>&1 || fail "flush: $(cat "$T/out")"
openetw stop later >"$T/out" 2>&1 || fail "stop: $(cat "$T/out")"
named "$T/copy.etl" "a copy of what is in memory" 1

# A file of a row is read alone.
openetw start later -p "$P:::stack" -o "$T/row_%d.etl" --mode newfile --max-size 4MB >"$T/out" 2>&1 || fail "start: $(cat "$T/out")"
"$HELPERS/one_event" 1 forks=2 # another program
"$T/acts" 1
openetw stop later >"$T/out" 2>&1 || fail "stop: $(cat "$T/out")"
openetw dump --quiet --stacks "$T/row_1.etl" | grep -q 'acts!main+' || fail "no names in a file of a row"

# Private sessions, which the process writes itself.
for mode in seq cir; do
	openetw tracelog -start Mine -um -guid "$P" -enableproperty 4 -$mode 1 -f "$T/private_$mode.etl" >"$T/out" 2>&1 ||
		fail "-um: $(cat "$T/out")"
	"$T/acts" 1
	openetw tracelog -stop Mine >"$T/out" 2>&1 || fail "-stop: $(cat "$T/out")"
	named "$T/private_$mode.etl" "private, $mode" 1
done

# Live, each program explains itself.
openetw live -p "$P:::stack" --stacks >"$T/live" 2>"$T/err" &
wait_for 20 grep -q watching "$T/err" || fail "live: $(cat "$T/err")"
"$T/acts" 1
wait_for 20 grep -q 'acts!main+' "$T/live" || fail "live: $(cat "$T/live")"
! grep -q 'Image/Load' "$T/live" || fail "live shows what explains"
kill %1

# The last event that is wanted ends it, though nothing comes after it.
openetw live -p "$P:::stack" --stacks --limit 1 >"$T/live2" 2>"$T/err2" &
wait_for 20 grep -q watching "$T/err2" || fail "live: $(cat "$T/err2")"
"$T/acts" 1
wait_for 20 grep -q '^1 event shown' "$T/err2" || fail "live --limit goes on: $(cat "$T/err2")"
exit 0
