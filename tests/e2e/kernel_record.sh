# SPDX-License-Identifier: MIT
# What a program is known to do with files, disks, descriptors and memory is in the recording, exactly:
# counts, names, offsets, bytes, results, threads.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"

act() { # act WHAT OPTIONS…: records it; what it said is in $T/WHAT.said, events in $T/WHAT.json
	what=$1
	shift
	mkdir "$T/$what"
	openetw record "$@" --no-stacks --only-command -o "$T/$what.etl" -- \
		"$HELPERS/kernel_acts" "$what" "$T/$what" >"$T/$what.said" 2>"$T/err"
	code=$?
	if grep 'not recorded' "$T/err"; then skip "this kernel or build lacks it"; fi
	[ $code -eq 77 ] && return 77
	[ $code -eq 0 ] || fail "$what: $code, $(cat "$T/err")"
	grep -q '^lost: 0 in full' "$T/err" || fail "$what, lost: $(cat "$T/err")"
	openetw dump --quiet --json "$T/$what.etl" >"$T/$what.json" || fail "$what: the file cannot be read"
}
check() { # check WHAT: the program on stdin has events, said, names
	cat - >"$T/$1.check"
	cat >"$T/check.py" <<'END'
import json, sys
directory = sys.argv[1]
said = {}
for line in open(directory + ".said"):
    said.update(json.loads(line))
number = lambda v: int(v, 0) if isinstance(v, str) else v
names, events = {}, []
for line in open(directory + ".json"):
    e = json.loads(line)
    m = e["meta"]
    e["kind"] = m["event"]
    if e["kind"] in ("FileIo/FileCreate", "FileIo/FileRundown"):
        names.setdefault(e["FileObject"], set()).add(e["FileName"])
    if m.get("pid") == said["pid"] or e["kind"].startswith("DiskIo"):
        events.append(e)
def of(kind, **fields):
    return [e for e in events if e["kind"] == kind and all(number(e[k]) == v for k, v in fields.items())]
def called(key, name): # the recorder may live below another root than the file system's own
    return any(n.endswith(directory + "/" + name) for n in names.get(key, ()))
def ends(e):
    found = [number(x["NtStatus"]) for x in of("FileIo/OperationEnd") if x["IrpPtr"] == e["IrpPtr"]]
    return found
def moved(e):
    return [number(x["ExtraInfo"]) for x in of("FileIo/OperationEnd") if x["IrpPtr"] == e["IrpPtr"]]
def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, wanted {wanted}")
END
	cat "$T/check.py" "$T/$1.check" >"$T/$1.py"
	python3 "$T/$1.py" "$T/$1" || fail "$1: what was recorded is not what was done"
}

act files --file
check files <<'END'
here = lambda e, name: directory + "/" + name in names.get(e["FileKey"], ())
opened = [e for e in of("FileIo/Create") if e["OpenPath"].startswith(directory + "/")]
equal("opened", [(e["OpenPath"][len(directory) + 1:], ends(e)) for e in opened],
      [("one", [0]), ("two", [0]), ("none", [0xC0000034]), ("folder", [0]), ("folder", [0]), ("two", [0]),
       ("left", [0])])
equal("dispositions", [number(e["CreateOptions"]) >> 24 for e in opened], [2, 1, 1, 2, 1, 1, 5])
equal("directories", [number(e["CreateOptions"]) & 1 for e in opened], [0, 0, 0, 1, 1, 0, 0])
write = [e for e in of("FileIo/Write") if e["FileKey"] in names and (here(e, "one") or here(e, "left"))]
equal("written", [(e["Offset"], e["IoSize"], ends(e), moved(e)) for e in write],
      [(1000 * i, 1000, [0], [1000]) for i in range(5)] + [(5000, 500, [0], [500]), (5500, 7, [0], [7]),
      (700, 9, [0], [9]), (0, 11, [0], [11])])
read = [e for e in of("FileIo/Read") if e["FileKey"] in names and here(e, "two")]
equal("read", [(e["Offset"], e["IoSize"], ends(e), moved(e)) for e in read],
      [(10 * i, 100, [0], [100]) for i in range(4)] + [(5400, 2000, [0], [100]), (0, 50, [0], [50])])
