# SPDX-License-Identifier: MIT
# Each allocation of a program whose allocations are known is in the file, and in order.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "probes in programs take root"
f=$T/a.etl
openetw record --heap heap_acts --no-stacks -o "$f" -- "$HELPERS/heap_acts" >"$T/said" 2>"$T/err" ||
	fail "openetw record: $(cat "$T/err")"
! grep 'not recorded' "$T/err" | grep -v 'heaps of children' || skip "this kernel or build lacks it"
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw dump --quiet --json "$f" >"$T/json" || fail "the file cannot be read"
python3 - "$T/said" "$T/json" "$T/err" <<'END' || fail "what was recorded is not what was done"
import json, sys
said = [json.loads(l) for l in open(sys.argv[1])]
family = {s["pid"]: s["counts"] for s in said if "counts" in s}
said = [s for s in said if "event" in s]
inherited = {pid: [0, 0] for pid in family}
pid = said[0]["pid"]
number = lambda v: int(str(v), 0)
seen, looking = [], False
for line in open(sys.argv[2]):
    e = json.loads(line)
    name = e["meta"]["event"]
    if name == "Heap/Alloc" and e["meta"]["pid"] in family and number(e["AllocSize"]) in (54321, 65432):
        inherited[e["meta"]["pid"]][number(e["AllocSize"]) == 65432] += 1
    if not name.startswith("Heap/") or e["meta"]["pid"] != pid:
        continue
    if name == "Heap/Alloc" and number(e["AllocSize"]) in (77777, 88888):
        looking = number(e["AllocSize"]) == 77777
        continue
    if not looking:
        continue
    if name == "Heap/Alloc":
        seen.append((name, number(e["AllocAddress"]), 0, number(e["AllocSize"])))
    elif name == "Heap/ReAlloc":
        seen.append((name, number(e["NewAllocAddress"]), number(e["OldAllocAddress"]), number(e["NewAllocSize"])))
    else:
        seen.append((name, number(e["FreeAddress"]), 0, 0))
done = [(s["event"], s["address"], s["old"], s["bytes"]) for s in said]
for x, y in zip(done, seen):
    assert x == y, ("done", x, "recorded", y)
assert len(done) == len(seen), (len(done), len(seen))
alone = "heaps of children" in open(sys.argv[3]).read()  # no tracing file system
assert alone or inherited == family, ("of children", inherited, family)
END
! grep -q "openetw_" /sys/kernel/tracing/uprobe_events 2>/dev/null ||
	! grep -q "openetw_[0-9]*/h[0-9]* /proc/$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' "$T/said" | head -1)/" \
		/sys/kernel/tracing/uprobe_events || fail "probes are left behind"
openetw record --heap no-such-program -d 10ms -o "$T/b.etl" 2>"$T/err"
expect "exit status for a program that does not run" $? 1
