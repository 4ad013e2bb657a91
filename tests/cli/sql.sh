# SPDX-License-Identifier: MIT
# sql: answers about real files are those of dump, stats and report; and what a query may not do.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl
openetw sql "$N" 'select 1' >"$T/out" 2>"$T/err" </dev/null || {
	grep -q "DuckDB's library is not found" "$T/err" || fail "the simplest query: $(cat "$T/err")"
	says 'npm install --ignore-scripts' "$T/err" "how to install it"
	skip "no libduckdb.so: ./openetw.sh test puts it into the build directory"
}
sql() { openetw sql --csv "$@" 2>"$T/err" </dev/null | tail -n +2; } # rows without their head
answer() { expect "$2" "$(sql "$1" "$2")" "$3"; }                    # answer FILE QUERY WANTED
refused() {                                                          # refused WORDS QUERY
	run_status 1 openetw sql "$N" "$2"
	says "$1" "$T/err" "$2"
}

# Values, their text, and the formats.
answer "$N" "select 1, -2.50, 1e300, null, true, 'a,\"b', date '2020-02-29', timestamp '1969-12-31 23:59:59.5'" \
	'1,-2.50,1e+300,,true,"a,""b",2020-02-29,1969-12-31 23:59:59.5'
answer "$N" "select 170141183460469231731687303715884105727, -12345678901234567890.12345::decimal(38,5), 0.001::decimal(5,3)" \
	'170141183460469231731687303715884105727,-12345678901234567890.12345,0.001'
answer "$N" "select interval '14 months 3 days 1.5 seconds', 0.1::float, 'nan'::double, '\\x41'::blob" \
	'14 months 3 days 00:00:01.500000,0.1,nan,41'
expect "nested values" "$(openetw sql --json "$N" "select [1,null,2] as l, {'a': 'x', 'b': [true]} as s, map {'k': 1.5} as m,
	'nan'::double as n" 2>"$T/err")" '{"l":[1,null,2],"s":{"a":"x","b":[true]},"m":[{"key":"k","value":1.5}],"n":"nan"}'
run_status 0 openetw sql "$N" "select 'x' as a, 10 as b union all select 'longer', 7 order by 2"
expect "a table" "$(cat "$T/out")" "$(printf 'a        b\n------  --\nlonger   7\nx       10')"
expect "two results" "$(openetw sql "$N" 'select 1 as a; select 2 as b' 2>"$T/err" | tr '\n' ' ')" 'a - 1  b - 2 '
run_status 2 openetw sql --csv --json "$N" 'select 1'
run_status 2 openetw sql
run_status 1 openetw sql "$T/no.etl" 'select 1'

# Every file: as many events of each kind as dump prints.
if [ -n "$HAVE_PYTHON" ]; then
	find "$CORPUS" -name '*.etl' | sort >"$T/files"
	while read -r f; do
		openetw stats --json --gaps 0 "$f" >"$T/stats" 2>"$T/err" || fail "stats $f: $(cat "$T/err")"
		openetw dump -q --json "$f" >"$T/dump" 2>"$T/err" || fail "dump $f: $(cat "$T/err")"
		openetw sql --json "$f" 'select provider, event, count(*) as n from events group by all;
			select provider, event, sum(events)::bigint as t from event_types group by all;
			select events as all from trace' >"$T/sql" 2>"$T/err" || fail "sql $f: $(cat "$T/err")"
		py '
import json, sys, collections
dump, n, t = collections.Counter(), collections.Counter(), collections.Counter()
for line in open(sys.argv[1] + "/dump", encoding="utf-8"):
    r = json.loads(line)["meta"]
    dump[r["provider"], r["event"]] += 1
for line in open(sys.argv[1] + "/stats", encoding="utf-8"):
    events = json.loads(line).get("total", {}).get("events")
whole = None
for line in open(sys.argv[1] + "/sql", encoding="utf-8"):
    r = json.loads(line)
    if "n" in r: n[r["provider"], r["event"]] += r["n"]
    elif "t" in r: t[r["provider"], r["event"]] += r["t"]
    else: whole = r["all"]
