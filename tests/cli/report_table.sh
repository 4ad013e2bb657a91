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
wrong 2 "lies before" --from +2s --to +1s "$N"
wrong 1 "nothing of a process 'nobody'" --process nobody "$N"
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

# Times are cut at the ends of a range, rows are counted where they begin: neighbouring ranges add up.
adds_up() { # adds_up FILE TABLE COLUMNS
	: >"$T/parts"
	for range in '' '--to +3s' '--from +3.0000001s --to +4.5s' '--from +4.5000001s'; do
		run_status 0 openetw report --csv --table "$2" --group-by '' --columns "$3" $range "$1"
		tail -n 1 "$T/out" >>"$T/parts"
	done
	py '
import sys
rows = [[int(v or 0) for v in l.strip().split(",")] for l in open(sys.argv[1])]
if [sum(c) for c in zip(*rows[1:])] != rows[0] or not rows[0][0]: sys.exit("%s" % rows)' "$T/parts" || fail "$2: ranges do not add up"
}
adds_up "$N" io 'count,sum(duration),sum(bytes),count(duration)'
adds_up "$N" spans 'count,sum(duration)'
# An operation of 180 ms lies in both halves of a range that is divided in its middle.
run_status 0 openetw report --csv --table io --columns start,duration --sort duration -n 1 "$N"
middle=$(awk -F, 'NR == 2 { printf "%.4f", ($1 + $2 / 2) / 1e9 }' "$T/out")
run_status 0 openetw report --csv --table io --group-by '' --columns 'count,sum(duration)' --from "+${middle}s" --to "+${middle}01s" "$N"
[ "$(sed -n '2s/.*,//p' "$T/out")" -ge 1000 ] || fail "what reaches over a range is not in its sum: $(cat "$T/out")"

# Rows that count as much as a column says.
if [ -n "$HAVE_PYTHON" ]; then
	run_status 0 openetw report --csv --table io --columns bytes,duration "$N"
	cp "$T/out" "$T/rows"
	run_status 0 openetw report --csv --table io --group-by '' --columns 'p50(bytes, duration),p99(bytes,duration),avg(bytes,duration)' "$N"
	py '
import csv, sys
rows = sorted((int(b), int(d)) for b, d in list(csv.reader(open(sys.argv[1])))[1:] if b and d and int(d) > 0)
whole = sum(d for b, d in rows)
def p(n):
    below = 0
    for b, d in rows:
        below += d
        if below * 100 >= whole * n: return b
got = list(csv.reader(open(sys.argv[2])))[1]
want = [p(50), p(99), sum(b * d for b, d in rows) / whole]
if [int(v) for v in got[:2]] != want[:2] or abs(float(got[2]) - want[2]) > 1e-6 * want[2]: sys.exit("%s, not %s" % (got, want))' \
		"$T/rows" "$T/out" || fail "weighted percentiles"
fi
wrong 1 'p1 to p99 and avg take a second column' --table io --columns 'sum(bytes,duration)' "$N"
wrong 1 'one of whole numbers' --table io --columns 'p50(bytes,file)' "$N"
wrong 1 "did you mean 'duration'" --table io --columns 'p50(bytes,duraton)' "$N"

# What samples show of functions: each sample is in one function, and in one module.
calls() { # calls FILE OPTIONS…
	file=$1
	shift
	run_status 0 openetw report --csv --table samples --group-by '' --columns count --filter 'idle == false' "$@" "$file"
	samples=$(tail -n 1 "$T/out")
	for table in functions modules callers; do
		run_status 0 openetw report --csv --table $table --group-by '' --columns 'sum(self)' "$@" "$file"
		expect "samples in $table $*" "$(tail -n 1 "$T/out")" "$samples"
	done
	run_status 0 openetw report --csv --table callees --group-by '' --columns 'sum(total)' --filter 'not callee ~ "*"' "$@" "$file"
	expect "samples without a callee $*" "$(tail -n 1 "$T/out")" "$samples"
}
calls "$N"
calls "$N" --from +3s --to +5s
calls "$N" --process 'Test*'
calls "$N" --thread 3708

