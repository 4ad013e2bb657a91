# SPDX-License-Identifier: MIT
# What kernel events tell about all others: process names, who ran where, files, stacks. A real trace
# against the listing that PerfView made of it.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
[ -n "$HAVE_PYTHON" ] || skip "no python3"
f=$CORPUS/perfview/net.4.5.2.x86.etl

run_status 0 openetw dump -q --json --stacks --headers "$f"
mv "$T/out" "$T/json"
py '
import collections, json, re, sys
from datetime import datetime
events = []
for line in open(sys.argv[1]):
    o = json.loads(line)
    whole, ticks = o["meta"]["time"][:-1].split(".")
    events.append((int(datetime.fromisoformat(whole).timestamp()) * 10**7 + int(ticks.ljust(7, "0")), o))
start = events[0][0]
at = collections.defaultdict(list)
for t, o in events:
    at[(round((t - start) / 10), o["meta"]["cpu"])].append(o)
number = lambda s: int(s.replace(",", ""))
def fits(o, pid, tid, name):
    m = o["meta"]
    # PerfView shows the process or thread that an event is about, we the one that logged it
    about = o.get("ProcessId") if "Process/" in m["event"] or "Thread/" in m["event"] else None
    if about == pid:
        return True
    process = m.get("process", "")
    if process.endswith(".exe"):
        process = process[:-4]
    return m.get("pid", -1) == pid and (tid == -1 or m.get("tid", -1) == tid) and (not name or process == name)
lines = agree = files = 0
wrong = []
for l in open(sys.argv[2]):
    g = re.match(r"EVENT ([\d,.]+): (\S+(?: Kernel/\S+)?) PID=(-?[\d,]+); TID=(-?[\d,]+); PName=([^;]*); ProceNum=(\d+)", l)
    if not g:
        continue
    # of flushes PerfView shows a part of a time as thread, of services one field as process
    if g[2].endswith("FlushBuffers") or g[2].endswith("/Services"):
        continue
    lines += 1
    us = round(float(g[1].replace(",", "")) * 1000)
    near = [o for d in (0, -1, 1) for o in at.get((us + d, int(g[6])), [])]
    if any(fits(o, number(g[3]), number(g[4]), g[5]) for o in near):
        agree += 1
    else:
        wrong.append(l[:120])
    name = re.search(r"FileName=([^;]*)", l)
    if name and "DiskIO" in g[2] and name[1].strip(". "):
        tail = name[1].split("...")[0][3:].lower()
        files += any(tail in o["meta"].get("file", "").lower() for o in near)
print(lines, "lines,", agree, "agree on process and thread,", files, "files")
print(*wrong[:5], sep="\n")
if agree < lines or lines < 490 or files < 3:
    sys.exit(1)
framed = [o for _, o in events if "stack" in o["meta"]]
frames = [x for o in framed for x in o["meta"]["frames"]]
assert all(len(o["meta"]["stack"]) == len(o["meta"]["frames"]) for o in framed)
print(len(framed), "stacks,", len(frames), "frames,", sum(map(bool, frames)), "explained")
assert len(framed) > 10000 and sum(map(bool, frames)) > 0.95 * len(frames)
text = "\n".join(frames)
for x in ("System.DateTime.get_Now+0x", "Test.Program.Main+0x", "ntoskrnl.exe+0x", "clr.dll+0x"):
    assert x in text, x
# who calls whom: main is nearer to the root than what it calls
for o in framed:
    names = [x.split("+")[0] for x in o["meta"]["frames"]]
    if "System.DateTime.get_Now" in names and "Test.Program.Main" in names:
        assert names.index("System.DateTime.get_Now") < names.index("Test.Program.Main")
' "$T/json" "$CORPUS/perfview/net.4.5.2.x86.baseline.txt" || fail "against PerfView's listing"