equal("flushed", [here(e, "one") for e in of("FileIo/Flush")], [True])
cut = [e for e in of("FileIo/SetInfo") if here(e, "one")]
equal("cut", [(e["InfoClass"], number(e["ExtraInfo"])) for e in cut], [(20, 1234), (20, 700)])
equal("asked", len([e for e in of("FileIo/QueryInfo") if e["FileKey"] == write[0]["FileKey"]]), 1)
closed = [e for e in of("FileIo/Close") if here(e, "one") or here(e, "folder") or here(e, "left")]
equal("closed", [next(iter(names[e["FileKey"]])).split("/")[-1] in ("one", "two", "folder", "left")
                 for e in closed], [True] * 5)
equal("closed where it was opened", [e["FileObject"] for e in closed],
      [opened[i]["FileObject"] for i in (0, 1, 5, 4, 6)])
equal("cleaned up", [e["FileObject"] for e in of("FileIo/Cleanup") if e["FileKey"] in
                     {c["FileKey"] for c in closed}], [e["FileObject"] for e in closed])
renamed = of("FileIo/RenamePath")
equal("renamed", [(e["FileName"], e["FileKey"], ends(e)) for e in renamed],
      [(directory + "/two", write[0]["FileKey"], [0])])
equal("renamed, without the path", [e["FileKey"] for e in of("FileIo/Rename")], [write[0]["FileKey"]])
equal("linked", [e["FileName"] for e in of("FileIo/SetLinkPath")], [directory + "/three"])
equal("deleted", [(e["FileName"][len(directory) + 1:], ends(e)) for e in of("FileIo/DletePath")],
      [("three", [0]), ("folder", [0]), ("two", [0])])
equal("listed", [(e["Length"], ends(e)) for e in of("FileIo/DirEnum")], [(2000, [0])])
for e in events:
    if e["kind"].startswith("FileIo/") and "TTID" in e:
        equal("thread of " + e["kind"], e["TTID"], said["pid"])
END

act rare --file
check rare <<'END'
mine = lambda name: [k for k, n in names.items() if directory + "/" + name in n]
opened = [e["OpenPath"] for e in of("FileIo/Create")]
equal("a long path", opened.count(said["deep"]), 1)
equal("deleted below a long path", [e["FileName"] for e in of("FileIo/DletePath")],
      [said["deep"], directory + "/nowhere"])
moves = [(e["kind"][7:], e["Offset"], e["IoSize"], ends(e), moved(e)) for e in events
         if e["kind"] in ("FileIo/Read", "FileIo/Write") and e["FileKey"] in mine("from") and e["IoSize"] != 50]
equal("moved", [m for m in moves if m[2] != 1], [
    ("Read", 50, 100, [0], [100]), ("Write", 4000, 100, [0], [100]),
    ("Read", 20, 200, [0], [200]), ("Write", 0, 200, [0], [200]),
    ("Read", 0, 30, [0], [30]), ("Write", 7000, 30, [0], [30])])
swap = [e["FileName"] for e in of("FileIo/RenamePath")]
equal("exchanged", swap, [directory + "/to", directory + "/from"])
key = {e["FileName"]: e["FileKey"] for e in of("FileIo/RenamePath")}
equal("written after that", [e["FileKey"] for e in of("FileIo/Write") if e["IoSize"] == 1], [key[directory + "/to"]])
range_ = [e["FileObject"] for e in of("FileIo/Create")
          if e["OpenPath"] == directory + "/from" and number(e["CreateOptions"]) >> 24 == 1]
closed = [e["FileObject"] for e in of("FileIo/Close")]
equal("a range closed", [o in closed for o in range_], [True] * 3)
equal("watched", [(e["FileName"], e["InfoClass"]) for e in of("FileIo/DirNotify")], [(directory + "/start", 256)])
equal("a link", [number(e["CreateOptions"]) >> 24 for e in of("FileIo/Create")
                 if e["OpenPath"] == directory + "/link"], [2])
equal("many pieces", [(e["Offset"], e["IoSize"], moved(e)) for e in events
                      if e["kind"] in ("FileIo/Read", "FileIo/Write") and called(e["FileKey"], "pieces")],
      [(0, 5950, [5950]), (7, 21, [21])])
# Of all processes, in the order in which they did it.
everybody = [json.loads(line) for line in open(directory + ".json")]
def story(name):
    return [e["meta"]["event"][7:] for e in everybody if e["meta"]["event"] in ("FileIo/Write", "FileIo/Close")
            and called(e["FileKey"], name)]
