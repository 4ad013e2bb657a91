# SPDX-License-Identifier: MIT
# perf counts the same program at the same time: system calls agree exactly; of context switches we miss none that
# perf has (it has not those of a process on its way out).
. "$(dirname "$0")/lib.sh"

openetw record --syscalls --wait --no-stacks -d 50ms -o "$T/probe.etl" >"$T/out" 2>"$T/err" </dev/null ||
	skip "kernel events are not for us here: $(head -1 "$T/err")"
! grep -q 'not recorded' "$T/err" || skip "$(grep -m1 'not recorded' "$T/err")"
command -v perf >/dev/null || skip "perf counts here (linux-perf)"
command -v python3 >/dev/null || skip "python3 compares"
events=raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_switch
perf stat -x, -e $events -o "$T/perf" -- true >"$T/out" 2>&1 || skip "perf counts nothing here: $(tail -1 "$T/out")"

for try in 1 2 3 4 5; do
	openetw record --syscalls --wait --no-stacks --only-command -o "$T/k.etl" -- \
		perf stat -x, -e $events -o "$T/perf" -- sh -c \
		'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); read x </etc/passwd; done; sleep 0.05; sleep 0.05' \
		>"$T/out" 2>"$T/err" || fail "record: $(cat "$T/err")"
	! grep -q '^lost: 0 in full kernel rings, 0 without' "$T/err" || break
done
openetw dump -q --json "$T/k.etl" >"$T/json"
python3 - "$T/json" "$T/perf" <<'END' || fail "perf and we disagree"
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
perf = {f[2]: int(f[0]) for f in (line.split(",") for line in open(sys.argv[2])) if len(f) > 2}
starts = [e for e in events if e["meta"]["event"] == "Process/Start"]
perfs = {e["ProcessId"] for e in starts if e["ImageFileName"] == "perf"}
first = next(e for e in starts if e["ImageFileName"] == "sh" and e["ParentId"] in perfs)
family, begun, enter, leave, switch, last = {first["ProcessId"]}, False, 0, 0, 0, 0
for e in events:
    kind, pid = e["meta"]["event"], e["meta"].get("pid")
    begun = begun or e is first
    if not begun or e is first:
        continue
    if kind == "Process/Start" and e["ParentId"] in family:
        family.add(e["ProcessId"])
    enter += kind == "PerfInfo/SysClEnter" and pid in family
    leave += kind == "PerfInfo/SysClExit" and pid in family
    if kind == "Thread/CSwitch" and e["OldThreadId"] in family:
        switch += 1
        last += e["OldThreadState"] in (4, "Terminated")
more = switch - last - perf.pop("sched:sched_switch")
ours = {"raw_syscalls:sys_enter": enter, "raw_syscalls:sys_exit": leave}
if ours != perf or last != 3 or more < 0 or enter < 600:
    sys.exit(f"perf {perf}, we {ours}; {switch} switches, {more} more than perf, {last} last ones")
END
