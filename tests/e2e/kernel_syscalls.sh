# SPDX-License-Identifier: MIT
# Every system call of a program whose calls are known is in the file: entry, exit, result.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
f=$T/a.etl
openetw record --syscalls --no-stacks --only-command -o "$f" -- "$HELPERS/kernel_acts" syscalls "$T" >"$T/said" 2>"$T/err" ||
	fail "openetw record: $(cat "$T/err")"
! grep 'not recorded' "$T/err" || skip "this kernel or build lacks it"
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw dump --quiet --json "$f" >"$T/json" || fail "the file cannot be read"
python3 - "$T/said" "$T/json" <<'END' || fail "what was recorded is not what was done"
import json, platform, sys
pid = json.loads(open(sys.argv[1]).readline())["pid"]
prefix = {"x86_64": "__x64_sys_", "aarch64": "__arm64_sys_"}[platform.machine()]
address = {}
for line in open("/proc/kallsyms"):
    words = line.split()
    if words[2] in (prefix + "getppid", prefix + "close"):
        address[words[2][len(prefix):]] = int(words[0], 16)
calls = []  # [address, status]
for line in open(sys.argv[2]):
    event = json.loads(line)
    meta = event["meta"]
    if meta.get("pid") != pid:
        continue
    if meta["event"] == "PerfInfo/SysClEnter":
        calls.append([int(event["SysCallAddress"], 16), None])
    elif meta["event"] == "PerfInfo/SysClExit" and calls:
        assert calls[-1][1] is None, "two exits of one call"
        status = event["SysCallNtStatus"]
        calls[-1][1] = int(status, 0) if isinstance(status, str) else status
ppid = [c for c in calls if c[0] == address["getppid"]]
bad = [c for c in calls if c[0] == address["close"] and c[1] == 0xFFFFFFF7]  # -EBADF
assert len(ppid) == 1000, len(ppid)
assert len({c[1] for c in ppid}) == 1 and ppid[0][1] > 0, ppid[:3]
assert len(bad) == 50, (len(bad), [c for c in calls if c[0] == address["close"]][:3])
END
