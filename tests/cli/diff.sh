# SPDX-License-Identifier: MIT
# diff: the answers of report --table of two traces side by side, and what --fail-if makes of them.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl

# Two halves of one trace differ as report says of each.
run_status 0 openetw relog "$N" -o "$T/a.etl" --to +4s
run_status 0 openetw relog "$N" -o "$T/b.etl" --from +4s
for table in events io faults samples; do
	case $table in
	events) group=provider,event columns=count ;;
	io) group=operation,process_name columns='count,sum(bytes),p99(duration),avg(duration)' ;;
	faults) group=process_name columns='count,sum(bytes)' ;;
	samples) group=process_name columns='count,distinct(cpu)' ;;
	esac
	filter='pid or not pid'
	# The first half has manifests that the second one lacks: both at once know more names.
	[ $table != events ] || filter='provider == MSNT_SystemTrace'
	for file in a b; do
		openetw report --filter "$filter" --json --table $table --group-by $group --columns "$columns" "$T/$file.etl" >"$T/$file" 2>"$T/err" ||
			fail "report of $file: $(cat "$T/err")"
	done
	run_status 0 openetw diff --filter "$filter" --json --table $table --group-by $group --columns "$columns" "$T/a.etl" "$T/b.etl"
	json_lines "$T/out"
	py '
import json, sys
T, keys, columns = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
def load(name):
    r = {}
    for line in open(T + "/" + name, encoding="utf-8"):
        row = json.loads(line)
        for c in columns: r[tuple(row[k] for k in keys), c] = row[c]
    return r
a, b, seen = load("a"), load("b"), set()
for line in open(T + "/out", encoding="utf-8"):
    d = json.loads(line)
    k = tuple(d["group"][k] for k in keys), d["column"]
    seen.add(k)
    x, y = a.get(k), b.get(k)
    if (d["base"], d["new"]) != (x, y): sys.exit("%s: %s" % (k, d))
    if None in (x, y):
        if d["difference"] is not None: sys.exit("a difference to nothing: %s" % d)
    elif abs(d["difference"] - (y - x)) > 1e-6 * abs(x) or (x and abs(d["ratio"] - y / x) > 1e-9 * abs(y / x)):
        sys.exit("%s" % d)
if seen != set(a) | set(b) or not seen: sys.exit("not all groups")
if not any(a.get(k) is None for k in b) and sys.argv[2] == "provider,event": sys.exit("no group is new")' \
		"$T" "$group" "$columns" || fail "$table"
done
run_status 0 openetw diff "$T/a.etl" "$T/b.etl"
says '^events$' "$T/out" "every table"
says '^io$' "$T/out" "every table"
run_status 0 openetw diff --csv -n 2 --table io --group-by layer --columns count "$N" "$N"
expect "the same file" "$(cut -d, -f1-2,5-6 <"$T/out")" "layer,column,difference,ratio
disk,count,0,1"

# --fail-if: which group, and the exit status.
rule() { # rule STATUS EXPR
	status=$1
	shift
	run_status "$status" openetw diff --table io --group-by operation "$@" "$N" "$N"
}
rule 0 --fail-if 'p99(duration) > 1.2 * base'
rule 0 --fail-if 'p99(duration)>base' --fail-if 'count < 0.99*base' --fail-if 'sum(bytes) != base'
rule 1 --fail-if 'p99(duration) >= base'
says "io: read: p99(duration) ms is 35.601, base 35.601: --fail-if 'p99(duration) >= base'" "$T/err" "which group"
rule 1 --fail-if 'max(duration) > 180ms'
says 'io: read: max(duration) ms is 180.265' "$T/err" "a limit with a unit"
rule 0 --fail-if 'max(duration) > 181ms'
rule 1 --fail-if 'sum(bytes) > 35MB'
rule 0 --fail-if 'sum(bytes) > 36MB'
rule 1 --fail-if 'avg(offset) > base * 0.5' --columns count
says 'avg(offset)' "$T/out" "a column that only the rule asks for"
# What nobody measured is no success.
rule 2 --fail-if 'count > 1' --filter 'operation == nothing'
says 'is about nothing' "$T/err" "a rule of no group"
run_status 2 openetw diff --table io --fail-if 'count > 1' "$N" "$CORPUS/perfview/gcevents.etl"
says 'is about nothing' "$T/err" "a rule of no rows"
rule 2 --fail-if 'max(offset) >= 0' --fail-if 'avg(queue) > 1000' --filter 'operation == nothing'
for bad in 'count' 'count >' 'count > 5 * 4' 'count > 5qq' 'layer > 1' 'cuont > 1' 'count ! 4' 'count > base * base'; do
	rule 2 --fail-if "$bad"
