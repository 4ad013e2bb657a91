# SPDX-License-Identifier: MIT
# Stacks of code with and without frame pointers, through libc, name exactly what ran and what waited; the
# trace still does when the program is gone.
. "$(dirname "$0")/lib.sh"

openetw record -d 50ms -o "$T/probe.etl" >"$T/out" 2>"$T/err" </dev/null ||
	skip "perf events are not for us here: $(head -1 "$T/err")"
command -v python3 >/dev/null || skip "python3 reads the reports"

# record FILE OPTION COMMAND…: without loss, which a very busy machine may need several tries for
record() {
	file=$1 option=$2
	shift 2
	for try in 1 2 3 4 5; do
		openetw record "$option" -o "$file" -- "$@" >"$T/said" 2>"$T/err" || return 1
		[ "$option" != --wait ] || grep -q '^lost: 0 in full kernel rings, 0 without' "$T/err" || continue
		return 0
	done
	skip "this machine is too busy for switches without loss: $(cat "$T/err")"
}

for kind in nofp fp; do
	cp "$HELPERS/stack_acts_$kind" "$T/acts"
	record "$T/cpu.etl" --cpu "$T/acts" burn 0.15 || fail "record: $(cat "$T/err")"
	rm "$T/acts"
	openetw report --json --folded "$T/folded" "$T/cpu.etl" >"$T/report" || fail "report"
	python3 -c '
import json, sys
mine = 0; through = 0; burn = 0
for line in open(sys.argv[1]):
    stack, count = line.rsplit(" ", 1)
    frames = stack.split(";")
    if not frames[0].startswith("acts ("):
        continue
    count = int(count)
    mine += count
    names = [f.split("!", 1)[1] for f in frames[1:]]
    burn += count if "acts_burn" in names else 0
    if "acts_burn" in names:
        at = names.index("acts_burn")
        want = ["main", "acts_outer", "acts_middle"]
        found = [n for n in names[:at] if n in want]
        # a sanitizer puts a library of its own in between
        libc = [f for f in frames[:at + 1] if f.startswith("lib") and "sort" in f]
        through += count if found == want and libc else 0
self = {}
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["table"] == "functions" and e["name"].startswith("acts!"):
        self[e["name"]] = e["self"]
top = max(self, key=self.get) if self else None
print(mine, "samples,", burn, "in acts_burn,", through, "with all callers; hottest", top)
sys.exit(not (mine >= 30 and burn >= 0.7 * mine and through >= 0.98 * burn and top == "acts!acts_burn"))' \
		"$T/folded" "$T/report" >"$T/out" || fail "$kind: $(cat "$T/out"; grep acts "$T/folded" | head -5)"

	has_switches || skip "context switches are not for us here: $(head -1 "$T/switches")"
	record "$T/wait.etl" --wait "$HELPERS/stack_acts_$kind" wait 4 40 ||
		skip "context switches are not for us here: $(head -1 "$T/err")"
	read -r pid waiter waker <"$T/said"
	openetw report --json --pid "$pid" --off-cpu --folded "$T/folded" "$T/wait.etl" >"$T/report" || fail "report"
	python3 -c '
import json, sys
waiter, waker = int(sys.argv[3]), int(sys.argv[4])
waits = [e for e in map(json.loads, open(sys.argv[2])) if e["table"] == "waits" and e["tid"] == waiter]
long = [e for e in waits if e["ms"] >= 40]
deep = [l for l in open(sys.argv[1]) if "acts_waiter;" in l and "!acts_wait;" in l and "libc.so" in l]
us = sum(int(l.rsplit(" ", 1)[1]) for l in deep)
print(len(long), "long waits, woken by", set(e["wakerTid"] for e in long), "in", us, "us of stacks")
sys.exit(not (len(long) == 4 and all(e["wakerTid"] == waker for e in long) and us >= 4 * 40000))' \
		"$T/folded" "$T/report" "$waiter" "$waker" >"$T/out" ||
		fail "$kind: waits of $waiter, woken by $waker: $(cat "$T/out" "$T/folded")"
done

# Names of the kernel's functions come out of the trace alone: they are looked up nowhere else here. A call
# that waits for a file is in the kernel for sure.
record "$T/kernel.etl" --cpu dd if=/dev/urandom of=/dev/null bs=1M count=20 || fail "record: $(cat "$T/err")"
openetw dump --quiet --stacks "$T/kernel.etl" >"$T/dump" || fail "dump"
if grep -q ' 0xffff[0-9a-f]* \[kernel.kallsyms\]' "$T/dump"; then
	grep -q ' 0xffff[0-9a-f]* \[kernel.kallsyms\]![a-z]' "$T/dump" || fail "functions of the kernel have no names"
fi
