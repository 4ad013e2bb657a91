# SPDX-License-Identifier: MIT
# Real files: info, stats and dump agree with what others say about them.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
[ -n "$HAVE_PYTHON" ] || skip "no python3"

# headers and counts, against an independent reader's summary
find "$CORPUS" -name '*.etl' | sort >"$T/files"
while read -r f; do
	run_status 0 openetw info --json "$f"
	cat "$T/out" >>"$T/info"
	run_status 0 openetw stats --json --gaps 0 "$f"
	tail -1 "$T/out" >>"$T/totals"
done <"$T/files"
py '
import json, sys
T, corpus = sys.argv[1:]
derived = json.load(open(corpus + "/derived.json"))
epoch = lambda t: t and t
bad = 0
for path, info, total in zip(open(T + "/files"), open(T + "/info"), open(T + "/totals")):
    name = path.strip()[len(corpus) + 1:]
    if name not in derived:
        continue
    d, i, t = derived[name], json.loads(info), json.loads(total)["total"]
    pairs = [("bufsize", i["bufferSize"]), ("ncpu", i["processors"]), ("logger", i["session"]),
             ("file", i["recordedTo"]), ("clock", i["clock"]), ("events", t["events"] + t["headers"]),
             ("build", "%d.%d.%d" % (i["osMajor"], i["osMinor"], i["osBuild"])), ("lost", i["eventsLost"])]
    for key, got in pairs:
        if key in d and str(d[key]) != str(got):
            print(name, key, "is", got, "and not", d[key])
            bad += 1
sys.exit(bad != 0)' "$T" "$CORPUS" || fail "headers or counts"

# every event of the HTTP file, as Windows itself converted them
f=$CORPUS/tx/HTTP_Server.etl
openetw dump -q --format csv --fields time,id,version,level,opcode,task,keywords,pid,tid,cpu,activity,relatedActivity \
	"$f" >"$T/csv" || fail "dump"
py '
import csv, sys, collections
from datetime import datetime, timedelta
want = list(csv.DictReader(open(sys.argv[1], newline="")))
got = list(csv.DictReader(open(sys.argv[2], newline="")))
def filetime(text):
    whole, ticks = text[:-1].split(".")
    d = datetime.fromisoformat(whole) - datetime(1601, 1, 1)
    return (d.days * 86400 + d.seconds) * 10**7 + int(ticks)
def key_want(r):
    return (int(r["filetime"]), int(r["id"]), int(r["version"]), int(r["level"]), int(r["opcode"]), int(r["task"]),
            int(r["keyword"], 16), int(r["pid"]), int(r["tid"]), int(r["processor"]),
            r["activityid"].lower().strip("{}"), r["relatedactivityid"].lower().strip("{}"))
def key_got(r):
    return (filetime(r["time"]), int(r["id"]), int(r["version"]), int(r["level"]), int(r["opcode"]), int(r["task"]),
            int(r["keywords"], 16), int(r["pid"] or 0), int(r["tid"] or 0), int(r["cpu"]), r["activity"],
            r["relatedActivity"])
w = collections.Counter(map(key_want, want))
g = collections.Counter(map(key_got, got))
missing = list((w - g).items())
# the header record is no event: dump does not print it
more = list((g - w).items())
print(len(want), "wanted", len(got), "got", len(missing), "missing", len(more), "more")
for x in missing[:3]:
    print("missing", x)
for x in more[:3]:
    print("more", x)
sys.exit(len(missing) > 1 or len(more) > 0)' "$CORPUS/tx/HTTP_Server.expected.csv" "$T/csv" || fail "events of HTTP_Server.etl"

# values of a TraceLogging file
openetw dump -q --json -p solar_system "$CORPUS/perfview/primitive-types.etl" >"$T/json"
py '
import json, sys
names = [json.loads(l)["string_type"] for l in open(sys.argv[1])]
first = json.loads(open(sys.argv[1]).readline())
assert names == ["Mercury", "Venus", "Earth", "Mars", "Jupiter"] or names[:4] == ["Mercury", "Venus", "Earth", "Mars"], names
assert first["int16_type"] == -51 and first["uint32_type"] == 102 and first["boolean_type"] is False
assert first["guid_type"].startswith("0ad614c4-0ef4-4225-8"), first
' "$T/json" || fail "values of primitive-types.etl"

# a damaged file: the good part, and a word about the rest
head -c 150000 "$f" >"$T/cut.etl"
openetw dump -q --format csv "$T/cut.etl" >"$T/out" 2>"$T/err"
expect "exit status for a damaged file" $? 1
says 'cut.etl: at byte 147456: ' "$T/err" "where the damage is"
[ "$(wc -l <"$T/out")" -gt 1000 ] || fail "a cut file gives $(wc -l <"$T/out") lines"

# every file with what is known about it: all events decoded, to the last byte but for eight that PerfView
# writes behind what its own manifest says
while read -r f; do
	set -- --json --decode --gaps 0
	case $f in
	*/tx/HTTP_Server.etl) set -- "$@" -M "$CORPUS/tx/HTTP_Server.man" ;;
	esac
	run_status 0 openetw stats "$@" "$f"
	tail -1 "$T/out" | sed "s|^|${f#"$CORPUS/"} |" >>"$T/decoded"
done <"$T/files"
py '
import json, sys
bad = 0
for line in open(sys.argv[1]):
    name, total = line.split(" ", 1)
    t = json.loads(total)["total"]
    print("%-45s %7d events, %6.2f %% decoded, %d bytes unexplained" %
          (name, t["events"], t["decodedPercent"], t["unexplainedBytes"]))
    want = (0, 70, 0) if name == "tx/WsRm01.etl" else (100, 0, 8 if "net.4.5.2" in name else 0)
    bad += (t["decodedPercent"], t["undecoded"] + t["partly"], t["unexplainedBytes"]) != want
sys.exit(bad != 0)' "$T/decoded" || fail "not decoded: $(cat "$T/decoded")"
run_status 0 openetw stats --decode --gaps 0 "$CORPUS/tx/WsRm01.etl"
says '13: no schema: provider Microsoft-Windows-WinRM {a7975c8f-.* id 307: supply its manifest' "$T/out" "what to supply"