equal("ended by the last that has it", story("legacy"), ["Write", "Close"])
equal("a descriptor with a high number", story("pieces"), ["Write", "Close"])
execs = [e for e in everybody if e["meta"]["event"] == "Process/Start" and e["CommandLine"] == "nothing done"]
def before_exec(name):
    return [e["meta"]["time"] < execs[0]["meta"]["time"] for e in everybody
            if e["meta"]["event"] == "FileIo/Close" and called(e["FileKey"], name)]
equal("closed by exec", [before_exec(n) for n in ("kept", "marked", "copied")], [[False], [True], [False]])
equal("written without a name", [called(e["FileKey"], "nowhere") for e in of("FileIo/Write") if e["IoSize"] == 5],
      [True])
END

if act uring --file; then
	check uring <<'END'
mine = lambda e: called(e["FileKey"], "ring")
opened = [e for e in of("FileIo/Create") if e["OpenPath"] == directory + "/ring"]
equal("opened by a ring", [len(ends(e)) for e in opened], [1])
done = [(e["kind"][7:], e["Offset"], e["IoSize"], ends(e), moved(e)) for e in events
        if e["kind"] in ("FileIo/Read", "FileIo/Write") and mine(e)]
equal("moved by a ring", done, [("Write", 1000, 600, [0], [600]), ("Read", 1550, 100, [0], [50]),
                                ("Read", 1001, 33, [0], [33]), ("Read", 1200, 44, [0], [44])])
equal("flushed by a ring", [ends(e) for e in of("FileIo/Flush") if mine(e)], [[0]])
equal("not opened by a ring", [ends(e) for e in of("FileIo/Create") if e["OpenPath"] == directory + "/absent"],
      [[0xC0000034]])
equal("renamed by a ring", [(e["FileName"], e["InfoClass"], ends(e)) for e in of("FileIo/RenamePath")],
      [(directory + "/bell", 10, [0])])
equal("deleted by a ring", [(e["FileName"], e["InfoClass"], ends(e)) for e in of("FileIo/DletePath")],
      [(directory + "/bell", 13, [0])])
# By its key as well: a file that is opened later (by a sanitizer at the end) may be the same object.
equal("closed by a ring", [ends(e) for e in of("FileIo/Close") if e["FileObject"] == opened[0]["FileObject"] and mine(e)],
      [[0]])
END
else
	echo "no io_uring here"
fi

act handles --handles
check handles <<'END'
types = {"pipe": 4, "socket": 3, "file": 1, "directory": 2}
made = [(number(e["Handle"]), number(e["ObjectType"])) for e in of("Object/CreateHandle")]
gone = [(number(e["Handle"]), number(e["ObjectType"])) for e in of("Object/CloseHandle")]
want = list(zip(said["fds"], [4, 4, 3, 3, 4, 1, 2]))
equal("made", made[-7:], want)
equal("closed", [h for h in gone if h in want][-7:], want)
after = gone[len(gone) - gone[::-1].index(want[-1]):]
equal("closed by the end", [h for h, t in after[:3]], [0, 1, 2])
pairs = {number(e["Handle"]): e["Object"] for e in of("Object/CreateHandle")}
equal("one object behind a copy", pairs[said["fds"][4]], pairs[said["fds"][0]])
END

if act direct --disk; then
	check direct <<'END'
mine = lambda e: called(e["FileObject"], "direct")
written, read = [e for e in of("DiskIo/Write") if mine(e)], [e for e in of("DiskIo/Read") if mine(e)]
if sum(e["TransferSize"] for e in written) != said["written"]:
    for e in events:
        if e["kind"].startswith("DiskIo"):
            print(e)
equal("bytes written", sum(e["TransferSize"] for e in written), said["written"])
equal("bytes read", sum(e["TransferSize"] for e in read), said["read"])
flushed = [e for e in of("DiskIo/FlushBuffers") if e["IssuingThreadId"] == said["pid"]]
equal("flushes", len(flushed), len([e for e in of("DiskIo/FlushInit") if e["IssuingThreadId"] == said["pid"]]))
for e in written + read:
    equal("thread", e["IssuingThreadId"], said["pid"])
    made = [x for x in of("DiskIo/WriteInit") + of("DiskIo/ReadInit") if x["Irp"] == e["Irp"]]
    equal("made before it was done", len(made), 1)
    equal("by whom", (made[0]["IssuingThreadId"], made[0]["meta"]["pid"]), (said["pid"], said["pid"]))
    assert e["HighResResponseTime"] > 0 and e["DiskNumber"] < 64, e
END
else
	echo "no direct input and output on $T: disks not tested"
