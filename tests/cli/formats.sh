# SPDX-License-Identifier: MIT
# dump and stats: the formats parse, filters and fields choose, several files merge by time.
. "$(dirname "$0")/lib.sh"
record_hello "$T/a.etl" 6
openetw run -o "$T/b.etl" -p Test.B -- "$HELPERS/emit" Test.B 25 wait >/dev/null 2>&1 || fail "run"
d="openetw dump -q"

$d --json "$T/a.etl" >"$T/json"
json_lines "$T/json"
$d --format csv "$T/a.etl" >"$T/csv"
$d "$T/a.etl" >"$T/text"
n=$(wc -l <"$T/json")
expect "lines of text" "$(wc -l <"$T/text")" "$n"
expect "lines of CSV" "$(wc -l <"$T/csv")" $((n + 1))
py '
import csv, json, sys
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8")))
lines = [json.loads(l) for l in open(sys.argv[2], encoding="utf-8")]
assert all(len(r) == len(rows[0]) for r in rows), "rows of different length"
for r, j in zip(rows[1:], lines):
    m = j.pop("meta")
    f = dict(zip(rows[0], r))
    assert f["time"] == m["time"] and f["provider"] == m["provider"] and f["event"] == m["event"]
    assert int(f["id"]) == m.get("id", 0) and int(f["level"]) == m.get("level", 0)
    assert json.loads(f["fields"]) == j, (f, j)
t = next(j for j in lines if j.get("Round") == 1)
assert t["Text"] == "plain text" and t["Utf8"] == t["Wide"] == "Gr\u00fc\u00dfe"
assert t["Readings"] == [1, 2, 3] and t["Even"] is False and t["Hex"].lower() == "0xc0ffee"
l = next(j for j in lines if "Line" in j)
assert l["Line"]["Article"] == "teapot" and l["Line"]["Price"] == {"Value": 9.9, "Currency": "EUR"}
' "$T/csv" "$T/json" || fail "the formats disagree"

# what hello-tracelogging does in 6 rounds
count_of() { $d "$@" "$T/a.etl" | wc -l; }
expect "events by name" "$(count_of --event Order)" 12
expect "events by pattern" "$(count_of --event 'order*')" 18
expect "two events" "$(count_of -e Hello -e Goodbye)" 2
expect "by provider" "$(count_of -p OpenETW.Sample.Hello)" 34
expect "by GUID" "$(count_of -p '{71E4037D-56B7-5E7C-163B-9A48A5792F88}')" 34
expect "by hash" "$(count_of -p '*openetw.sample.hello')" 34
expect "another provider" "$(count_of -p Nobody)" 0
expect "by level" "$(count_of --level warning -p OpenETW.Sample.Hello)" 2
expect "filter: field" "$(count_of --filter 'Round >= 5')" 2
expect "filter: member" "$(count_of --filter 'Line.Amount == 3')" 2
expect "filter: element" "$(count_of --filter 'Readings.2 == 9')" 1
expect "filter: both" "$(count_of --filter 'event == Order and opcode == 1 and Number in (1, 2)')" 2
expect "filter: GUID field" "$(count_of --filter 'Provider == 71e4037d-56b7-5e7c-163b-9a48a5792f88 and pid > 0')" 6
expect "limit" "$(count_of --limit 3 --event Order)" 3
expect "pid" "$(count_of --pid 1)" 0
pid=$($d --fields pid --event Hello "$T/a.etl")
expect "that pid" "$(count_of --pid "$pid" -p OpenETW.Sample.Hello)" 34

expect "fields as text" "$($d --fields event,Round --filter 'Round == 2' "$T/a.etl")" "Types Round=2"
expect "fields as JSON" "$($d --json --fields event,Round,Line --filter 'Round == 2' "$T/a.etl")" \
	'{"event":"Types","Round":2}'
expect "fields as CSV" "$($d --format csv --fields event,Line.Price.Value,Line.Article --filter 'Line.Amount == 1' \
	--limit 1 "$T/a.etl" | tr '\n' ' ')" "event,Line.Price.Value,Line.Article OrderLine,9.9,teapot "

# a time range: from the 2nd to the 4th round, both ends inclusive
from=$($d --fields time --filter 'Round == 2' "$T/a.etl")
to=$($d --fields time --filter 'Round == 4' "$T/a.etl")
expect "time range" "$(count_of --from "$from" --to "$to" --event Types)" 3
expect "everything from the start" "$(count_of --from +0s)" "$n"
expect "nothing after an hour" "$(count_of --from 1h)" 0
expect "zone" "$(TZ=XYZ-02 $d --local --fields time --filter 'Round == 2' "$T/a.etl" | sed 's/.*+/+/')" "+02:00"

# merged by time
# the headers of the files come first, whatever their time
$d --filter "provider != MSNT_SystemTrace" --fields time "$T/b.etl" "$T/a.etl" >"$T/times"
LC_ALL=C sort -c "$T/times" || fail "merged files are not in order"
expect "merged" "$(wc -l <"$T/times")" $((25 + 34))

openetw stats --json "$T/a.etl" "$T/b.etl" >"$T/stats"
json_lines "$T/stats"
grep -q '"opcode":1,"event":"Order","count":6,' "$T/stats" || fail "stats: $(cat "$T/stats")"
grep -q '"total":{"events":' "$T/stats" || fail "stats total: $(cat "$T/stats")"
for by in provider process level; do
	run_status 0 openetw stats --by $by --json "$T/a.etl"
	json_lines "$T/out"
	run_status 0 openetw stats --by $by "$T/a.etl"
done
run_status 0 openetw stats "$T/a.etl"
says 'nothing was lost' "$T/out" "stats states the loss"
run_status 0 openetw info --json "$T/a.etl"
json_lines "$T/out"
says '"eventsLost":0' "$T/out" "info"
run_status 0 openetw info "$T/a.etl"
says '  session        openetw-run-' "$T/out" "info"

# a reader that has seen enough
sh -c 'openetw dump "$1" 2>"$2" | head -1 >/dev/null' sh "$T/a.etl" "$T/err"
! grep -qi 'pipe\|cannot' "$T/err" || fail "a closed pipe is not quiet: $(cat "$T/err")"
# a disk that is full
if [ -w /dev/full ]; then
	openetw dump -q "$T/a.etl" >/dev/full 2>"$T/err"
	expect "exit status on a full disk" $? 1
	says 'No space left' "$T/err" "a full disk"
fi