if n != t or sum(n.values()) != whole or whole != events:
    sys.exit("events, event_types, trace and stats differ")
for k in n:
    if n[k] != dump[k]:
        sys.exit("%s: %d and not %d" % (k, n[k], dump[k]))' "$T" || fail "counts of $f"
	done <"$T/files"
fi

# Payloads: each field of each event of these files, as dump has it.
payloads() { # payloads FILE OPTIONS…
	file=$1
	shift
	openetw dump -q --json "$@" "$file" >"$T/dump" 2>"$T/err" || fail "dump $file"
	openetw sql --json "$@" "$file" 'select distinct provider, event from events' >"$T/names" 2>"$T/err" ||
		fail "sql $file: $(cat "$T/err")"
	py '
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    r = json.loads(line)
    name = (r["provider"] + "/" + r["event"]).replace("\"", "\"\"")
    print("from \"%s\";" % name)' "$T/names" >"$T/queries"
	openetw sql --json "$@" "$file" <"$T/queries" >"$T/rows" 2>"$T/err" || fail "payloads of $file: $(cat "$T/err")"
	py '
import json, sys, datetime
dumped, T = {}, sys.argv[1]
for line in open(T + "/dump", encoding="utf-8"):
    e = json.loads(line)
    meta = e.pop("meta")
    dumped.setdefault((meta["provider"], meta["event"]), []).append(e)
names = [json.loads(l) for l in open(T + "/names", encoding="utf-8")]
rows = [json.loads(l) for l in open(T + "/rows", encoding="utf-8")]
common = {"time", "process", "pid", "process_name", "thread", "tid", "container", "cpu", "stack"}
def plain(v):
    if isinstance(v, bool): return v
    if isinstance(v, (int, float)): return float(v)
    if isinstance(v, (list, dict)): return json.dumps(v, separators=(",", ":"))
    try: return float(int(v, 16) if v.startswith("0x") else int(v))
    except ValueError: pass
    if len(v) > 20 and v[10] == "T" and v.endswith("Z"): return v[:10] + " " + v[11:26].rstrip("0").rstrip(".")
    return v
at = 0
for n in names:
    for e in dumped[n["provider"], n["event"]]:
        r = rows[at]
        at += 1
        for key, value in e.items():
            if key.startswith("_") : continue
            low = {k.lower(): v for k, v in r.items()}
            got = low.get(key.lower() + "_2", low.get(key.lower()))
            a, b = plain(value) if value is not None else None, plain(got) if got is not None else None
            if isinstance(value, (list, dict)) and got is not None: a, b = value, json.loads(got)
            if a != b and not (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= abs(a) * 1e-6):
                sys.exit("%s: %s is %r and not %r" % (n, key, got, value))
if at != len(rows): sys.exit("%d rows, and not %d" % (len(rows), at))
if at == 0: sys.exit("no rows")' "$T" || fail "payloads of $file"
}
if [ -n "$HAVE_PYTHON" ]; then
	payloads "$CORPUS/perfview/primitive-types.etl"
	payloads "$CORPUS/etl-parser/lxcore_kernel.etl"
	payloads "$CORPUS/krabsetw/powershell.etl"
	payloads "$CORPUS/sonde/test.etl"
fi
answer "$CORPUS/perfview/primitive-types.etl" 'select column_type from (describe "solar_system/PrimitiveTypesTest")
	where column_name in ('"'int16_type', 'guid_type', 'boolean_type', 'file_time_type', 'string_type', 'uint64_type'"')
	order by column_name' 'BOOLEAN
TIMESTAMP
UUID
SMALLINT
VARCHAR
UBIGINT'
answer "$CORPUS/tx/HTTP_Server.etl" 'select count(*), count(distinct event) from events' "$(sql "$CORPUS/tx/HTTP_Server.etl" \
	"select 2041, count(distinct event) from event_types")"

