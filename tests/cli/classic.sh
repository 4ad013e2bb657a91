# SPDX-License-Identifier: MIT
# tracerpt and tracefmt: layouts that other programs parse, options in the classic style, links by name.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
record_hello a.etl 3
n=$(openetw dump -q --headers a.etl | wc -l)

run_status 0 openetw tracerpt a.etl
says 'The command completed successfully' out "tracerpt"
[ -f dumpfile.xml ] && [ -f summary.txt ] || fail "without -o there are dumpfile.xml and summary.txt"
run_status 1 openetw tracerpt a.etl
says '-y overwrites' err "a file that exists"
run_status 0 openetw tracerpt a.etl -y
py '
import sys, xml.etree.ElementTree as E
ns = "{http://schemas.microsoft.com/win/2004/08/events/event}"
root = E.parse(sys.argv[1]).getroot()
assert root.tag == "Events" and len(root) == int(sys.argv[2]), (root.tag, len(root))
order = None
for e in root:
    s = e.find(ns + "System")
    tags = [c.tag[len(ns):] for c in s]
    assert order in (None, tags); order = tags
order_wanted = ["Provider", "EventID", "Version", "Level", "Task", "Opcode", "Keywords", "TimeCreated", "Correlation",
                "Execution", "Channel", "Computer"]
assert order == order_wanted, order
line = next(e for e in root if e.find(".//" + ns + "ComplexData") is not None)
data = {d.get("Name"): d.text for d in line.iter(ns + "Data")}
assert data["Article"] == "teapot" and data["Currency"] == "EUR" and data["InStock"] == "true", data
types = next(e for e in root if any(d.get("Name") == "Readings" for d in e.iter(ns + "Data")))
assert [d.text for d in types.iter(ns + "Data") if d.get("Name") == "Readings"] == ["1", "2", "3"]
assert open(sys.argv[1], "rb").read().count(b"\r\n") > 10 * len(root)' dumpfile.xml "$n" || fail "the XML"
says "^Total Events  Processed $n" summary.txt "summary"
says '^Total Events  Lost      0' summary.txt "summary"
says '^|          6   Order  ' summary.txt "summary"

run_status 0 openetw tracerpt a.etl -OF csv -o a.csv -summary s.txt /y
py '
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8"), skipinitialspace=True))
assert rows[0][:3] == ["Event Name", "Type", "Event ID"] and rows[0][-1] == "User Data" and len(rows[0]) == 20
assert rows[1][:2] == ["EventTrace", "Header"], rows[1]
assert len(rows) == int(sys.argv[2]) + 1
o = [r for r in rows if r[0] == "Order"]
assert [r[6].strip() for r in o] == ["1", "2"] * 3 and o[0][19].strip() == "1", o[0]
t = next(r for r in rows if r[0] == "Timeout")
assert t[8] == "0x3" and t[15] == "" and t[19].strip() == "1500", t' a.csv "$n" || fail "the CSV"
run_status 0 openetw tracerpt a.etl -of CSV -en Unicode -o u.csv -y
py '
import sys
assert open(sys.argv[1], encoding="utf-16").read().replace("\r\n", "\n") == open(sys.argv[2], encoding="utf-8").read()' u.csv a.csv ||
	fail "UTF-16"

run_status 0 openetw tracefmt a.etl
expect "lines" "$(wc -l <FmtFile.txt)" $((n + 1))
expect "first line" "$(head -1 FmtFile.txt)" "EventTrace"
says "^Total Events  Processed $n" FmtFile.sum "FmtFile.sum"
grep -qE '^\[[0-9]+\][0-9A-F]{4,}\.[0-9A-F]{4,}::[0-9]{2}/[0-9]{2}/[0-9]{4}-[0-9:]{8}\.[0-9]{3} \[[^]]*\]\{"Number":1,"meta":\{' FmtFile.txt ||
	fail "the prefix: $(tail -3 FmtFile.txt)"
run_status 0 openetw tracefmt a.etl -displayonly -noprefix -jsonMeta 0x42
json_lines out
says '{"WaitedMs":1500,"meta":{"event":"Timeout"}}' out "-jsonMeta"

# by their names
ln -s "$(command -v openetw)" tracerpt
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
run_status 0 ./tracerpt a.etl -summary by-name.txt -y
cmp by-name.txt summary.txt || fail "the link is not the verb"
run_status 2 ./tracerpt a.etl -smmary
says 'did you mean -summary' err "a mistake"
run_status 2 ./tracerpt
run_status 0 ./tracerpt '/?'

