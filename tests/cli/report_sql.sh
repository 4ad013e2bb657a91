# SPDX-License-Identifier: MIT
# report --table: the numbers are those of openetw sql.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl
openetw sql "$N" 'select 1' >"$T/out" 2>"$T/err" </dev/null || skip "no libduckdb.so"
[ -n "$HAVE_PYTHON" ] || skip "no Python"
same() { # same FILE QUERY REPORT-ARGS…: rows in any order; numbers with a fraction to 12 digits
	file=$1
	query=$2
	shift 2
	openetw sql --csv "$file" "$query" >"$T/sql" 2>"$T/err" </dev/null || fail "$query: $(cat "$T/err")"
	openetw report --csv "$@" "$file" >"$T/report" 2>"$T/err" </dev/null || fail "$*: $(cat "$T/err")"
	py '
import csv, sys
def rows(name):
    def plain(v):
        try: return float("%.12g" % float(v)) if "." in v or "e" in v else int(v)
        except ValueError: return v
    return sorted([tuple(map(plain, r)) for r in list(csv.reader(open(name, encoding="utf-8")))[1:]], key=repr)
a, b = rows(sys.argv[1]), rows(sys.argv[2])
if a != b:
    sys.exit("%d rows of sql, %d of report; sql alone: %s; report alone: %s" % (len(a), len(b),
        [r for r in a if r not in b][:3], [r for r in b if r not in a][:3]))
if not a: sys.exit("no rows")' "$T/sql" "$T/report" || fail "$file: $query: report $* says something else"
}
all='count(*), count(duration), sum(duration), min(duration), avg(duration), max(duration), quantile_disc(duration, 0.5),
	quantile_disc(duration, 0.9), quantile_disc(duration, 0.99), quantile_disc(duration, 0.01), count(distinct duration)'
columns='count,count(duration),sum(duration),min(duration),avg(duration),max(duration),p50(duration),p90(duration),p99(duration),p1(duration),distinct(duration)'
same "$N" "select layer, operation, process_name, pid, $all from io group by 1, 2, 3, 4" \
	--table io --group-by layer,operation,process_name,pid --columns "$columns"
same "$N" "select $all from io" --table io --group-by '' --columns "$columns"
same "$N" "select $all from io where layer = 'nothing'" --table io --group-by '' --columns "$columns" --filter 'layer == nothing'
same "$N" "select file, $all from io where layer = 'disk' and duration > 1000000 group by 1" \
	--table io --group-by file --columns "$columns" --filter 'layer == disk and duration > 1ms'
same "$N" "select provider, name, ended, $all from spans group by 1, 2, 3" --table spans --group-by provider,name,ended \
	--columns "$columns"
same "$N" "select activity, count(*) from spans group by 1" --table spans --group-by activity --columns count
same "$N" "select provider, event, count(*) from events where time between 2000000000 and 3000000099 group by all" \
	--table events --from +2s --to +3s
same "$N" "select level, opcode, cpu, count(*), sum(id), max(time), count(stack) from events where pid = 3644 group by all" \
	--table events --process 3644 --group-by level,opcode,cpu --columns 'count,sum(id),max(time),count(stack)'
same "$N" "select tid, count(*) from events where process_name = 'Test.x86.exe' group by all" \
	--table events --process test.x86 --group-by tid --columns count
same "$N" "select cpu, count(*) from samples where tid = 3708 group by all" --table samples --thread 3708 --group-by cpu --columns count
same "$N" "select kind, count(*), sum(bytes) from faults group by all" --table faults --group-by kind --columns 'count,sum(bytes)'
same "$N" "select process_name, pid, protocol, operation, remote, count(*), sum(bytes), count(*) filter (status < 0) from net group by all" \
	--table net
same "$N" "select * from processes" --table processes
same "$N" "select file, reads, disk_time from files" --table files --columns file,reads,disk_time
same "$N" "select provider_guid, sum(events), count(*) from providers group by all" --table providers --group-by provider_guid \
	--columns 'sum(events),count'
same "$N" 'select Reason, Depth, count(*), max("Count") from "Microsoft-Windows-DotNETRuntime/GarbageCollection/Start" group by all' \
	--table Microsoft-Windows-DotNETRuntime/GarbageCollection/Start --group-by Reason,Depth --columns 'count(*),max(Count)'
