# SPDX-License-Identifier: MIT
# The bytes of reads and writes in report and monitor are those that were moved, not those that were asked for; and
# what is one operation is told once.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"

mkdir "$T/recorded" "$T/watched"
openetw record --file --no-stacks --only-command -o "$T/t.etl" -- "$HELPERS/bytes_acts" "$T/recorded" >"$T/said" 2>"$T/err" ||
	fail "record: $(cat "$T/err")"
if grep 'not recorded' "$T/err"; then skip "this kernel or build lacks it"; fi
grep -q '^lost: 0 in full' "$T/err" || fail "lost: $(cat "$T/err")"
openetw report --json --top 10000 "$T/t.etl" >"$T/report" || fail "report"

# Where others do much to files meanwhile, the rings of monitor, which sees them all, may be full: then once more.
for try in 1 2 3 4 5; do
	rm -r "$T/watched"
	mkdir "$T/watched"
	openetw monitor --show file --process bytes_acts --columns op,bytes,path >"$T/lines" 2>"$T/err" &
	monitor=$!
	wait_for 60 grep -q OPERATION "$T/lines" || fail "monitor does not begin: $(cat "$T/err")"
	"$HELPERS/bytes_acts" "$T/watched" >"$T/said2" || fail "bytes_acts"
	shown=1
	wait_for 60 grep -q 'FileClose.*watched/folder$' "$T/lines" || shown=0
	kill -INT $monitor
	wait $monitor || fail "monitor: $(cat "$T/err")"
	! grep -q 'nothing was lost' "$T/err" || break
done
[ $shown = 1 ] || fail "monitor shows nothing: $(cat "$T/err")"
grep -q 'nothing was lost' "$T/err" || fail "monitor lost: $(cat "$T/err")"

cat >"$T/check.py" <<'END'
import json, sys
T = sys.argv[1]
def said(name):
    return [json.loads(line) for line in open(T + "/" + name)]
def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, wanted {wanted}")
files, total = said("said")[:-1], said("said")[-1]
report = [json.loads(line) for line in open(T + "/report")]
rows = {r["file"]: r for r in report if r["table"] == "files"}
def of(table, path):
    found = [r for p, r in table.items() if p.endswith(path)]
    return found[0] if found else {"readBytes": 0, "writeBytes": 0}
for f in files:
    r = of(rows, "/recorded/" + f["file"])
    equal("report, " + f["file"], (r["readBytes"], r["writeBytes"]), (f["read"], f["written"]))
# The loader reads libraries, before the program counts; what it says goes to a file, too.
others = [r for p, r in rows.items() if "/recorded/" not in p]
mine = [r for r in report if r["table"] == "fileProcesses" and r["process"] == "bytes_acts (%d)" % total["pid"]]
equal("processes", len(mine), 1)
equal("report, the process", tuple(mine[0][k] - sum(r[k] for r in others) for k in ("readBytes", "writeBytes")),
      (total["read"], total["written"]))
assert not [r for r in report if r["table"] == "fileOperationsWithoutEnd"], "operations without an end"

seen = {}
for line in open(T + "/lines"):
    words = line.split()
    if len(words) < 2 or "/watched/" not in words[-1]:
        continue
    name = words[-1].split("/")[-1]
    operations = seen.setdefault(name, {})
    operations[words[0]] = operations.get(words[0], 0) + 1
    if words[0] in ("FileRead", "FileWrite") and len(words) == 3:
        operations[words[0] + " bytes"] = operations.get(words[0] + " bytes", 0) + int(words[1])
for f in said("said2")[:-1]:
    s = seen.get(f["file"], {})
    equal("monitor, " + f["file"], (s.get("FileRead bytes", 0), s.get("FileWrite bytes", 0)), (f["read"], f["written"]))
small = seen["small"]
equal("monitor, operations on small", {k: v for k, v in small.items() if "bytes" not in k},
      {"FileCreate": 2, "FileWrite": 2, "FileRead": 14, "FileClose": 2, **{k: v for k, v in small.items() if k == "FileQueryInfo"}})
END
python3 "$T/check.py" "$T" || fail "bytes that were not moved: $(grep -h "$T" "$T/report" "$T/lines" | head -60)"

# One operation is one line: a rename, a deletion, a close; connections that are refused are seen.
cat >"$T/acts.py" <<'END'
import os, socket, sys
directory = sys.argv[1]
open(directory + "/first", "w").close()
os.rename(directory + "/first", directory + "/second")
os.unlink(directory + "/second")
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
port = closed.getsockname()[1]
closed.close()
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        s = socket.socket(family)
        s.connect((host, port))
    except ConnectionRefusedError:
        print(f"{host} {port}")
    except OSError:
        pass
END
openetw monitor --path "$T/watched" --path 127.0.0.1 --path ::1 --columns op,result,path,detail >"$T/lines2" 2>"$T/err" &
monitor=$!
wait_for 60 grep -q OPERATION "$T/lines2" || fail "monitor does not begin: $(cat "$T/err")"
python3 "$T/acts.py" "$T/watched" >"$T/said"
last=$(sed -n '$s/.* //p' "$T/said") # the last thing they did
wait_for 60 grep -q "TcpFail.*:$last" "$T/lines2" ||
	fail "monitor does not show port $last: $(cat "$T/err" "$T/said"; grep -v Udp "$T/lines2" | head -50)"
kill -INT $monitor
wait $monitor || fail "monitor: $(cat "$T/err")"
expect "renames" "$(grep -c 'FileRename.* OK .*/watched/first .*to .*/watched/second' "$T/lines2")" 1
expect "lines of renames" "$(grep -c FileRename "$T/lines2")" 1
expect "deletions" "$(grep -c 'FileDelete' "$T/lines2")" 1
expect "closes" "$(grep -c 'FileClose' "$T/lines2")" 1
expect "cleanups" "$(grep -c 'FileCleanup' "$T/lines2")" 0
while read -r host port; do
	case $host in *:*) host="\[$host\]" ;; esac
	expect "refused: $host:$port" "$(grep -c "TcpFail.*CONNECTION REFUSED.*-> $host:$port" "$T/lines2")" 1
done <"$T/said"
[ -s "$T/said" ] || fail "nothing was refused"
