# SPDX-License-Identifier: MIT
# A command begins when everything records: a program that acts at once and ends has nothing left out, whatever is
# recorded, in each of several recordings.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
echo x >"$T/file"
for try in 1 2 3; do
	for program in first_acts first_acts_static; do
		[ -x "$HELPERS/$program" ] || continue
		openetw record --syscalls --file --net --wait --faults --heap $program --only-command -o "$T/a.etl" -- \
			"$HELPERS/$program" "$T/file" 2>"$T/err" || fail "$program: $(cat "$T/err")"
		! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
		grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
		openetw dump -q --json "$T/a.etl" >"$T/json" || fail "dump"
		python3 - "$T" $program <<'END' || fail "$program: its beginning is not there"
import collections, json, sys
T, program = sys.argv[1:]
number = lambda v: int(str(v), 0)
events = [json.loads(l) for l in open(T + "/json")]
mine = [e for e in events if e["meta"].get("process") == program]
count = collections.Counter(e["meta"]["event"] for e in mine)
names = {}
for e in events:
    if e["meta"]["event"] in ("FileIo/FileCreate", "FileIo/FileRundown"):
        names.setdefault(e["FileObject"], set()).add(e["FileName"])
file = T + "/file"
got = {
    "starts": len([e for e in events if e["meta"]["event"] == "Process/Start" and e["ImageFileName"] == program]),
    "opened": len([e for e in mine if e["meta"]["event"] == "FileIo/Create" and e["OpenPath"] == file]),
    "read": len([e for e in mine if e["meta"]["event"] == "FileIo/Read" and file in names.get(e["FileKey"], ())]),
    "sent": count["UdpIp/SendIPV4"],
    "allocated": len([e for e in mine if e["meta"]["event"] == "Heap/Alloc" and number(e["AllocSize"]) == 12345]),
}
calls = collections.Counter(e["SysCallAddress"] for e in mine if e["meta"]["event"] == "PerfInfo/SysClEnter")
got["getppid"] = 53 in calls.values()
got["sleeps"] = 5 in calls.values()
images = {e["FileName"].split("/")[-1] for e in events if e["meta"]["event"] == "Image/Load" and
          e["meta"].get("process") == program}
got["images"] = program in images
wanted = {"starts": 2, "opened": 20, "read": 20, "sent": 10, "allocated": 40, "getppid": True, "sleeps": True, "images": True}
assert got == wanted, (got, wanted, calls.most_common(5), images)
END
	done
done
