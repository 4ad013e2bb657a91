# SPDX-License-Identifier: MIT
# report: processes, functions and waits, of a trace from Windows and of this machine.
. "$(dirname "$0")/lib.sh"

f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	run_status 0 openetw report -n 5 --folded "$T/folded" --speedscope "$T/speedscope" "$f"
	says 'Test.x86.exe (3644)' "$T/out" "the process that was profiled"
	says 'System.DateTime.GetDatePart' "$T/out" "a method of it, by the name the trace has"
	samples=$(openetw dump -q --json -e PerfInfo/SampleProf "$f" | wc -l)
	says "^$samples samples" "$T/out" "all samples"
	busy=$(sed -n 's/^[0-9]* samples, \([0-9]*\) of them idle.*/\1/p' "$T/out")
	[ "$(awk '{n += $NF} END {print n}' "$T/folded")" -eq $((samples - busy)) ] || fail "folded stacks are not all"
	py 'import json, sys
s = json.load(open(sys.argv[1], encoding="utf-8"))
p = s["profiles"][0]
top = max(max(l) for l in p["samples"] if l)
sys.exit(not (top < len(s["shared"]["frames"]) and len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]))' \
		"$T/speedscope" || fail "the profile for speedscope"
	run_status 0 openetw report --json --pid 3644 "$f"
	json_lines "$T/out"
	! grep '"table":"processes"' "$T/out" | grep -v 3644 || fail "--pid shows others"
	run_status 1 openetw report "$CORPUS/tx/HTTP_Server.etl"
	says 'no CPU samples' "$T/err" "what is missing"
	says 'other events (2041)' "$T/err" "what is there"
	run_status 0 openetw report --events --folded "$T/events" "$f"
	says 'Microsoft-Windows-Kernel-File/Create' "$T/out" "events that have stacks"
	[ "$(awk '/Microsoft-Windows-Kernel-File\/Create [0-9]*$/ {n += $NF} END {print n}' "$T/events")" -eq 968 ] ||
		fail "folded stacks of an event are not all"
	run_status 2 openetw report --events --off-cpu "$f"
	# a filter: of the samples those that dump finds with it
	for filter in 'pid == 3644' 'stack has GetDatePart' 'time < 2s'; do
		fits=$(openetw dump -q --filter "($filter) and event == SampleProf" "$f" | wc -l)
		run_status 0 openetw report --filter "$filter and event == SampleProf" "$f"
		says "^$fits samples" "$T/out" "--filter $filter"
		[ "$fits" -gt 0 ] || fail "no sample: $filter"
	done
	run_status 1 openetw report --filter 'stack has NoSuchFunction' "$f"
	says 'nothing in there that it counts fits' "$T/err" "nothing fits"
	run_status 2 openetw report --filter 'pid = ' "$f"
	run_status 0 openetw report --filter "pid == 3644" "$f"
	says 'with --filter no first lines' "$T/err" "what cannot obey"
fi
f=$CORPUS/sawbuck/process_data_64_v2.etl
if [ -e "$f" ]; then
	run_status 1 openetw report "$f" # processes alone
	says 'no CPU samples' "$T/err" "nothing to count"
fi
run_status 1 openetw report /no/such.etl
run_status 2 openetw report

openetw record --cpu -o "$T/k.etl" -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' >"$T/out" 2>"$T/err" </dev/null ||
	skip "perf events are not for us here: $(head -1 "$T/err")"
run_status 0 openetw report "$T/k.etl"
says '  sh (\|  dash (' "$T/out" "the program that ran"
if has_switches; then
	# of operations on files and system calls those whose beginning or whose end fits
	openetw record --file --syscalls -o "$T/f.etl" -- sh -c 'cat /usr/lib/os-release; sleep 0.02; ls /usr/bin' >"$T/out" 2>&1 </dev/null ||
		fail "record: $(cat "$T/out")"
	for filter in 'duration > 10us and event == OperationEnd' 'event == Read and file ~ os-release'; do
		fits=$(openetw dump -q --filter "$filter" "$T/f.etl" | wc -l)
		run_status 0 openetw report --json -n 100000 --filter "$filter" "$T/f.etl"
		py 'import json, sys
rows = [r for r in map(json.loads, open(sys.argv[1], encoding="utf-8")) if r["table"] == "files"]
n = sum(r["reads"] + r["writes"] + r["otherOperations"] for r in rows)
sys.exit(n > int(sys.argv[2]) or n == 0)' "$T/out" "$fits" || fail "$filter: not what dump has ($fits): $(cat "$T/out")"
	done
	run_status 0 openetw report --json --filter 'duration > 15ms and process == sleep' "$T/f.etl"
	says '"table":"syscalls","process":"sleep","pid":[0-9]*,"call":"clock_nanosleep","calls":1,' "$T/out" "the long call"
fi