# one process, by name with and without extension, pattern, and id: the same events
openetw dump -q --process test.X86 --filter 'process == "Test.x86.exe"' "$f" >"$T/a" || fail "--process"
expect "a pattern of an event's last part" "$(openetw dump -q -e 'MethodLoadVerb*' "$f" | wc -l)" \
	"$(openetw dump -q -e MethodLoadVerbose "$f" | wc -l)"
openetw dump -q --process 'test.x??.exe' --filter 'pid == 3644' "$f" >"$T/b" || fail "--process"
openetw dump -q --pid 3644 "$f" >"$T/c" || fail "--pid"
cmp "$T/a" "$T/b" && cmp "$T/a" "$T/c" || fail "--process and --pid differ"
n=$(wc -l <"$T/a")
[ "$n" -gt 20000 ] || fail "$n events of Test.x86.exe"
[ "$(grep -c ' Test.x86.exe(3644):' "$T/a")" -eq "$n" ] || fail "its name is not on every line"
openetw dump -q --process Test.x86 "$f" | grep -q 'cmd.exe([0-9]*):[0-9]* MSNT_SystemTrace/Process/Start .*Test.x86' ||
	fail "the start of Test.x86.exe, which cmd.exe logged, is not selected"
openetw stats --by process "$f" | grep -q "^ *$n .* Test.x86.exe(3644)\$" || fail "stats --by process"
openetw stats --json --by process "$f" | grep -q "\"pid\":3644,\"process\":\"Test.x86.exe\",\"count\":$n," ||
	fail "stats --json --by process"
[ "$(openetw dump -q --process nobody.exe "$f" | wc -l)" -eq 0 ] || fail "events of nobody"
[ "$(openetw dump -q --fields process,pid --process dwm -n 1 "$f")" = "dwm.exe 980" ] || fail "--fields process"
echo "$n events of Test.x86.exe"

# xperf's text of the same trace: names, columns and processes as its readers know them
openetw xperf -i "$f" -o "$T/dump" || fail "xperf -i"
expect "samples" "$(grep -c '^ *SampledProfile, *[0-9]' "$T/dump")" 88809
# The first thread of the program begins where its header says: Win32StartAddr of its Thread/Start.
expect "samples of the first thread" "$(grep '^ *SampledProfile, .*Test.x86.exe (' "$T/dump" |
	grep -c ' Test.x86.exe!0x7c287a, ')" 4896
expect "a process" "$(grep -cE '^ *P-Start, +2616761, +Test\.x86\.exe \(3644\), 3508, 1, 0xfffffa8300c27080, ' "$T/dump")" 1
expect "its threads" "$(grep -E '^ *T-(Start|DCEnd), ' "$T/dump" | grep -c 'Test.x86.exe (3644)')" \
	"$(openetw dump -q --filter '(event == Thread/Start or event == Thread/DCEnd) and ProcessId == 3644' "$f" | wc -l)"
says '^ *HardFault, .*, C:\\Windows\\' "$T/dump" "a file on its volume"
says '^ *Stack, *18627, *2784, *1, 0xfffff80021561f43, ntoskrnl.exe!0xfffff80021561f43$' "$T/dump" "a stack"
expect "rows" "$(sed '1,/^EndHeader/d' "$T/dump" | sed 1d | grep -vc '^ *Stack,')" \
	"$({ openetw dump -q --filter 'not event ~ "StackWalk/*"' "$f"
	openetw dump -q --event 'EventMetadata/*' "$f"; } | wc -l)"
openetw xperf -i "$f" -a process -withcmdline >"$T/processes" || fail "-a process"
expect "name and command line" "$(grep Test.x86 "$T/processes" | cut -d, -f5,9 | tr -d ' ')" "Test.x86.exe(3644),Test.x86.exe"
openetw xperf -i "$f" -a profile -detail >"$T/profile" || fail "-a profile"
says 'Test.x86.exe (3644), *1140000, *1.26, Unknown!System.DateTime.GetDatePart$' "$T/profile" "-a profile"