# Windows' own conversion of a real file
f=$CORPUS/tx/HTTP_Server.etl
[ -f "$f" ] || exit 0
run_status 0 openetw tracerpt "$f" -o h.xml -of XML -gmt -y
py '
import collections, csv, sys, xml.etree.ElementTree as E
from datetime import datetime
ns = "{http://schemas.microsoft.com/win/2004/08/events/event}"
def filetime(t):
    d = datetime.fromisoformat(t[:19]) - datetime(1601, 1, 1)
    return (d.days * 86400 + d.seconds) * 10**7 + int(t[20:27])
got = collections.Counter()
for e in E.parse(sys.argv[1]).getroot():
    s = e.find(ns + "System")
    v = lambda t: s.find(ns + t).text
    x = s.find(ns + "Execution").attrib
    c = s.find(ns + "Correlation").attrib
    got[(filetime(s.find(ns + "TimeCreated").get("SystemTime")), v("EventID"), v("Version"), v("Level"), v("Opcode"), v("Task"),
         int(v("Keywords"), 16), x["ProcessID"], x["ThreadID"], x["ProcessorID"], x["KernelTime"], x["UserTime"],
         c["ActivityID"].strip("{}"), c.get("RelatedActivityID", "").strip("{}"))] += 1
want = collections.Counter(
    (int(r["filetime"]), r["id"], r["version"], r["level"], r["opcode"], r["task"], int(r["keyword"], 16), r["pid"], r["tid"],
     r["processor"], str(15 * int(r["kerneltime"])), str(15 * int(r["usertime"])),
     r["activityid"].lower().strip("{}") or "00000000-0000-0000-0000-000000000000",
     r["relatedactivityid"].lower().strip("{}")) for r in csv.DictReader(open(sys.argv[2], newline="")))
missing = list((want - got).items())
print(len(missing), "missing", missing[:2], list((got - want).items())[:2])
sys.exit(bool(missing))' h.xml "$CORPUS/tx/HTTP_Server.expected.csv" || fail "HTTP_Server.etl"

# what a manifest says beyond names: messages with their inserts, keywords; prefixes of one's own; a report
man=$CORPUS/tx/HTTP_Server.man
if [ -f "$man" ]; then
	run_status 0 openetw tracerpt "$CORPUS/tx/HTTP_Server.etl" -import "$man" -o m.xml -gmt -y
	says '<Message>Parsed request (request pointer 0xfffffa80037c4530, method 4) with URI http://georgis2:80/windir.txt.</Message>' \
		m.xml "a message"
	says '<Keyword>Flagged on all HTTP events occuring on a connection</Keyword>' m.xml "a keyword"
	says '<Channel>HTTP Service Channel</Channel>' m.xml "a channel"
	run_status 0 openetw tracefmt "$CORPUS/tx/HTTP_Server.etl" -man "$man" -displayonly -utc
	says '^\[0\]0004.08CC::01/23/2011-22:07:27.226 \[Microsoft-Windows-HttpService\]Connection ID (0xff0000006000060c) assigned' \
		out "a message behind the prefix"
	TRACE_FORMAT_PREFIX='%7!05d! %8!s!/%3!04X! <%!LEVEL!> ' run_status 0 openetw tracefmt "$CORPUS/tx/HTTP_Server.etl" \
		-man "$man" -displayonly
	says '^00004 4/08CC <Information> Connection ID' out "TRACE_FORMAT_PREFIX"
	run_status 0 openetw tracefmt "$CORPUS/tx/HTTP_Server.etl" -displayonly -skipNoFormat -noprefix
	expect "a provider of the built-in catalogue" "$(wc -l <out)" 2042
	run_status 0 openetw tracefmt "$CORPUS/tx/WsRm01.etl" -displayonly -skipNoFormat -noprefix
	expect "what is known without a manifest" "$(wc -l <out)" 1
	run_status 0 openetw tracerpt "$CORPUS/sawbuck/process_data_64_v2.etl" -report r.html -y
	says '<h2>Processes</h2>' r.html "a report"
fi
run_status 0 openetw tracefmt a.etl -csvheader -o a.fmt -nosummary
says '^GUID,SeqNo,CPU,PID,TID,Time,Provider,Event,Level,Text$' a.fmt "-csvheader"
run_status 1 openetw tracefmt a.etl -p /nowhere -displayonly
says 'nowhere' err "a directory that is not there"
