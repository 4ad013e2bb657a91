# SPDX-License-Identifier: MIT
# report --table: the numbers are those of openetw sql, and what is wrong with a question is told.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl

# What cannot be asked, with the name that comes nearest.
wrong() { # wrong STATUS WORDS ARGS…
	status=$1
	words=$2
	shift 2
	run_status "$status" openetw report "$@"
	says "$words" "$T/err" "$*"
}
wrong 1 'no table "oi".*did you mean "io"' --table oi "$N"
wrong 1 "no column 'duraton'; did you mean 'duration'" --table io --columns 'p99(duraton)' "$N"
wrong 1 "no column 'fil'; did you mean 'file'" --table io --group-by fil "$N"
wrong 1 "no 'cuont(…)'; did you mean 'count(…)'" --table io --columns 'cuont(file)' "$N"
wrong 1 "has texts, and no numbers" --table io --columns 'sum(file)' "$N"
wrong 1 "a group has many values of 'file'" --table io --group-by pid --columns file "$N"
wrong 1 "did you mean 'count'" --table io --sort cuont "$N"
wrong 1 "has no processes" --table trace --process x "$N"
wrong 1 "has no times" --table providers --from +1s "$N"
wrong 2 "did you mean 'duration'" --table io --filter 'duraton > 1ms' "$N"
wrong 2 "is of --table" --group-by pid "$N"
wrong 2 "contradict" --table io --csv --json "$N"
wrong 2 "lies before" --table io --from +2s --to +1s "$N"
wrong 2 "which file" --table io
openetw report --table list >"$T/list" || fail "--table list"
for table in $(sed -n '/^} tables\[\] = {/,/^};/s/^\t{"\([a-z_]*\)".*/\1/p' "$(dirname "$0")/../../tools/tables/table_make.c"); do
	says "^$table  " "$T/list" "a table of the list"
	run_status 0 openetw report --table "$table" --json -n 9 "$N"
	json_lines "$T/out"
	run_status 0 openetw report --table "$table" --csv "$CORPUS/perfview/gcevents.etl"
done
run_status 0 openetw report --table io "$N"
says '^… and [0-9]* more' "$T/out" "that there is more"
run_status 0 openetw report --table io --filter 'duration > 1h' "$N"
says '^no rows$' "$T/out" "nothing"

# Plain report counts the same.
plain() { # plain FILE
	openetw report --json -n 1000000 --no-inlines "$1" >"$T/plain" 2>"$T/err" || fail "report $1: $(cat "$T/err")"
	for ask in 'processes self samples process_name,pid count idle==false' \
		'diskProcesses readBytes io process_name,pid sum(bytes) layer==disk/and/operation==read' \
		'diskFiles writes io file count layer==disk/and/operation==write' \
		'faults faults faults process_name,pid count kind' \
		'faultFiles hardBytes faults file sum(bytes) kind==hard' \
		'connections sends net process_name,pid,protocol,local,remote count operation==send' \
		'connections receivedBytes net process_name,pid,protocol,local,remote sum(bytes) operation==receive' \
		'syscalls errors syscalls process_name,pid,call errors(result) call' \
		'threadWaits waits waits process_name,pid,tid count kind==wait'; do
		set -- $ask
		openetw report --json --table "$3" --group-by "$4" --columns "$5" --filter "$(echo "$6" | tr / ' ')" "$file" >"$T/table" \
			2>"$T/err" || fail "report --table $3: $(cat "$T/err")"
		py '
import json, re, sys
T, name, value, table, keys, column = sys.argv[1:7]
def load(f): return [json.loads(l) for l in open(T + "/" + f, encoding="utf-8")]
a, b = {}, {}
def call(c): return re.sub("^(__x64_sys_|__arm64_sys_|__se_sys_|__do_sys_|sys_)", "", c.split("!")[-1])
for r in load("plain"):
    if r.get("table") != name or not r[value]: continue
    if keys == "process_name,pid": k = r["name"] if "name" in r else r["process"]
    elif keys == "file": k = r["file"]
    elif table == "net": k = (r["process"], str(r["pid"]), r["protocol"], r["local"], r["remote"])
    elif table == "waits": k = re.sub(r"\) .*", ")", r["thread"])
    else: k = (r["process"], str(r["pid"]), r["call"])
    a[k] = a.get(k, 0) + r[value]
for r in load("table"):
    if not r[column]: continue
    who = r.get("process_name") or "?"
    if keys == "process_name,pid": k = "%s (%s)" % (who, r["pid"])
    elif keys == "file": k = r["file"] or "?"
    elif table == "net": k = (who, str(r["pid"]), r["protocol"], r["local"], r["remote"])
    elif table == "waits": k = "%s (%s:%s)" % (who, r["pid"], r["tid"])
    else: k = (who, str(r["pid"]), call(r["call"]))
    b[k] = b.get(k, 0) + r[column]
if a != b:
    sys.exit("plain alone: %s; table alone: %s" % ([(k, v) for k, v in a.items() if b.get(k) != v][:4],
        [(k, v) for k, v in b.items() if a.get(k) != v][:4]))
print(name, len(a))' "$T" "$1" "$2" "$3" "$4" "$5" >>"$T/compared" || fail "$file: $ask: plain report says something else"
	done
}
file=$N
plain "$N"
[ -z "$HAVE_PYTHON" ] || says '^processes [1-9]' "$T/compared" "what was compared"

# The same numbers as in SQL.
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

# The order, and how many: by the first number, then by the groups.
expect "the largest" "$(openetw report --csv --table events --group-by event -n 3 "$N" 2>/dev/null)" \
	"$(openetw sql --csv "$N" 'select event, count(*) as count from events group by all order by 2 desc, 1 limit 3' 2>/dev/null)"
expect "the smallest" "$(openetw report --csv --table io --columns duration --sort duration --ascending --filter 'duration >= 0' -n 3 "$N" 2>/dev/null)" \
	"$(openetw sql --csv "$N" 'select duration from io where duration is not null order by 1 limit 3' 2>/dev/null)"

# A trace of this machine.
if has_switches; then
	openetw record --cpu --wait -d 300ms -o "$T/k.etl" >"$T/out" 2>&1 </dev/null || fail "record: $(cat "$T/out")"
	file=$T/k.etl
	plain "$T/k.etl"
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
