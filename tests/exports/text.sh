# SPDX-License-Identifier: MIT
# csv, json, xml, etl and pcapng: what dump, wevtutil, relog and pcapng write, of a selection; and what all kinds share.
. "$(dirname "$0")/../cli/lib.sh"
record_hello "$T/hello.etl" 20

same_as_dump() { # same_as_dump TRACE SELECTION…
	trace=$1
	shift
	openetw dump -q --format csv "$@" "$trace" >"$T/csv.wanted"
	run_status 0 openetw export "$trace" --as csv -o "$T/csv" --force "$@"
	cmp -s "$T/csv" "$T/csv.wanted" || fail "csv of $trace $*"
	openetw dump -q --json "$@" "$trace" >"$T/json.wanted"
	run_status 0 openetw export "$trace" --as json -o - "$@"
	cmp -s "$T/out" "$T/json.wanted" || fail "json of $trace $*"
	run_status 0 openetw export "$trace" --as json --ecs -o "$T/ecs" --force "$@"
	run_status 0 openetw export "$trace" --as xml -o "$T/xml" --force "$@"
	py '
import json, sys
import xml.etree.ElementTree as tree
dump, ecs, xml = sys.argv[1:]
root = tree.parse(xml).getroot()
assert len(root) == sum(1 for _ in open(dump, encoding="utf-8")), "events in XML"
n = 0
for d, e in zip(open(dump, encoding="utf-8"), open(ecs, encoding="utf-8"), strict=True):
    d, e = json.loads(d), json.loads(e)
    m, w = d.pop("meta"), e["winlog"]
    assert e["@timestamp"] == m["time"] and w["provider_name"] == m["provider"] and e["event"]["action"] == m["event"], e
    assert w["event_id"] == str(m.get("id", 0)) and e.get("process", {}).get("pid") == m.get("pid"), e
    assert e.get("process", {}).get("name") == m.get("process") and list(w["event_data"]) == list(d), e
    for k, v in d.items():
        if isinstance(v, (str, int)) and not isinstance(v, bool):
            assert w["event_data"][k] == str(v), (k, e)
    n += 1
print(n)' "$T/json.wanted" "$T/ecs" "$T/xml" >"$T/py" 2>&1 || fail "ecs or xml of $trace $*: $(tail -3 "$T/py")"
	# a smaller trace has the same events
	run_status 0 openetw export "$trace" --as etl -o "$T/small.etl" --force --json "$@"
	json_lines "$T/err"
	grep -q "\"eventsWritten\":$(openetw dump -q "$T/small.etl" | wc -l),.*\"eventsLost" "$T/err" || fail "$trace: $(cat "$T/err")"
	[ "$(openetw dump -q "$T/small.etl" | wc -l)" -eq "$(wc -l <"$T/json.wanted")" ] || fail "etl of $trace $*"
}
same_as_dump "$T/hello.etl"
same_as_dump "$T/hello.etl" -e Order --filter 'Number >= 3'
for f in perfview/primitive-types.etl tx/HTTP_Server.etl krabsetw/powershell.etl; do
	[ ! -e "$CORPUS/$f" ] || same_as_dump "$CORPUS/$f"
done
f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	same_as_dump "$f" --process Test.x86 --from +2s --to +4s # names that other records tell
	openetw dump -q --fields time,event,cpu --process Test.x86 "$f" >"$T/wanted"
	run_status 0 openetw relog "$f" -o "$T/small.etl" --force --process Test.x86
	openetw dump -q --fields time,event,cpu "$T/small.etl" | cmp -s - "$T/wanted" || fail "relog --process"
fi
f=$CORPUS/demikernel/PktMon.etl
if [ -e "$f" ]; then
	run_status 0 openetw pcapng "$f" -o "$T/a.pcapng"
	run_status 0 openetw export "$f" --as pcapng -o "$T/b.pcapng"
	cmp -s "$T/a.pcapng" "$T/b.pcapng" || fail "the capture is another than that of pcapng"
	says 'events that are no packets: left out' "$T/err" "what has no place in a capture"
	if command -v tshark >/dev/null; then
		tshark -r "$T/b.pcapng" -T fields -e frame.number >"$T/frames" 2>/dev/null
		[ "$(wc -l <"$T/frames")" -eq "$(openetw dump -q --fields time -F 'id == 160' "$f" | wc -l)" ] ||
			fail "tshark sees $(wc -l <"$T/frames") packets"
	fi
fi

# what all kinds share
openetw export --list >"$T/list" || fail "--list"
for kind in $(sed -n 's/^\([a-z-]*\) .*/\1/p' "$T/list"); do
	openetw help export | grep -q -- "  .*\\b$kind\\b" || fail "the help lacks $kind"
	[ "$kind" != pcapng ] || continue
	case $kind in pprof | folded | speedscope) continue ;; parquet | arrow) continue ;; esac # table.sh has these two
	rm -rf "$T/x" "$T/x.old"
	run_status 0 openetw export "$T/hello.etl" --as "$kind" -o "$T/x"
	[ ! -e "$T/x.partial" ] || fail "$kind: the part is there, too"
	run_status 1 openetw export "$T/hello.etl" --as "$kind" -o /no/such/folder/x
	run_status 2 openetw export "$T/hello.etl" --as "$kind" -o "$T/y" --from +2s --to +1s
	[ ! -e "$T/y" ] || fail "$kind: a file in spite of a mistake"
done
run_status 2 openetw export "$T/hello.etl" -o "$T/y"
says 'as KIND' "$T/err" "which option is missing"
run_status 2 openetw export "$T/hello.etl" --as csv
run_status 2 openetw export "$T/hello.etl" --as nothing -o "$T/y"
run_status 2 openetw export "$T/hello.etl" --as etl -o -
run_status 2 openetw export "$T/hello.etl" --as csv --ecs -o -
run_status 1 openetw export "$T/hello.etl" --as csv -o "$T/hello.etl"
run_status 1 openetw export "$T/hello.etl" --as csv -o "$T/y" -e NoSuchEvent
says "no event" "$T/err" "what does not occur"
run_status 0 openetw export "$T/hello.etl" --as json -o /dev/null --json
json_lines "$T/err"

# Ctrl-C leaves the earlier file
f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	echo earlier >"$T/z"
	openetw export "$f" --as perfetto -o "$T/z" --force "$f" "$f" "$f" >/dev/null 2>"$T/err" &
	pid=$!
	wait_for 20 test -s "$T/z.partial" || fail "no part"
	kill -INT $pid
	wait $pid
	got=$?
	[ $got -eq 130 ] || [ $got -eq 0 ] || fail "interrupted: $got: $(cat "$T/err")"
	[ $got -eq 0 ] || [ "$(cat "$T/z")" = earlier ] || fail "a half file has the name"
fi