same "$CORPUS/perfview/primitive-types.etl" 'select * exclude (file_time_type, guid_type, system_time_type)
	from "solar_system/PrimitiveTypesTest"' --table solar_system/PrimitiveTypesTest --columns "$(openetw sql --csv \
	"$CORPUS/perfview/primitive-types.etl" "select string_agg(column_name, ',') from (describe \"solar_system/PrimitiveTypesTest\")
	where column_type not in ('TIMESTAMP', 'UUID')" 2>/dev/null | tail -n 1 | tr -d '"')"
for file in tx/HTTP_Server.etl tx/Process.etl etl-parser/ShutdownPerfDiagLogger.etl monogame-samples/PerfViewData.etl; do
	same "$CORPUS/$file" "select provider, event, process_name, level, count(*), min(time), max(time), count(distinct tid) from events
		group by all" --table events --group-by provider,event,process_name,level \
		--columns 'count,min(time),max(time),distinct(tid)'
done

# The queue of a disk: those that had begun and not ended, counted one by one.
expect "queues" "$(openetw sql --csv "$N" "with d as (select row_number() over () as n, * from io where layer = 'disk')
	select count(*) from d where queue is distinct from (select count(*) from d o where o.disk = d.disk and o.start <= d.start and
	(o.start + o.duration > d.start or o.n = d.n) and (o.start < d.start or o.n <= d.n))" 2>/dev/null | tail -n 1)" 0

# The order, and how many: by the first number, then by the groups.
expect "the largest" "$(openetw report --csv --table events --group-by event -n 3 "$N" 2>/dev/null)" \
	"$(openetw sql --csv "$N" 'select event, count(*) as count from events group by all order by 2 desc, 1 limit 3' 2>/dev/null)"
expect "the smallest" "$(openetw report --csv --table io --columns duration --sort duration --ascending --filter 'duration >= 0' -n 3 "$N" 2>/dev/null)" \
	"$(openetw sql --csv "$N" 'select duration from io where duration is not null order by 1 limit 3' 2>/dev/null)"

# A trace of this machine.
if has_switches; then
	openetw record --cpu --wait -d 300ms -o "$T/k.etl" >"$T/out" 2>&1 </dev/null || fail "record: $(cat "$T/out")"
	# The time of all threads on a processor is not more than there was; running, ready and waiting are those of waits.
	expect "waits in cpu" "$(openetw sql --csv "$T/k.etl" "select count(*), sum(waiting) + sum(coalesce(ready, 0))::bigint from cpu
		where reason is not null" 2>/dev/null | tail -n 1)" "$(openetw sql --csv "$T/k.etl" \
		"select count(*), sum(duration) from waits where kind = 'wait'" 2>/dev/null | tail -n 1)"
	expect "preemptions in cpu" "$(openetw sql --csv "$T/k.etl" "select count(*), sum(ready) from cpu
		where ready is not null and reason is null" 2>/dev/null | tail -n 1)" "$(openetw sql --csv "$T/k.etl" \
		"select count(*), sum(duration) from waits where kind = 'preempted'" 2>/dev/null | tail -n 1)"
	expect "processors with more than all the time" "$(openetw sql --csv "$T/k.etl" "select count(*) from (select cpu, sum(running) as s
		from cpu group by cpu) where s > (select last - first + 1000000 from trace)" 2>/dev/null | tail -n 1)" 0
	same "$T/k.etl" "select kind, reason, woken_by, $all from waits group by 1, 2, 3" --table waits --group-by kind,reason,woken_by \
		--columns "$columns"
	same "$T/k.etl" "select process_name, cpu, count(*) from switches group by all" --table switches --group-by process_name,cpu \
		--columns count
fi

# NaN is above all numbers in both.
python3 "$(dirname "$0")/handmade.py" numbers "$CORPUS/sawbuck/process_data_64_v2.etl" "$T/nan.etl" nan 1 inf 2 -inf nan 5 ||
	fail "handmade.py numbers"
same "$T/nan.etl" 'select count(*), min(x), max(x), quantile_disc(x, 0.99), quantile_disc(x, 0.5), sum(x), count(distinct x) from "P/e"' \
	--table P/e --group-by '' --columns 'count,min(x),max(x),p99(x),p50(x),sum(x),distinct(x)'