# Bounds say what WHERE says; and what they cannot mean is told.
for table in events samples faults net; do
	answer "$N" "select count(*) from $table(t0 := 3000000000, t1 := 5000000000)" \
		"$(sql "$N" "select count(*) filter (time >= 3000000000 and time <= 5000000000) from $table")"
	answer "$N" "select count(*) from $table where time between 3000000000 and 5000000000" \
		"$(sql "$N" "select count(*) from $table(t0 := 3000000000, t1 := 5000000000)")"
	answer "$N" "select count(*) from $table(process := 'Test.x86.exe')" \
		"$(sql "$N" "select count(*) filter (process_name = 'Test.x86.exe') from $table")"
	answer "$N" "select count(*) from $table(process := '3644')" \
		"$(sql "$N" "select count(*) filter (pid = 3644) from $table")"
done
answer "$N" "select count(*) from events(provider := 'PerfView')" "$(sql "$N" "from events select count(*) filter (provider = 'PerfView')")"
answer "$N" "select count(*) from events(provider := 'nobody')" 0
refused 'no times' 'from waits(t0 := 1)'
refused 'did you mean "PerfView/PerfViewLog"' 'from "PerfView/PerfViewLag"'

# Numbers mean the same in all tables.
answer "$N" 'select count(*) from events e left join processes p using (process) where e.process_name is distinct from p.process_name
	and p.process is not null' 0
answer "$N" 'select count(*) from samples s left join threads t using (thread) where s.tid is distinct from t.tid' 0
answer "$N" 'select count(*), count(distinct stack) from stacks' "$(sql "$N" 'select count(distinct stack), count(distinct stack) from frames')"
answer "$N" "select time_text(0)" "2020-07-29T00:06:19.7984230Z"

# Ready queries: what report says of the same file, and what is known of it.
row() { # row NAME PATTERN
	openetw sql --csv "$N" --run "$1" >"$T/out" 2>"$T/err" || fail "$1: $(cat "$T/err")"
	says "$2" "$T/out" "$1"
}
answer "$N" 'select count(*) from samples where stack is not null and stack not in (select stack from frames)' "0"
row cpu-by-process '^Test.x86.exe,3644,4900,73.3$'
row cpu-by-thread '^Test.x86.exe,3644,3708,4898,73.3$'
row cpu-by-module '^Test.x86.exe,3644,jit,2502,37.4$'
row cpu-by-function '^jit!System.DateTime.GetDatePart,1140,1807$'
row cpu-by-function '^jit!System.DateTime.get_Now,138,4715$'
row cpu-stacks '^Test.x86.exe,3644,55,jit!System.DateTime.GetDatePart;'
row power-idle '^,,,,,,.*nothing is recorded: openetw record --power'
row power-speed '^,,,,,.*openetw record --power'
row disk-by-process '^MsMpEng.exe,1632,read,1986,31130624,'
row disk-by-file 'clr.dll,read,399,6979584,'
row net-by-endpoint '^System,4,tcp,.*445,9864915,72431,232,241,0,0$'
row faults-by-process '^PerfView.exe,3988,146,146,2609664$'
row hard-faults-by-file 'shell32.dll,30,580096$'
row gc-pauses '^Test.x86.exe,3644,80,'
row jit-by-process '^Test.x86.exe,3644,271,24332,53131,'
row disk-queues '^0,2393,13,4$'
row process-lifetimes '^Test.x86.exe,3644,cmd.exe,Test.x86.exe,,2616.762,5286.565,0$'
row slowest-spans 'PerfView,Tracing,PerfView.exe,3988,2784$'
row spans-by-name '^Microsoft-Windows-DotNETRuntime,Contention,16,0,'
row error-bursts 'Exception/Start,2,1$'
row events-by-type '^MSNT_SystemTrace,PerfInfo/SampleProf,0,2,88809$'
row events-by-process '^Idle,0,82983,'
row processes-started '2020-07-29T00:06:22.4151846Z,Test.x86.exe,3644,3508,'
for q in $(openetw sql --list | awk '{print $1}'); do
	run_status 0 openetw sql "$CORPUS/etl-parser/ShutdownPerfDiagLogger.etl" --run "$q"
done
run_status 2 openetw sql "$N" --run cpu-by-proces
says "did you mean 'cpu-by-process'" "$T/err" "a name that is nearly right"

