# SPDX-License-Identifier: MIT
# One question, the same answer from everybody who can be asked: dump, the engine (samples/query), export, report and,
# where DuckDB is there, sql.
. "$(dirname "$0")/lib.sh"
N=$CORPUS/perfview/net.4.5.2.x86.etl
[ -e "$N" ] || skip "no corpus in $CORPUS"
sql=yes
openetw sql "$N" 'select 1' >"$T/out" 2>"$T/err" </dev/null || sql=no
asked=0
# same FILE FILTER WHERE [REPORT-FILTER]: the filter in our language, and what it is in SQL; -: only events have it
same() {
	dump=$(openetw dump -q -F "$2" "$1" 2>"$T/err" | wc -l)
	engine=$("$SAMPLES/query" "$1" "$2" 2>&1 | sed -n '1s/ of .*//p')
	[ "$engine" = "$dump" ] || fail "$1 $2: dump prints $dump, the engine counts $engine"
	openetw export "$1" --as csv -F "$2" -o "$T/x.csv" --force --json 2>"$T/summary" ||
		[ "$dump" -eq 0 ] || fail "export $1 $2: $(cat "$T/summary")"
	exported=$(sed -n 's/.*"eventsWritten":\([0-9]*\).*/\1/p' "$T/summary")
	[ "${exported:-0}" = "$dump" ] || fail "$1 $2: dump prints $dump, export writes $exported"
	[ "$dump" -eq 0 ] || asked=$((asked + 1))
	[ "$3" != - ] || return 0
	reported=$(openetw report "$1" --table events --group-by '' --columns count --csv -F "${4:-$2}" 2>"$T/err" | sed -n 2p)
	[ "${reported:-0}" = "$dump" ] || fail "$1 $2: dump prints $dump, report counts $reported ($(cat "$T/err"))"
	if [ $sql = yes ]; then
		selected=$(openetw sql "$1" --csv "select count(*) from events where $3" 2>"$T/err" </dev/null | tail -1)
		[ "$selected" = "$dump" ] || fail "$1 $2: dump prints $dump, sql counts $selected ($(cat "$T/err"))"
	fi
}
same "$N" 'event ~ "DiskIo/*"' "event like 'DiskIo/%'"
same "$N" 'provider == MSNT_SystemTrace and event ~ "Process/*"' "provider = 'MSNT_SystemTrace' and event like 'Process/%'"
same "$N" 'provider == Microsoft-Windows-DotNETRuntime and level <= information' \
	"provider = 'Microsoft-Windows-DotNETRuntime' and level <= 4" 'provider == Microsoft-Windows-DotNETRuntime and level <= 4'
same "$N" 'pid == 3644' 'pid = 3644'
same "$N" 'pid == 3644 and cpu == 1' 'pid = 3644 and cpu = 1'
same "$N" 'id in 1..200 and not provider == PerfView' "id between 1 and 200 and not provider = 'PerfView'"
same "$N" 'tid == 2940 or tid == 3660' 'tid in (2940, 3660)'
same "$N" 'opcode == 10 and version == 2' 'opcode = 10 and version = 2'
same "$N" 'provider == nobody-at-all' "provider = 'nobody-at-all'"
for f in perfview/gcevents.etl tx/HTTP_Server.etl sonde/test.etl krabsetw/powershell.etl demikernel/PktMon.etl; do
	f=$CORPUS/$f
	[ -e "$f" ] || continue
	same "$f" 'level <= 3' 'level <= 3'
	same "$f" 'id > 0 and id < 100' 'id > 0 and id < 100'
	same "$f" 'cpu == 0' 'cpu = 0'
	same "$f" 'not pid == 4' 'pid is null or pid != 4'
done
# How long it took, of what ended: report and sql have it in their tables of operations and spans.
took() { # took FILE LIMIT
	same "$1" "duration > $2" -
	both=0
	for table in io spans; do
		n=$(openetw report "$1" --table $table --group-by '' --columns 'count(*)' --csv -F "duration > $2" 2>"$T/err" | sed -n 2p)
		both=$((both + ${n:-0}))
	done
	[ "$dump" = "$both" ] || fail "$1 duration > $2: dump prints $dump, report counts $both operations and spans"
	[ "$dump" -gt 0 ] || fail "$1: nothing took longer than $2"
}
took "$N" 100us
took "$N" 1ms
same "$N" 'duration > 1ms and event ~ "DiskIo/*"' - # the conjuncts are told apart by the engine
same "$N" 'not (duration > 1ms) and provider == PerfView' -
same "$N" 'duration > 1ms or event ~ "*Stop"' -
[ "$asked" -ge 10 ] || fail "only $asked questions had an answer"
if [ $sql = no ]; then
	echo "not asked: sql ($(head -1 "$T/err"))"
fi
