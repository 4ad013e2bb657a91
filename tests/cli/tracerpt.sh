# SPDX-License-Identifier: MIT
# tracerpt as Windows 10 writes it (docs/tracerpt.md): the forms of values, what is there and what is left out.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
TAB=$(printf '\t')
# lines FILE: as text with plain line ends
lines() { tr -d '\r' <"$1"; }

record_hello a.etl 3
run_status 0 openetw tracerpt a.etl -o a.xml -gmt -y
lines a.xml >a.txt
expect "no XML declaration" "$(head -1 a.txt)" "<Events>"
says "^$TAB$TAB<Provider Guid=\"{9e814aad-3204-11d2-9a82-006008a86939}\" />$" a.txt "the kernel has no name"
says "^$TAB$TAB<Provider Name=\"OpenETW.Sample.Hello\" Guid=" a.txt "a provider's name"
says "^$TAB$TAB<Correlation ActivityID=\"{00000000-0000-0000-0000-000000000000}\" />$" a.txt "no activity"
says "^$TAB$TAB<Channel />$" a.txt "no channel"
! grep -q '<Security' a.txt || fail "Security of an event without a SID"
says "^$TAB$TAB<Data Name=\"WaitedMs\">    1500</Data>$" a.txt "an unsigned number of 32 bits"
# TraceLogging: the event's name and nothing else
! sed -n '/"OpenETW.Sample.Hello"/,/<\/Event>/p' a.txt | grep -q "<Provider>\|<Level>[A-Z]" || fail "level or provider of TraceLogging"

run_status 0 openetw tracerpt a.etl -of CSV -o a.csv -y
lines a.csv >a.txt
py '
import re, sys
rows = [[c.strip() for c in l.split(",")] for l in open(sys.argv[1], encoding="utf-8")]
head, first = rows[0], rows[1]
assert head[0] == "Event Name" and head[-1] == "User Data" and len(head) == 20, head
assert first[:3] == ["EventTrace", "Header", "0"] and first[8] == "0x0" and first[12:14] == ["", ""], first
assert re.fullmatch("0x[1-9A-F][0-9A-F]*", first[9]), first
assert first[14] == "{00000000-0000-0000-0000-000000000000}" and first[15] == "", first
assert re.fullmatch("[0-9]{18}", first[16]) and re.fullmatch("[0-9]{18}", first[23]), first
hello = next(r for r in rows if r[0] == "Timeout")
assert hello[1] == "0" and hello[19] == "1500", hello' a.txt || fail "the CSV"
expect "columns under their headings" "$(head -2 a.txt | sed 's/^\(.\{254\}\).*/\1/' | awk '{ gsub(/[^,]/, "."); print }' | sort -u | wc -l)" 1

f=$CORPUS/perfview/primitive-types.etl
if [ -f "$f" ]; then
	run_status 0 openetw tracerpt "$f" -o p.xml -gmt -y
	lines p.xml >p.txt
	for line in '<Data Name="BufferSize">    8192</Data>' '<Data Name="Version">83951626</Data>' '<Data Name="EndTime">132756731820557985</Data>' \
		'<Data Name="LogFileMode">0x0</Data>' '<Data Name="LoggerName">0xA</Data>' '<Data Name="ReservedFlags">       1</Data>' \
		'<Data Name="uint32_type">     102</Data>' '<Data Name="int32_type">-102</Data>' '<Data Name="uint64_type">204</Data>' \
		'<Data Name="guid_type">{0ad614c4-0ef4-4225-8013-f44f37cb0397}</Data>' \
		'<Data Name="file_time_type">2021-09-09T14:59:35.799000000Z</Data>' 'KernelTime="1665" UserTime="870"'; do
		grep -qF "$line" p.txt || fail "XML: no '$line'"
	done
	! grep -q TimeZoneInformation p.txt || fail "the time zone is left out"
	run_status 0 openetw tracerpt "$f" -of CSV -o p.csv -y
	lines p.csv | sed 's/  */ /g' >p.txt
	grep -qF ', 1665, 870, "Mercury", false, M, -51, -102, 51, 102, 18446744073709551412, 204, {0ad614c4-0ef4-4225-8013-f44f37cb0397}, 132756731757990000, ' \
		p.txt || fail "CSV: $(cat p.txt)"
fi
f=$CORPUS/sawbuck/process_data_64_v2.etl
if [ -f "$f" ]; then
	run_status 0 openetw tracerpt "$f" -o s.xml -y
	lines s.xml >s.txt
	grep -qE '<Data Name="ProcessId">0x[0-9A-F]+</Data>' s.txt || fail "processes are hexadecimal in their own class"
	grep -qE '<Data Name="SessionId"> +[0-9]</Data>' s.txt || fail "sessions are decimal"
	says '<EventGuid>{3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c}</EventGuid>' s.txt "the class"
fi
f=$CORPUS/tx/HTTP_Server.etl
if [ -f "$f" ] && [ -f "$CORPUS/tx/HTTP_Server.man" ]; then
	run_status 0 openetw tracerpt "$f" -import "$CORPUS/tx/HTTP_Server.man" -of CSV -o h.csv -y
	# Microsoft's own example of this provider's CSV: provider, opcode, id, version, channel, level
	sed 's/  */ /g' h.csv >h.txt
	says '^ *Microsoft-Windows-HttpService, ConnConnect, 21, 0, 16, 4, ' h.txt "provider and opcode"
	says '^ *Microsoft-Windows-HttpService, Parse, 2, 0, 16, 4, ' h.txt "provider and opcode"
	run_status 0 openetw tracerpt "$f" -import "$CORPUS/tx/HTTP_Server.man" -o h.xml -y
	says '<Channel>HTTP Service Channel</Channel>' h.xml "a channel's name"
fi
f=$CORPUS/monogame-samples/PerfViewData.etl
if [ -f "$f" ]; then
	run_status 0 openetw tracerpt "$f" -o v.xml -y
	# Pieces of a manifest, and what nothing describes, are bytes without names, of a provider without one.
	py '
import sys, xml.etree.ElementTree as E
ns = "{http://schemas.microsoft.com/win/2004/08/events/event}"
n = 0
for e in E.parse(sys.argv[1]).getroot():
    if e.find(ns + "BinaryEventData") is not None:
        n += 1
        assert e.find(ns + "System/" + ns + "Provider").get("Name") is None and e.find(ns + "RenderingInfo") is None
assert n > 0' v.xml || fail "undescribed events"
fi
exit 0
