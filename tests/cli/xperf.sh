# SPDX-License-Identifier: MIT
# xperf: scopes, stopping and merging, marks, the dumper's text; kernel parts are refused by name.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
export OPENETW_WAIT_MS=5000
xperf() { run_status 0 openetw xperf "$@"; }
wrong() { # wrong WORDS ARGS…
	words=$1
	shift
	run_status 2 openetw xperf "$@"
	says "$words" err "$*"
}
hello() { "$SAMPLES/hello-tracelogging" 2 1 >/dev/null || fail "hello-tracelogging"; }

# Kernel flags without a source: all or nothing, unless told otherwise.
kernelless() {
	run_status "$1" openetw xperf -on registry+reg_hive -stackwalk profile -buffersize 1024 -minbuffers 300 \
		-start tracea1 -on "Microsoft-Windows-Win32k:::'stack'" ${2:-}
}
kernelless 1
says 'REGISTRY: Linux has no registry' err "the kernel part"
says '--partial.*starts "tracea1"' err "what to do"
expect "nothing runs" "$(openetw list | grep -c tracea1)" 0
run_status 0 openetw xperf -on sysprof -stackwalk profile -start tracea1 -on "Microsoft-Windows-Win32k:::'stack'" --explain
says "^openetw start 'NT Kernel Logger' -o kernel.etl --buffer-size 64K --buffers 64:320 --kernel PROC_THREAD+LOADER+PROFILE --stackwalk Profile$" out "--explain"
says "^openetw start tracea1 -o user.etl --buffer-size 64K --buffers 64:320 -p Microsoft-Windows-Win32k::255:stack$" out "--explain"
kernelless 0 --partial
says 'warning: "NT Kernel Logger"' err "the kernel part"
openetw list >list
says tracea1 list "the user session"
xperf -loggers
says '^Logger Name           : tracea1$' out "-loggers"
says '^Buffer Size           : 64$' out "the kernel's buffers are not the session's"
says "^Log Filename          : $T/user.etl$" out "-loggers"
xperf -stop -stop tracea1 -d kernelless.etl
says 'NT Kernel Logger" is not running' err "the kernel part"
says '^Merged Etl: kernelless.etl$' out "-d"

# The line of many instructions starts both sessions.
if openetw start probe -o probe.etl --kernel SysProf+CSWITCH >/dev/null 2>&1 </dev/null; then
	openetw stop probe >/dev/null
	set -- -on latency -stackwalk profile+cswitch -buffersize 1024 -minbuffers 300 \
		-start tracea1 -on "OpenETW.Sample.Hello:::'stack'"
	xperf "$@"
	xperf -loggers
	says '^Logger Name           : NT Kernel Logger$' out "both"
	says '^Logger Name           : tracea1$' out "both"
	says '^Trace Flags           : PROC_THREAD+LOADER+PROFILE+CSWITCH+DPC+INTERRUPT+DISK_IO+HARD_FAULTS$' out "latency"
	run_status 1 openetw xperf -on latency
	says 'ERROR_ALREADY_EXISTS' err "one kernel session"
	hello
	xperf -stop tracea1 -stop -d merged.etl
	openetw dump -q --json merged.etl >m
	for event in $(! has_switches || echo Thread/CSwitch) StackWalk/Stack Process/DCStart; do
		grep -q "\"event\":\"$event\"" m || fail "no $event in the merged file"
	done
	expect "of the user session" "$(grep -c '"event":"Order"' m)" 4
	run_status 1 openetw xperf -stop
	says 'is not running' err "stopped"
	run_status 1 openetw xperf -on latency -f none.etl -start x -on A -f /nowhere/x.etl
	[ ! -e none.etl ] || fail "the kernel's file of a start that failed"
	run_status 1 openetw xperf -stop
else
	echo "note: perf events are not for us here" >&2
fi

# two sessions, each with its own options
xperf -start one -on 'OpenETW.Sample.Hello:0x1:4' -f one.etl -BufferSize 128 -start two -on 'OpenETW.Sample.Hello:2+Other.Provider' -f two.etl
openetw query --json one >q
says '"bufferSizeKb":128' q "the first"
openetw query --json two >q
says '"bufferSizeKb":64' q "the second"
hello
xperf -m 'a mark'
run_status 0 openetw xperf -stop one -stop two -d both.etl
says 'personal data' err "-d"
expect "of the first" "$(count both.etl '"event":"Order"')" 4
expect "not of its level" "$(count both.etl '"event":"OrderLine"')" 0
expect "of the second" "$(count both.etl '"event":"Connected"')" 2
expect "the mark, once" "$(count both.etl '"Label":"a mark"')" 1
expect "the parts stay" "$(count one.etl '"event":"Order"')" 4
xperf -merge one.etl two.etl again.etl -compress
openetw dump -q --json both.etl >a
openetw dump -q --json again.etl >b
grep -v EventTrace a >a1
grep -v EventTrace b >b1
cmp a1 b1 || fail "-merge and -d"