# What the text of a query may not do.
echo secret >"$T/secret.csv"
refused 'disabled by configuration' "from read_csv('$T/secret.csv')"
refused 'disabled by configuration' "select * from read_text('/etc/passwd')"
refused 'disabled by configuration' "copy (select 1) to '$T/made.csv'"
refused 'disabled by configuration' "attach '$T/made.db'"
refused 'disabled by configuration' "export database '$T/made'"
refused 'configuration has been locked' "set memory_limit = '100GB'"
refused 'configuration has been locked' "set enable_external_access = true"
refused 'configuration has been locked' "set allowed_paths = ['/tmp']"
refused . "install httpfs"
refused . "load '$T/made.so'"
refused . "from '$T/secret.csv'"
refused 'syntax error' 'selekt 1'
refused 'no statement' '  ;  '
refused 'parameters' 'select $1'
ls "$T" | grep -q '^made' && fail "a query made a file"
refused 'longer than 64 MiB' "select repeat('x', 70000000)"
refused 'longer than' "select '$(head -c 70000 /dev/zero | tr '\0' x)'"
run_status 1 openetw sql --memory 64MB "$N" 'select count(distinct range) from range(100000000)'
says 'Out of Memory' "$T/err" "too much memory"
says '--memory' "$T/err" "what to do about it"
answer "$N" "select length(repeat('x', 60000000)), length(string_agg(event, ',')) > 1000000 from events" 60000000,true
answer "$N" "select distinct chr(27) || '[31m' from events" '\x1b[31m'

# Of another user than root, the same.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	cp "$N" "$T/other.etl"
	chmod 755 "$T"
	chmod 644 "$T/other.etl"
	expect "another user" "$(setpriv --reuid=4242 --regid=4242 --clear-groups openetw sql --csv "$T/other.etl" \
		'select count(*) from events where stack is not null; select count(*) from samples' 2>&1 | tr '\n' ' ')" \
		'count_star() 10865 count_star() 88809 '
fi

# Its end is told, and no more.
openetw sql "$N" 'select count(*) from range(1000000000000)' >"$T/out" 2>"$T/err" </dev/null &
P=$!
child() { pgrep -P $P openetw-sql; }
wait_for 20 child || fail "no child"
kill -9 "$(child)"
wait $P
expect "the exit status after the end of the child" $? 1
says 'openetw-sql was ended by signal 9' "$T/err" "the end of the child"
openetw sql "$N" 'select count(*) from range(1000000000000)' >"$T/out" 2>"$T/err" </dev/null &
P=$!
wait_for 20 child || fail "no child"
C=$(child)
kill -9 $P
wait $P 2>/dev/null
gone() { ! kill -0 "$C" 2>/dev/null; }
wait_for 20 gone || fail "the child outlives its parent"
# A prompt goes on after it.
printf '%s\n' 'select 1 as one;' '.run cpu-by-process' 'selekt;' 'select 2' 'as two;' '.quit' 'select 3 as three;' |
	openetw sql --csv "$N" >"$T/out" 2>"$T/err" && fail "a mistake, and the status is 0"
expect "what a prompt answers" "$(tr '\n' ' ' <"$T/out" | sed 's/process_name.*,percent .* two/two/')" 'one 1 two 2 '
says 'syntax error' "$T/err" "the mistake"

# Help lists the tables as there are.
openetw help sql | tr -s ' \n' '  ' >"$T/help"
for name in $(openetw sql --tables --csv "$N" 2>"$T/err" | sed -n 's/^\([a-z_]*\),.*/\1/p' | sort -u); do
	[ "$name" = table ] || says "[ ]$name[,.]" "$T/help" "a table that help does not know"
done
# At a terminal: history, completion, and Ctrl-C that ends a query only.
[ -z "$HAVE_PYTHON" ] || python3 "$(dirname "$0")/sql_keys.py" "$CORPUS/perfview/primitive-types.etl" >"$T/out" 2>&1 || fail "keys at the prompt: $(cat "$T/out")"