done
run_status 2 openetw diff "$N"
run_status 2 openetw diff "$N" "$T/no.etl"
run_status 2 openetw diff --table oi "$N" "$N"
run_status 2 openetw diff --fail-if 'count > 1' "$N" "$N"

# NaN is above all numbers, wherever it stands, and no rule can be judged by it.
numbers() { # numbers FILE NUMBER…
	file=$1
	shift
	python3 "$(dirname "$0")/handmade.py" numbers "$CORPUS/sawbuck/process_data_64_v2.etl" "$T/$file.etl" "$@" ||
		fail "handmade.py numbers $*"
}
if [ -n "$HAVE_PYTHON" ]; then
	numbers plain 1 2 3
	numbers first nan 1 5 2
	numbers last 1 5 2 nan
	for order in first last; do
		run_status 0 openetw report --csv --table P/e --columns 'min(x),max(x),p99(x),p50(x),count(x),sum(x)' "$T/$order.etl"
		expect "NaN is $order" "$(tail -n 1 "$T/out")" 1,nan,nan,2,4,nan
		for expr in 'max(x) > 4' 'max(x) <= 4' 'max(x) == 4' 'max(x) > base' 'sum(x) != base'; do
			run_status 2 openetw diff --table P/e --columns count --fail-if "$expr" "$T/plain.etl" "$T/$order.etl"
			says 'what is not a number' "$T/err" "$expr"
			! grep -q 'about nothing' "$T/err" || fail "$expr: the group has a value"
		done
		run_status 0 openetw diff --json --table P/e --columns 'max(x)' --fail-if 'min(x) < 1' "$T/plain.etl" "$T/$order.etl"
		json_lines "$T/out"
		says '"base":3,"new":null,"difference":null,"ratio":null' "$T/out" "a difference to NaN"
	done
	run_status 2 openetw diff --table P/e --columns count --fail-if 'max(x) > base' "$T/first.etl" "$T/plain.etl"
	run_status 1 openetw diff --table P/e --columns count --fail-if 'max(x) > 2' "$T/first.etl" "$T/plain.etl"
	run_status 1 openetw diff --table P/e --columns count --fail-if 'max(x) > base' --fail-if 'min(x) >= 1' "$T/plain.etl" "$T/first.etl"
fi