# one that fails takes the others along
run_status 1 openetw xperf -start three -on A.B -f three.etl -start four -on A.B -f /nowhere/four.etl
says "cannot start 'four'" err "a folder that is not there"
expect "none runs" "$(openetw list | grep -c 'three\|four')" 0

# the documented list of options: in one pair of quotes, each in its own, or in none
for spec in "'stack,sid,tsid'" "'stack|sid|tsid'" "'stack','sid','tsid'" "stack,sid,tsid" 0x7; do
	xperf -start list -on "{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}:0xff:5:$spec" -f list.etl
	openetw logman query list -ets >listed
	expect "options $spec" "$(grep -c '^Properties:  *7$' listed)" 1
	xperf -stop list
done
run_status 2 openetw xperf -start list -on "A.B:::'stack" -f list.etl
run_status 2 openetw xperf -start list -on "A.B:::'stack'sid" -f list.etl

# memory
xperf -start mem -on OpenETW.Sample.Hello -buffering
hello
xperf -flush mem -f snapshot.etl
xperf -stop mem -d mem.etl
expect "a snapshot" "$(count snapshot.etl '"event":"Order"')" 4
expect "what was in memory" "$(count mem.etl '"event":"Order"')" 4
expect "no part is left" "$(ls mem.etl.*.etl 2>/dev/null)" ""

# the state, as the last thing of a start
"$HELPERS/cli/wpr_provider" 100 >seen &
provider_pid=$!
wait_for 60 grep -q ready seen
xperf -start state -on 'ca11bac0-0001-4e57-8a5e-001122334455:1:5' -f state.etl
xperf -capturestate state 'ca11bac0-0001-4e57-8a5e-001122334455:4:5'
xperf -stop state
kill $provider_pid
wait $provider_pid 2>/dev/null
expect "asked" "$(grep -c '^(2;5;0x4)' seen)" 1
expect "what it wrote then" "$(openetw dump -q state.etl | grep -c Inside)" 1

# the dumper's text
xperf -i both.etl -o both.txt
expect "first line" "$(head -1 both.txt)" BeginHeader
says '^EndHeader$' both.txt "dumper"
says '^ *OpenETW.Sample.Hello/Order/win:Start,  *TimeStamp, *Process Name ( PID), *ThreadID, CPU, Number$' both.txt "columns"
sed '1,/^EndHeader$/d' both.txt >rows
says '^OS Version: ' rows "dumper"
grep -E '^ *OpenETW\.Sample\.Hello/Order/win:Start, +[0-9]+, +Unknown \( *[0-9]+\), +[0-9]+, +[0-9]+, 2$' rows >/dev/null ||
	fail "a row: $(grep Order rows)"
expect "rows" "$(($(wc -l <rows) - 1))" "$(grep -vc EventTrace a)"
sed 1d rows | cut -d, -f2 | tr -d ' ' >times
sort -n times | cmp - times || fail "microseconds from the start, in order"

xperf -providers KF
says '	CSWITCH        : context switches$' out "kernel flags"
wrong 'is Latency meant' -on latncy
wrong 'did you mean -start' -strat x
wrong 'both write user.etl' -start a -on A -start b -on B
wrong 'needs -on' -start a
wrong 'from 4 to 16384' -start a -on A -BufferSize 1
wrong "'stack'" -start a -on A -stackwalk profile
wrong 'one at a time' -stop a -start b -on B
xperf -i both.etl -a tracestats -detail
says ', *[0-9]*, *[0-9]*, Order/Start$\|, *[0-9]*, *[0-9]*, Order$' out "the action tracestats"
wrong 'process ids' -start a -on A -pids 1,x
run_status 1 openetw xperf -stop nobody
says 'ERROR_WMI_INSTANCE_NOT_FOUND' err "a session that does not run"
run_status 1 openetw xperf -heap
says 'openetw record --heap' err "what has no source"

# lines of published scripts: several sessions behind one -stop, a -f behind each -flush
xperf -start one -on A -f one.etl -start two -on B -f two.etl
xperf -stop one two -d several.etl
says '^Merged Etl: several.etl$' out "-stop of several"
expect "none is left" "$(openetw list | grep -c '^one\|^two')" 0
xperf -start one -on A -buffering -start two -on B -buffering
xperf -flush one -f a1.etl -flush two -f a2.etl
[ -s a1.etl ] && [ -s a2.etl ] || fail "-flush of two: $(ls)"
xperf -stop one two
wrong 'did you mean -stop' stop -d x.etl
wrong 'no space' -on base +cswitch
wrong 'wpr -start' -start 'perf!GeneralProfiles.InBuffer'
run_status 1 openetw xperf -d x.etl # of the kernel's session
says 'NT Kernel Logger" is not running' err "-d alone"
xperf -on base -stackwalk ThreadCreate -stackwalk ProcessCreate -explain
says '\-\-stackwalk ThreadCreate+ProcessCreate$' out "-stackwalk twice"