# Plain report counts the same. With FILTER: of what this filter lets through, in the tables of TABLES alone.
FILTER=
TABLES='processes diskProcesses faults connections diskFiles faultFiles' # it has no switches, and no system calls
plain() { # plain FILE OPTIONS…
	file=$1
	shift
	options=$*
	openetw report --json -n 1000000 --no-inlines $options ${FILTER:+--filter "$FILTER"} "$file" >"$T/plain" 2>"$T/err" ||
		fail "report $file $options $FILTER: $(cat "$T/err")"
	: >"$T/asks"
	for ask in 'processes self samples process_name,pid count idle==false' \
		'diskProcesses readBytes io process_name,pid sum(bytes) layer==disk/and/operation==read' \
		'faults faults faults process_name,pid count kind' \
		'connections receivedBytes net process_name,pid,protocol,local,remote sum(bytes) operation==receive' \
		'threadWaits waits waits process_name,pid,tid count kind==wait' \
		'threadWaits ms waits process_name,pid,tid sum(duration) kind==wait' \
		'diskProcesses diskMs io process_name,pid sum(duration) layer==disk' \
		'syscalls ms syscalls process_name,pid,call sum(duration) call' \
		'diskFiles writes io file count layer==disk/and/operation==write' \
		'faultFiles hardBytes faults file sum(bytes) kind==hard' \
		'syscalls errors syscalls process_name,pid,call errors(result) call'; do
		set -- $ask
		[ -z "$options" ] || [ "$4" != file ] || break # enough
		echo " $TABLES " | grep -q " $1 " || continue
		openetw report --json --table "$3" --group-by "$4" --columns "$5" --filter "$(echo "$6" | tr / ' ')${FILTER:+ and ($FILTER)}" \
			$options "$file" >"$T/table-$1-$2" 2>"$T/err" || fail "report --table $3: $(cat "$T/err")"
		echo "$ask" >>"$T/asks"
	done
	py '
import json, re, sys
T = sys.argv[1]
def load(f): return [json.loads(l) for l in open(T + "/" + f, encoding="utf-8")]
def call(c): return re.sub("^(__x64_sys_|__arm64_sys_|__se_sys_|__do_sys_|sys_)", "", c.split("!")[-1])
plain = load("plain")
for ask in open(T + "/asks"):
    name, value, table, keys, column = ask.split()[:5]
    a, b = {}, {}
    for r in plain:
        if r.get("table") != name or not r[value]: continue
        if keys == "process_name,pid": k = r["name"] if "name" in r else r["process"]
        elif keys == "file": k = r["file"]
        elif table == "net": k = (r["process"], str(r["pid"]), r["protocol"], r["local"], r["remote"])
        elif table == "waits": k = re.sub(r"\) .*", ")", r["thread"])
        else: k = (r["process"], str(r["pid"]), r["call"])
        a[k] = a.get(k, 0) + r[value]
    for r in load("table-" + name + "-" + value):
        if not r[column]: continue
        who = r.get("process_name") or "?"
        if keys == "process_name,pid": k = "%s (%s)" % (who, r["pid"])
        elif keys == "file": k = r["file"] or "?"
        elif table == "net": k = (who, str(r["pid"]), r["protocol"], r["local"], r["remote"])
        elif table == "waits": k = "%s (%s:%s)" % (who, r["pid"], r["tid"])
        else: k = (who, str(r["pid"]), call(r["call"]))
        b[k] = b.get(k, 0) + r[column]
    if value in ("ms", "diskMs"): # of whole microseconds, each of which was cut
        most = max([r.get("waits", r.get("calls", r.get("reads", 0))) for r in plain if r.get("table") == name] or [0])
        a, b = [{k: v for k, v in x.items() if v > (most + 9) / 1e3} for x in (a, {k: v / 1e6 for k, v in b.items()})]
        if set(a) == set(b) and all(abs(v - b[k]) <= (most + 9) / 1e3 for k, v in a.items()): b = a
    if a != b:
        sys.exit("%s: plain alone: %s; table alone: %s" % (ask, [(k, v) for k, v in a.items() if b.get(k) != v][:4],
            [(k, v) for k, v in b.items() if a.get(k) != v][:4]))
    print(name, len(a))' "$T" >>"$T/compared" || fail "$file $options: plain report says something else"
}
plain "$N"
plain "$N" --from +3s --to +5.0001s
plain "$N" --process 'Test*' --process 1632
plain "$N" --thread 3708 --to +6s
FILTER='pid == 3644 or cpu == 1' TABLES=processes
plain "$N"
FILTER='pid == 3644' TABLES='diskProcesses faults connections'
plain "$N"
FILTER='duration > 1ms' TABLES='diskProcesses'
plain "$N" --from +2s
FILTER='file ~ ".dll"' TABLES='diskFiles'
plain "$N"
FILTER=
TABLES='processes diskProcesses faults connections threadWaits diskFiles faultFiles syscalls'
[ -z "$HAVE_PYTHON" ] || says '^processes [1-9]' "$T/compared" "what was compared"
if has_switches; then
	openetw record --cpu --wait --faults -d 300ms -o "$T/k.etl" >"$T/out" 2>&1 </dev/null || fail "record: $(cat "$T/out")"
	plain "$T/k.etl"
	plain "$T/k.etl" --from +50ms --to +150ms
	# The number of switches is that of the process, too.
	pid=$(openetw report --csv --table switches --group-by pid --columns count --sort count "$T/k.etl" | sed -n '3s/,.*//p')
	count=$(openetw report --csv --table switches --group-by '' --columns count --pid "$pid" "$T/k.etl" | sed -n 2p)
	run_status 0 openetw report --pid "$pid" "$T/k.etl"
	says "; $count context switches\$" "$T/out" "switches of process $pid"
	FILTER='duration > 300us' TABLES=threadWaits
	plain "$T/k.etl"
	FILTER=
	calls "$T/k.etl"
	run_status 0 openetw report --csv --table waits --group-by '' --columns 'count,sum(duration)' --filter 'kind == wait' "$T/k.etl"
	waits=$(tail -n 1 "$T/out")
	run_status 0 openetw report --csv --table wait_chains --group-by '' --columns 'count,sum(duration)' "$T/k.etl"
	expect "waits in chains" "$(tail -n 1 "$T/out")" "$waits"
	run_status 0 openetw report --csv --table wait_chains --group-by '' --columns count --filter 'reason ~ "*" and not chain ~ "*"' "$T/k.etl"
	expect "waits without a chain" "$(tail -n 1 "$T/out")" 0