# Two times of one trace are what two parts of it are.
run_status 0 openetw relog "$N" -o "$T/early.etl" --to +4s
run_status 0 openetw diff --csv --table samples --columns count --group-by process_name --to +4s --new-from +4.0000001s "$N" "$N"
sort "$T/out" >"$T/times"
run_status 0 openetw diff --csv --table samples --columns count --group-by process_name "$T/early.etl" "$T/b.etl"
[ "$(cut -d, -f1,3 "$T/times" | sort)" = "$(cut -d, -f1,3 "$T/out" | sort)" ] || fail "base of two times: $(cat "$T/times" "$T/out")"
run_status 2 openetw diff --new-from +4s "$N" "$N"
says 'which --table' "$T/err" "times without a table"
# Noise: one trace each, of which it is known whether they differ.
spread() { # spread FILE MOVED SEED [LAST]
	file=$1
	shift
	python3 "$(dirname "$0")/handmade.py" spread "$CORPUS/sawbuck/process_data_64_v2.etl" "$T/$file.etl" "$@" || fail "handmade.py spread $*"
}
word() { # word COLUMN: what is said of it
	sed -n "s/^$1,.*,\([a-z]*\)\$/\1/p" "$T/out"
}
noise() { # noise COLUMNS FILE FILE OPTIONS…
	columns=$1 first=$2 second=$3
	shift 3
	run_status 0 openetw diff --csv --table P/e --group-by '' --columns "$columns" "$@" "$T/$first.etl" "$T/$second.etl"
}
if [ -n "$HAVE_PYTHON" ]; then
	for i in 1 2 3 4 5; do
		spread a$i 0 $i
		spread b$i 12 1$i
	done
	spread burst 0 3 40000
	noise 'count,p50(x),avg(x),sum(x),p50(y),max(y)' a1 b1
	for column in 'p50(x)' 'avg(x)' 'sum(x)'; do expect "$column, moved" "$(word "$column")" beyond; done
	for column in count 'p50(y)' 'max(y)'; do expect "$column, the same" "$(word "$column")" within; done
	noise 'sum(x),avg(x)' a1 burst # the sum is twice as much, by one of 400
	for column in 'sum(x)' 'avg(x)'; do expect "$column, one burst" "$(word "$column")" within; done
	noise 'p50(x)' a1 a1
	says '^p50(x),.*,0,1,1,within$' "$T/out" "a trace and itself"
	noise 'p50(x)' a1 b1 --from +1ms --to +7.5ms
	expect "too few slices with a value" "$(word 'p50(x)')" unknown
	# A rule of what is beyond noise
	judged() { # judged STATUS RULE OPTIONS…
		status=$1 rule=$2
		shift 2
		run_status "$status" openetw diff --table P/e --columns count --group-by '' --fail-if "$rule" "$@" "$T/a1.etl" "$T/b1.etl"
	}
	judged 1 'p50(x) > 1.05 * base beyond noise'
	judged 0 'p50(x) > 1.5 * base beyond noise'
	judged 1 'p50(y) != base'
	judged 0 'p50(y) != base beyond noise'
	judged 0 'p50(y) > 50 Beyond  Noise '
	judged 2 'p50(x) > base beyond' && says "is no number" "$T/err" "half of the words"
	judged 2 'p50(x) > base beyond noise' --from +1ms --to +7.5ms
	says 'nobody knows what is noise' "$T/err" "a rule that cannot be judged"
	# Several runs: the medians are shown, and each run counts once.
	runs() { # runs N
		more=
		for i in $(seq 2 "$1"); do more="$more --base $T/a$i.etl --new $T/b$i.etl"; done
	}
	runs 5
	noise 'p50(x),p50(y)' a1 b1 $more
	says '^p50(x),.*,0.00794,beyond$' "$T/out" "five runs that lie apart: 2 of 252 ways"
	expect "the same in five runs" "$(word 'p50(y)')" within
	runs 3
	noise 'p50(x)' a1 b1 $more
	expect "three runs" "$(word 'p50(x)')" unknown
	says 'of 3 and 3 runs no difference' "$T/err" "how many it takes"
	noise 'p50(x)' a1 b1 $more --chance 0.1
	says '^p50(x),.*,0.1,beyond$' "$T/out" "three runs, by a greater chance"
	run_status 0 openetw diff --json --table P/e --columns count $more --chance 0.1 "$T/a1.etl" "$T/b1.etl"
	json_lines "$T/out"
	says '"chance":1,"noise":"within"' "$T/out" "what programs get"
	run_status 2 openetw diff --table P/e --chance 2 "$T/a1.etl" "$T/b1.etl"
	run_status 2 openetw diff --table P/e --base "$T/no.etl" "$T/a1.etl" "$T/b1.etl"
fi
run_status 0 openetw diff --csv --table functions --columns 'sum(self)' "$N" "$N"
! grep -qv ',unknown$\|^function,' "$T/out" || fail "functions have no times, so nothing is known of their noise: $(head -3 "$T/out")"
