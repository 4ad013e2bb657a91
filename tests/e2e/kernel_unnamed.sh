# SPDX-License-Identifier: MIT
# Code without a symbol: stubs of libraries' functions have these functions' names, a stripped program's functions their
# addresses, each its own. And threads have the names that they were given, in every view.
. "$(dirname "$0")/lib.sh"
openetw record --cpu -d 20ms -o "$T/x.etl" >/dev/null 2>"$T/err" </dev/null || skip "perf events are not for us here: $(head -1 "$T/err")"
command -v strip >/dev/null || skip "binutils are not there"

cp "$HELPERS/name_acts" "$T/named" && strip -o "$T/unnamed" "$T/named" || fail "strip"
act=$(nm "$T/named" | sed -n 's/^0*\([0-9a-f]*\) t act$/0x\1/p')
[ -n "$act" ] || skip "act() is not there"
for p in named unnamed; do
	openetw record --cpu --file --only-command -o "$T/$p.etl" -- "$T/$p" 0.5 >"$T/$p.said" 2>"$T/err" || fail "record: $(cat "$T/err")"
	openetw report --json --top 10000 "$T/$p.etl" >"$T/$p.json" || fail "report"
	openetw dump -q --json --filter 'thread == "second of two" and event == FileIo/Create' "$T/$p.etl" >"$T/$p.second" || fail "dump"
	openetw dump -q -e FileIo/Create "$T/$p.etl" >"$T/$p.dump" || fail "dump"
done
rm "$T/unnamed" # the trace names what was in it
openetw report --json --top 10000 "$T/unnamed.etl" >"$T/unnamed.later" || fail "report"
python3 - "$T" "$act" <<'END' || fail "names"
import json, sys
T, act = sys.argv[1:]
for p, own, f in (("named", "act", ".json"), ("unnamed", act, ".json"), ("unnamed", act, ".later")):
    pid, first, second = map(int, open(T + "/" + p + ".said").read().split())
    lines = [json.loads(l) for l in open(T + "/" + p + f)]
    self_ = {l["name"]: l["self"] for l in lines if l["table"] == "functions"}
    mine = {k: v for k, v in self_.items() if k.startswith(p + "!")}
    total = sum(mine.values())
    assert total > 100, self_
    assert mine.get(p + "!" + own, 0) > 0.1 * total, (p, own, mine)
    assert mine.get(p + "!labs@plt", 0) > 0, (p, mine)
    assert mine[p + "!" + own] + mine[p + "!labs@plt"] > 0.95 * total, (p, mine)
    threads = {l["name"] for l in lines if l["table"] == "threads"}
    for tid, name in ((first, "first of two"), (second, "second of two")):
        assert "%s (%d:%d) %s" % (p, pid, tid, name) in threads, threads
    opened = [json.loads(l) for l in open(T + "/" + p + ".second")]
    assert [(e["OpenPath"], e["meta"]["tid"]) for e in opened] == [("/etc/passwd", second)], opened
    text = open(T + "/" + p + ".dump").read()
    assert "%s(%d):%d[first of two] " % (p, pid, first) in text, text
END

"$T/named" 60 >/dev/null &
burner=$!
for try in 1 2 3 4 5 6 7 8 9 10; do
	openetw top -n 1 -d 500ms --json --top 10000 --pid $burner --show threads >"$T/top" 2>"$T/err" || fail "top: $(cat "$T/err")"
	! grep -q "second of two" "$T/top" || break
done
grep -q "\"name\":\"named ($burner:[0-9]*) second of two\"" "$T/top" || fail "top: $(cat "$T/top")"
kill $burner

(while [ ! -e "$T/stop" ]; do "$HELPERS/name_acts" 0.01 >/dev/null; done) &
actor=$!
timeout 60 openetw monitor --process name_acts --path /etc/passwd --op FileCreate --filter 'thread == "first of two"' -n 2 --json >"$T/monitor" 2>"$T/err"
touch "$T/stop"
wait $actor
expect "lines of monitor" "$(grep -c '"thread":"first of two"' "$T/monitor")" 2
