# SPDX-License-Identifier: MIT
# Interrupts and what they leave to do, against what the kernel itself counted; and marks around it.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
f=$T/a.etl
# A little more than half a second of somebody else's work, with marks at its ends. Marks are the machine's: others
# may send some at the same time.
cat >"$T/work" <<'END'
cat /proc/softirqs >$1/before
openetw mark "begin $1"
i=0
while [ $i -lt 50 ]; do
	i=$((i + 1))
	sleep 0.01
done
openetw mark "the end $1"
cat /proc/softirqs >$1/after
END
openetw record --irq --power --no-stacks -o "$f" -- sh "$T/work" "$T" 2>"$T/err" || fail "openetw record: $(cat "$T/err")"
! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw dump --quiet --json "$f" >"$T/json" || fail "the file cannot be read"
python3 - "$T" <<'END' || fail "the trace and the kernel's own counters do not agree"
import json, sys
def counters(name):
    total = {}
    for line in open(sys.argv[1] + "/" + name).read().splitlines()[1:]:
        words = line.split()
        total[words[0].rstrip(":")] = sum(map(int, words[1:]))
    return total
before, after = counters("before"), counters("after")
processors = len(open(sys.argv[1] + "/after").readline().split())
names = {}
for line in open("/proc/kallsyms"):
    w = line.split()
    names.setdefault(int(w[0], 16), w[2])
of = {"run_timer_softirq": "TIMER", "net_rx_action": "NET_RX", "net_tx_action": "NET_TX", "rcu_core_si": "RCU",
      "sched_balance_softirq": "SCHED", "run_rebalance_domains": "SCHED", "hrtimer_run_softirq": "HRTIMER",
      "blk_done_softirq": "BLOCK"}
number = lambda v: int(str(v), 0)
marks, all_of, inner = [], {}, {}
begin, end = "begin " + sys.argv[1], "the end " + sys.argv[1]
idle = 0
for line in open(sys.argv[1] + "/json"):
    e = json.loads(line)
    name = e["meta"]["event"]
    if name == "PerfInfo/Mark":
        if e["Message"] in (begin, end):
            marks.append(e["Message"])
    elif name in ("PerfInfo/DPC", "PerfInfo/TimerDPC"):
        assert number(e["InitialTime"]) > 0, e
        kind = of.get(names.get(number(e["Routine"])))
        assert (name == "PerfInfo/TimerDPC") == (kind in ("TIMER", "HRTIMER")), e
        all_of[kind] = all_of.get(kind, 0) + 1
        if marks == [begin]:
            inner[kind] = inner.get(kind, 0) + 1
    elif name == "PerfInfo/ISR":
        all_of["ISR"] = all_of.get("ISR", 0) + 1
        assert e["Vector"] > 0, e
assert marks == [begin, end], marks
assert all_of.get("ISR"), all_of
# Between the marks there can be no more than the counters' difference, and in all no fewer.
for kind in set(of.values()):
    counted = after[kind] - before[kind]
    assert inner.get(kind, 0) <= counted, (kind, inner, counted)
    # (one a processor may be under way at the end)
    assert all_of.get(kind, 0) + processors >= counted, (kind, all_of, counted)
assert all_of.get("TIMER", 0) > 0 or all_of.get("RCU", 0) > 0, all_of
END