fi

act memory --faults --memory
check memory <<'END'
inside = lambda e, base, pages: base <= number(e["VirtualAddress"]) < base + pages * 4096
zero = [number(e["VirtualAddress"]) for e in of("PageFault/DemandZeroFault") if inside(e, said["memory"], 40)]
equal("pages of zeros", zero, [said["memory"] + 4096 * i for i in range(40)])
copied = [number(e["VirtualAddress"]) for e in of("PageFault/CopyOnWrite") if inside(e, said["memory"], 40)]
equal("pages copied", copied, [said["memory"] + 4096 * i for i in range(40)])
hard = [e for e in of("PageFault/HardFault") if inside(e, said["view"], 40)]
equal("hard faults", len(hard), said["hard"])
for e in hard:
    assert called(e["FileObject"], "paged"), (e, names)
    equal("place in the file", e["ReadOffset"], number(e["VirtualAddress"]) - said["view"])
    equal("thread", e["TThreadId"], said["pid"])
    equal("a page", e["ByteCount"], 4096)
ahead = [e for e in of("PageFault/HardFault") if inside(e, said["ahead"], 40)]
equal("hard faults in order", len(ahead), said["hardAhead"])
parts = sorted((e["ReadOffset"], e["ByteCount"]) for e in ahead)
for (a, n), (b, _) in zip(parts, parts[1:]):
    assert a + n <= b, parts
for e in ahead:
    at = number(e["VirtualAddress"]) - said["ahead"]
    assert e["ReadOffset"] <= at < e["ReadOffset"] + e["ByteCount"], (at, e)
soft = [number(e["VirtualAddress"]) for e in of("PageFault/TransitionFault") if inside(e, said["view"], 40)]
equal("pages of the file", soft, [said["view"] + 4096 * i for i in range(0, 40, 4)])
def memory(kind, base):
    return [(number(e["RegionSize"]), e["Flags"]) for e in of(kind) if number(e["BaseAddress"]) == base]
equal("allocated", memory("PageFault/VirtualAlloc", said["memory"]), [(40 * 4096, "Commit|Reserve")])
equal("reserved, then committed", memory("PageFault/VirtualAlloc", said["reserved"]),
      [(3 * 4096, "Reserve"), (2 * 4096, "Commit")])
equal("freed", memory("PageFault/VirtualFree", said["memory"]), [(4096, "Decommit"), (40 * 4096, "Release")])
for kind in ("FileIo/MapFile", "FileIo/UnmapFile"):
    view = [e for e in of(kind) if number(e["ViewBase"]) == said["view"]]
    equal(kind, [(number(e["ViewSize"]), called(e["FileObject"], "paged")) for e in view],
          [(40 * 4096, True)])
END

# What was there before the recording, and still is at its end.
mkdir "$T/hold"
mkfifo "$T/pipe"
: >"$T/hold.said"
"$HELPERS/kernel_acts" hold "$T/hold" <"$T/pipe" >"$T/hold.said" &
holder=$!
exec 9>"$T/pipe"
until [ "$(wc -l <"$T/hold.said")" -eq 2 ]; do
	kill -0 $holder || fail "the holder ended"
	sleep 0.01
done
openetw record --memory --handles --no-stacks -o "$T/hold.etl" -- true >"$T/out" 2>"$T/err" || fail "$(cat "$T/err")"
exec 9>&-
wait $holder || fail "the holder failed"
openetw dump --quiet --json "$T/hold.etl" >"$T/hold.json" || fail "dump"
check hold <<'END'
for end in ("Start", "End"):
    view = of("FileIo/MapFileDC" + end, ViewBase=said["view"])
    equal("view", [(number(e["ViewSize"]), number(e["MiscInfo"]), called(e["FileObject"], "held"), e["ProcessId"])
                   for e in view], [(8192, 4096, True, said["pid"])])
    for what, size, flags, commit in (("memory", 8192, "Commit|Reserve", 8192), ("reserved", 12288, "Reserve", 0)):
        found = of("PageFault/VirtualAllocDC" + end, BaseAddress=said[what])
        equal(what, [(number(e["RegionSize"]), e["Flags"], number(e["CommitSizeInBytes"])) for e in found],
              [(size, flags, commit)])
    held = of("Object/HandleDC" + end, Handle=said["fd"])
    equal("descriptor", [(e["ObjectName"], e["ObjectType"]) for e in held], [(directory + "/held", 1)])
END