fi
# Without EVENT_HEADER_FLAG_PROCESSOR_INDEX the number of the processor is one byte: the next one is the alignment.
SAWBUCK=$CORPUS/sawbuck/process_data_64_v2.etl
run_status 0 openetw report --table MSNT_SystemTrace/Process/DCStart --csv --group-by cpu --columns count "$SAWBUCK"
expect "the processor of Process/DCStart" "$(cat "$T/out")" "cpu,count
12,3"
if [ -n "$HAVE_PYTHON" ]; then
	python3 "$(dirname "$0")/handmade.py" cpu "$SAWBUCK" "$T/cpu.etl" || fail "handmade.py cpu"
	for table in samples switches cpu spans events P/act; do
		run_status 0 openetw report --table $table --csv --group-by cpu --columns count "$T/cpu.etl"
		expect "the processor in $table" "$(sed '1d;s/,.*//' "$T/out")" 12
	done
	python3 "$(dirname "$0")/handmade.py" neighbour "$SAWBUCK" "$T/neighbour.etl" || fail "handmade.py neighbour"
	run_status 0 openetw report "$T/neighbour.etl"
	says '^busy neighbour: thread 9 of process 9' "$T/out" "who had the processor"
	says '^before 1 of the switches at least one is missing' "$T/out" "a switch that is missing"

	# Each field of a name has a column of its own, the same one in all versions of an event.
	python3 "$(dirname "$0")/handmade.py" fields "$SAWBUCK" "$T/fields.etl" || fail "handmade.py fields"
	run_status 0 openetw report --table P/e --csv "$T/fields.etl"
	expect "versions of an event" "$(cut -d, -f10- <"$T/out")" "a,b,b_2,Time_2,b_2_2
1,2,,,
,3,4,,
,5,7,6,
,9,10,,8"
	# Far more fields of a name than there are columns: this ends before the test's time is over.
	run_status 0 openetw report --table P/many --csv --columns 'count,count(a),max(a_2),min(a_1000)' "$T/fields.etl"
	expect "fields of one name" "$(tail -n 1 "$T/out")" 100,100,1,249

	# The whole chain of wakers, by where most of the time went; circles end.
	python3 "$(dirname "$0")/handmade.py" chains "$SAWBUCK" "$T/chains.etl" || fail "handmade.py chains"
	run_status 0 openetw report --table wait_chains --csv --columns chain,links,cause,cause_tid --filter 'tid == 100' "$T/chains.etl"
	expect "chains" "$(sed -n 2,5p "$T/out")" "? < ? < ? < DPC,3,DPC,
? < ? < processor,2,processor,
? < ?,1,thread,200
? < ? < ?,2,thread,100"
	expect "waits with a chain" "$(wc -l <"$T/out")" 24

	# Idle states end where their processor leaves them, speeds where they change.
	python3 "$(dirname "$0")/handmade.py" power "$SAWBUCK" "$T/power.etl" || fail "handmade.py power"
	run_status 0 openetw report --table power --csv --columns duration,kind,cpu,state,old_state "$T/power.etl"
	expect "states of processors" "$(sed 1d "$T/out")" "8600,idle,12,1,
12800,idle,12,2,
21400,speed,3,800,2400
,speed,3,3000,800
,speed,,1000,0
,idle,12,1,"

	# Blocks of a heap are found again by process, heap and address together.
	python3 "$(dirname "$0")/handmade.py" heaps "$SAWBUCK" "$T/heaps.etl" || fail "handmade.py heaps"
	run_status 0 openetw report --table memory --csv --group-by operation --columns 'count,count(freed),sum(bytes)' "$T/heaps.etl"
	expect "blocks at one address" "$(sed 1d "$T/out")" "heap alloc,4000,4000,256000
heap free,4000,0,256000"
fi
