# SPDX-License-Identifier: MIT
# Waits in a report are those that were: of a recording for one program, none of others, whose switches are only partly
# there.
. "$(dirname "$0")/lib.sh"
has_switches || skip "the kernel cannot be recorded here: $(cat "$T/switches")"

# All on one processor that is never idle: kernels were seen whose idle processors trace neither the interrupt that wakes
# somebody nor the switch to them, in ftrace either.
taskset -c 0 chrt -i 0 sh -c 'while :; do :; done' &
spinner=$!
# On one processor, so that the program and the tickers take turns; they never sleep for long.
tickers=
for ms in 1 2 3; do
	taskset -c 0 "$HELPERS/wait_acts" tick $ms &
	tickers="$tickers $!"
done
for try in 1 2 3 4; do
	taskset -c 0 openetw record --wait --cpu --only-command -o "$T/one.etl" -- "$HELPERS/wait_acts" sleep 40 20 >"$T/said" 2>"$T/err" ||
		fail "record: $(cat "$T/err")"
	! grep -q '^lost: 0 in full' "$T/err" || break
done
"$HELPERS/wait_acts" sleep 10000 20 >"$T/said2" &
sleeper=$!
openetw record --wait --cpu --pid $sleeper -d 1s -o "$T/pid.etl" >/dev/null 2>"$T/err" || fail "record --pid: $(cat "$T/err")"
kill $sleeper $tickers
for f in one pid; do
	openetw report --json --top 10000 --off-cpu --folded "$T/$f.folded" "$T/$f.etl" >"$T/$f.json" || fail "report $f"
	openetw report "$T/$f.etl" >"$T/$f.text" || fail "report $f"
	grep -q '^recorded for some processes' "$T/$f.text" || fail "$f: the report does not say what is missing"
done
python3 - "$T" "$sleeper" <<'END' || fail "waits that were none"
import json, sys
T = sys.argv[1]
said = json.load(open(T + "/said"))
for f, pid in (("one", said["pid"]), ("pid", int(sys.argv[2]))):
    lines = [json.loads(line) for line in open(T + "/" + f + ".json")]
    waits = [l for l in lines if l["table"] == "waits"]
    threads = [l for l in lines if l["table"] == "threadWaits"]
    assert waits and {w["pid"] for w in waits} == {pid}, (f, [w for w in waits if w["pid"] != pid][:5])
    assert len(threads) == 1 and "(%d:%d)" % (pid, pid) in threads[0]["thread"], (f, threads)
    stacks = [l for l in open(T + "/" + f + ".folded") if "(%d)" % pid not in l]
    assert not stacks, (f, stacks[:3])
    if f == "one":
        t = threads[0]
        # Who is taken off the processor on the way into a sleep, until the sleep is over, has waited for a processor only.
        least = said["waits"] - 2
        assert least <= t["waits"] <= said["waits"] + 20, (t, said)  # its start waits for files
        longest = [w["ms"] for w in waits if w["reason"] == "DelayExecution"]
        assert len(longest) >= min(least, 38) and max(longest) * 1000 <= said["longest"], (longest[:3], said)
        assert sum(longest) * 1000 <= said["us"], (sum(longest), said)
END

# Who woke a thread: another one, or a timer, which is nobody; also where perf tells it, which knows interrupts only.
for without in "" kbpf_sched_waking,kbpf_sched_switch; do
	for what in thread timer; do
		for try in 1 2 3 4; do
			OPENETW_TEST_WITHOUT=$without openetw record --wait --only-command -o "$T/$what.etl" -- \
				taskset -c 0 "$HELPERS/wait_acts" $what 30 >"$T/said" 2>"$T/err" || fail "record: $(cat "$T/err")"
			! grep -q '^lost: 0 in full' "$T/err" || break
		done
		# Of a wait that is partly lost nobody knows who ended it.
		grep -q '^lost: 0 in full' "$T/err" || fail "four recordings lost events: $(cat "$T/err")"
		openetw report --json --top 10000 "$T/$what.etl" >"$T/$what.json" || fail "report $what"
		openetw dump -q --json -e Thread/ReadyThread "$T/$what.etl" >"$T/$what.events" || fail "dump $what"
		python3 - "$T" $what "${without:+interrupt}" <<'END' || fail "who woke whom ($what, without '$without'); $(cat "$T/err")"
import json, sys
T, what, instead = sys.argv[1:]
said = json.load(open(T + "/said"))
me = said["pid"]
lines = [json.loads(line) for line in open(T + "/" + what + ".json")]
# Some kernels leave out single switches and wake-ups (perf misses the same); most are there.
enough = lambda n: n >= 0.7 * said["wakes"]
told = lambda l: l["table"] == "waits" and "wokenBy" in l
waits = [l for l in lines if told(l) and l["tid"] == me and l["reason"] != "Executive"]
wakers = {l["waker"]: l for l in lines if l["table"] == "wakers"}
events = [json.loads(line) for line in open(T + "/" + what + ".events")]
mine = [e for e in events if e["TThreadId"] == me]
by = instead or "timer"
if what == "timer":
    late = [e for e in mine if e["Flag"] == 1 and (instead or e["Reserved"] == 3)]
    assert enough(len(late)), (len(late), said, mine[:3])
    assert {w["wokenBy"] for w in waits} == {by}, waits
    assert all(w["wakerTid"] == 0 for w in waits)
    assert enough(wakers[by]["waits"]) and enough(len(waits)), (wakers, waits)
else:
    others = [e for e in mine if e["Flag"] == 0 and e["meta"]["pid"] == me and e["meta"]["tid"] != me]
    assert enough(len(others)), (len(others), mine[:3])
    woken = [w for w in waits if w["reason"] == ("WrAlertByThreadId" if not instead else "UserRequest")]
    assert woken and {(w["wokenBy"], w["wakerPid"]) for w in woken if w["wakerTid"] != me} == {("thread", me)}, woken
    sleeps = [l for l in lines if told(l) and l["pid"] == me and l["tid"] != me and l["ms"] > 0.9]
    assert [w["wokenBy"] for w in sleeps].count(by) >= min(0.7 * said["wakes"], 14), sleeps
    assert {w["wokenBy"] for w in sleeps} <= {by, "thread"} and (instead or len({w["wokenBy"] for w in sleeps
        if w["reason"] == "DelayExecution"}) == 1), sleeps
END
	done
done
kill $spinner
openetw report --explain | grep -q 'softirq' || fail "report --explain"