# What a child says that somebody has taken over is an error, whatever it is.
for lie in 0 1 2 3 4 5 6 7 8 9 11 12; do
	cp "$OPENETW_BUILD/tests/cli/lying_sql" "$T/lying_sql-$lie"
	OPENETW_SQL=$T/lying_sql-$lie run_status 1 openetw sql "$N" 'select 1'
	says 'answered what is no result' "$T/err" "lie $lie"
done
cp "$OPENETW_BUILD/tests/cli/lying_sql" "$T/lying_sql-10"
OPENETW_SQL=$T/lying_sql-10 run_status 1 openetw sql "$N" 'select 1'
says '\\x1b\[31mno' "$T/err" "an error that would be obeyed by a terminal"

# Files that are written: whole, typed, and nothing but them.
run_status 0 openetw sql "$N" 'select * from events order by time, cpu' --parquet "$T/events.parquet"
py '
import ctypes, os, sys
name = os.environ.get("OPENETW_DUCKDB") or sys.argv[2] + "/libduckdb.so"
lib = ctypes.CDLL(name if os.path.exists(name) else "libduckdb.so")
class result(ctypes.Structure):
    _fields_ = [("n", ctypes.c_uint64 * 3), ("column", ctypes.c_void_p), ("error", ctypes.c_char_p), ("own", ctypes.c_void_p)]
db, con, r = ctypes.c_void_p(), ctypes.c_void_p(), result()
lib.duckdb_open(None, ctypes.byref(db))
lib.duckdb_connect(db, ctypes.byref(con))
q = "select count(*) || chr(32) || count(stack) || chr(32) || count(distinct event) || chr(32) || any_value(typeof(time)) from read_parquet($$%s$$)" % sys.argv[1]
if lib.duckdb_query(con, q.encode(), ctypes.byref(r)): sys.exit(r.error)
lib.duckdb_value_varchar.restype = ctypes.c_char_p
print(lib.duckdb_value_varchar(ctypes.byref(r), ctypes.c_uint64(0), ctypes.c_uint64(0)).decode())' \
	"$T/events.parquet" "$OPENETW_BUILD" >"$T/parquet" || fail "the Parquet file: $(cat "$T/parquet")"
[ -z "$HAVE_PYTHON" ] || expect "what is in the Parquet file" "$(cat "$T/parquet")" \
	"$(sql "$N" "select count(*) || ' ' || count(stack) || ' ' || count(distinct event) || ' BIGINT' from events")"
run_status 1 openetw sql "$N" 'select nothing' --parquet "$T/none.parquet"
[ ! -e "$T/none.parquet" ] || fail "a failed query made a file"
run_status 1 openetw sql "$N" "copy (select 1) to '/openetw-export'"
run_status 1 openetw sql "$N" 'select 1' --parquet "$T/no/such.parquet"

# An Arrow stream, read by the rules of flatbuffers alone: rows, and the values of a column of numbers and of one of texts.
run_status 0 openetw sql "$N" 'select time, event, stack from events' --arrow "$T/events.arrow"
py '
import struct, sys
data = open(sys.argv[1], "rb").read()
def u(f, at): return struct.unpack_from("<" + f, data, at)[0]
def field(table, i):  # where the i-th field of a table is; None: it has none
    vtable = table - u("i", table)
    at = u("H", vtable + 4 + 2 * i) if 4 + 2 * i < u("H", vtable) else 0
    return table + at if at else None
def follow(at): return at + u("I", at)
at = rows = nulls = total = texts = 0
names = set()
fields = []
while True:
    assert at % 8 == 0 and u("I", at) == 0xFFFFFFFF
    size = u("I", at + 4)
    if size == 0: break
    message = follow(at + 8)
    kind, header, body = u("B", field(message, 1)), follow(field(message, 2)), field(message, 3)
    length, body = u("Q", body) if body else 0, at + 8 + size
    if kind == 1:
        v = follow(field(header, 1))
        for i in range(u("I", v)):
            f = follow(v + 4 + 4 * i)
            s = follow(field(f, 0))
            fields.append(data[s + 4:s + 4 + u("I", s)].decode())
    else:
        n = u("Q", field(header, 0))
        nodes, buffers = follow(field(header, 1)), follow(field(header, 2))
        assert u("I", nodes) == 3 and u("I", buffers) == 7 and nodes % 8 == 4 and buffers % 8 == 4
        place = lambda i: (body + u("Q", buffers + 4 + 16 * i), u("Q", buffers + 12 + 16 * i))
        total += sum(struct.unpack_from("<%dq" % n, data, place(1)[0]))
        o = struct.unpack_from("<%di" % (n + 1), data, place(3)[0])
        base = place(4)[0]
        names |= {data[base + o[i]:base + o[i + 1]] for i in range(n)}
        nulls += u("Q", nodes + 4 + 16 * 2 + 8)
        rows += n
    at = body + length
