# SPDX-License-Identifier: MIT
# Processes with known lives: starts, arguments, images with their builds, ends with their status.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
f=$T/a.etl
openetw record --net --counters --no-stacks --only-command -o "$f" -- "$HELPERS/process_acts" >"$T/said" 2>"$T/err" ||
	fail "openetw record: $(cat "$T/err")"
! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw dump --quiet --json "$f" >"$T/json" || fail "the file cannot be read"
{
	[ -d /sys/bus/event_source/devices/uprobe ] && echo 1 || echo 0
	[ -d /sys/kernel/tracing/events/kmem/rss_stat ] && echo 1 || echo 0
} >"$T/probes"
readelf -n "$HELPERS/process_acts" 2>/dev/null | sed -n 's/.*Build ID: //p' >"$T/build"
python3 - "$T/said" "$T/json" "$T/build" "$HELPERS/process_acts" "$T/probes" <<'END' || fail "what was recorded is not what was done"
import json, sys
# The kernel may not let us put probes into libraries: then what goes is told at the end.
probes, pages = (word == "1" for word in open(sys.argv[5]).read().split())
said = [json.loads(l) for l in open(sys.argv[1])]
build = open(sys.argv[3]).read().strip()
of = {s["pid"]: [] for s in said}
threads, images, rsds, counters = {}, {}, {}, {}
for line in open(sys.argv[2]):
    e = json.loads(line)
    name, meta = e["meta"]["event"], e["meta"]
    pid = e.get("ProcessId")
    if pid not in of:
        continue
    if name in ("Process/Start", "Process/End", "Process/Terminate"):
        of[pid].append((name[8:], e))
    elif name in ("Thread/Start", "Thread/End"):
        threads.setdefault(pid, []).append((name[7:], e["TThreadId"]))
    elif name in ("Image/Load", "Image/UnLoad"):
        images.setdefault(pid, []).append((name[6:], e["ImageBase"], e["FileName"], meta["time"]))
    elif name == "ImageID/DbgID_RSDS":
        rsds.setdefault(pid, []).append((e["ImageBase"], e["GuidSig"], e["Age"], meta["time"]))
    elif name == "Process/PerfCtr":
        counters[pid] = e
early = []
for s in said:
    pid, events = s["pid"], of[s["pid"]]
    kinds = [k for k, _ in events]
    expected = ["Start", "End", "Start", "Terminate", "End"] if s["program"] else ["Start", "Terminate", "End"]
    assert kinds == expected, (s, kinds)
    first, last = events[0][1], events[-1][1]
    assert first["ParentId"] == s["parent"] and last["ParentId"] == s["parent"], events
    assert first["ExitStatus"] == 259, first
    assert last["ExitStatus"] == s["status"], (s, last["ExitStatus"])
    assert last["CommandLine"] == s["line"], (s, last)
    assert last["ImageFileName"] == (last["ImageFileName"] if s["program"] else "process_acts"), last
    # what is loaded is unloaded, once, and each has its build beside it
    loaded = {}
    for kind, base, path, time in images[pid]:
        if kind == "Load":
            assert base not in loaded, (s, base, path)
            loaded[base] = path
        else:
            assert loaded.pop(base) == path, (s, base, path)
    assert not loaded, (s, loaded)
    if s["library"]:  # it went before the process did
        end = last["meta"]["time"]
        gone = [i for i in images[pid] if i[0] == "UnLoad" and "/libm.so" in i[2]]
        assert len(gone) == 1, (s, images[pid])
        early.append(gone[0][3] < end)
        mapped = [i for i in images[pid] if i[2].endswith("/true")]
        assert [i[0] for i in mapped] == ["Load", "UnLoad"], (s, mapped)
        early.append(mapped[1][3] < end)
    mine = [(i[1], i[3]) for i in images[pid] if i[0] == "Load" and i[2].endswith("/process_acts")]
    assert mine, (s, images[pid])
    if len(build) == 40:
        g = build[6:8] + build[4:6] + build[2:4] + build[0:2]
        guid = "%s-%s-%s-%s-%s" % (g, build[10:12] + build[8:10], build[14:16] + build[12:14], build[16:20], build[20:32])
        assert any(r == (mine[0][0], guid, 1, mine[0][1]) for r in rsds[pid]), (mine, guid, rsds[pid])
    # every thread that started ended
    alive = []
    for kind, tid in threads[pid]:
        if kind == "Start":
            assert tid not in alive, (s, threads[pid])
            alive.append(tid)
        else:
            assert tid in alive, (s, threads[pid])
            alive = [t for t in alive if t != tid]
    assert not alive, (s, threads[pid])
    assert counters[pid]["PageFaultCount"] > 0 and int(str(counters[pid]["PeakWorkingSetSize"]), 0) > 0, counters[pid]
# Who looks at the maps may come late once, when the machine is busy.
assert any(early) or not probes, early
assert all(early) or not pages, early  # whoever unmaps
END