assert at + 8 == len(data) and fields == ["time", "event", "stack"], fields
print(rows, rows - nulls, len(names), total, sep=",")' "$T/events.arrow" >"$T/arrow" || fail "the Arrow file"
[ -z "$HAVE_PYTHON" ] || expect "what is in the Arrow file" "$(cat "$T/arrow")" \
	"$(sql "$N" 'select count(*), count(stack), count(distinct event), sum(time) from events')"
run_status 1 openetw sql "$N" 'select 1; select 2' --arrow "$T/two.arrow"
says 'a second one' "$T/err" "two results for one file"
[ ! -e "$T/two.arrow" ] || fail "a failed query made a file"
run_status 2 openetw sql "$N" --arrow "$T/none.arrow"

# Waits of this machine: as many as report counts.
if has_switches; then
	openetw record --wait -d 300ms -o "$T/waits.etl" >"$T/out" 2>&1 </dev/null || fail "record: $(cat "$T/out")"
	openetw report --json -n 10000 "$T/waits.etl" 2>/dev/null >"$T/report" || fail "report"
	if [ -n "$HAVE_PYTHON" ]; then
		expect "waits" "$(sql "$T/waits.etl" "select count(*), max(duration) // 1000000 from waits where kind = 'wait'")" "$(py '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
print(sum(r["waits"] for r in rows if r.get("table") == "threadWaits"),
      int(max(r["longestMs"] for r in rows if r.get("table") == "threadWaits")), sep=",")' "$T/report")"
	fi
fi

# Several files are one trace.
answer_two() { openetw sql --csv "$N" "$CORPUS/perfview/gcevents.etl" "$1" 2>"$T/err" | tail -n +2; }
expect "two files" "$(answer_two 'select count(*) from events')" \
	"$(($(sql "$N" 'select count(*) from events') + $(sql "$CORPUS/perfview/gcevents.etl" 'select count(*) from events')))"
expect "files of a trace" "$(answer_two 'select count(*), count(distinct file) from trace')" 2,2
expect "times of two files" "$(answer_two 'select count(*) from samples s where not exists (from processes p where p.process = s.process)
	and s.process <> 0')" 0

# The pages say what is there: every column of every table, and queries that run.
D=$(dirname "$0")/../../docs/sql.md
for table in events event_types providers processes lifetimes threads images cpu samples switches waits io \
	files net faults syscalls dpc_isr power memory gc jit spans stacks frames symbols lost trace; do
	echo "select '$table' as t, column_name as c from (describe $table);"
done | openetw sql --csv "$N" 2>"$T/err" | grep -v '^t,c' >"$T/columns" || fail "columns: $(cat "$T/err")"
while IFS=, read -r table column; do
	awk -v t="### $table" '$0 == t {on = 1; next} /^##/ {on = 0} on' "$D" | grep -q "\`$column\`" ||
		fail "docs/sql.md has no $table.$column"
done <"$T/columns"
[ "$(wc -l <"$T/columns")" -gt 150 ] || fail "columns: $(wc -l <"$T/columns")"
awk '/^```sql/ {on = 1; next} /^```/ {on = 0} on' "$D" >"$T/examples"
openetw sql "$N" <"$T/examples" >"$T/out" 2>"$T/err" || fail "an example of docs/sql.md: $(cat "$T/err")"
says 'jit!System.DateTime.GetDatePart' "$T/out" "examples"
