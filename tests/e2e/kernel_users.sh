# SPDX-License-Identifier: MIT
# In the instance for all users somebody without rights watches their own processes: all of what they do to
# files, whoever else does the same, nothing of set-user-id programs, and no kernel addresses.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "takes root, to be somebody else"
command -v setpriv >/dev/null || skip "there is no setpriv"
has_switches || skip "the kernel cannot be recorded here: $(cat "$T/switches")"
chmod 755 "$T"
mkdir -m 755 "$OPENETW_RUNTIME_DIR"
etwd --foreground --idle-exit=0 --system --runtime-dir "$OPENETW_RUNTIME_DIR" >"$T/log" 2>&1 &
wait_for 30 test -S "$OPENETW_RUNTIME_DIR/control" || fail "etwd: $(cat "$T/log")"
as_user() { setpriv --reuid 4242 --regid 4242 --clear-groups "$@"; }
as_user openetw --version >/dev/null 2>&1 || skip "others may not run what is built in $OPENETW_BUILD"
mkdir "$T/his"
chown 4242 "$T/his"
cp "$(command -v cat)" "$T/suid"
chmod 4755 "$T/suid"
echo of nobody else >"$T/secret"
chmod 600 "$T/secret"

# Who may not even speak to it is told what to grant.
chmod 660 "$OPENETW_RUNTIME_DIR/control"
! as_user openetw monitor -d 100ms >"$T/said" 2>&1 || fail "it can be watched without the right"
grep -q 'CAP_PERFMON' "$T/said" && grep -q 'etwd --system' "$T/said" || fail "no help: $(cat "$T/said")"
chmod 666 "$OPENETW_RUNTIME_DIR/control"
# What is the machine's is refused by name.
! as_user openetw start a --realtime --kernel PROC_THREAD+CSWITCH >"$T/said" 2>&1 || fail "users get CSWITCH"
grep -q 'only root.*CSWITCH' "$T/said" || fail "CSWITCH: $(cat "$T/said")"
! as_user openetw start 'NT Kernel Logger' --realtime --kernel PROC_THREAD >"$T/said" 2>&1 ||
	fail "users have the NT Kernel Logger"

as_user openetw monitor --json --show process,file >"$T/out" 2>"$T/err" </dev/null &
monitor=$!
# It watches when it shows what happens.
begun() { as_user touch "$T/his/begin" && grep -q 'his/begin' "$T/out"; }
if ! wait_for 60 begun; then
	! grep 'cannot be had' "$T/err" || skip "this kernel does not tell whose processes are"
	fail "nothing is shown: $(cat "$T/err")"
fi
# From the first thing on that it does in the user's name, root's program becomes theirs.
as_user sh -c "echo mine >'$T/his/a'; echo mine >'$T/his/a'; : <'$T/secret'; '$T/suid' '$T/secret' >/dev/null" 2>/dev/null
echo "root's" >"$T/roots"
cat "$T/secret" >"$T/roots2"
as_user touch "$T/his/end"
wait_for 60 grep -q his/end "$T/out" || fail "the end is not shown"
child=$(pgrep -P "$monitor" -x openetw || echo "$monitor")
kill -INT "$child"
wait "$monitor" || fail "monitor ends with $?: $(cat "$T/err")"
grep -q 'processes of user 4242' "$T/err" || fail "it does not say what it shows: $(cat "$T/err")"
python3 - "$T" <<'END' || fail "what is shown is not theirs, or not all of it"
import json, sys
t = sys.argv[1]
lines = [json.loads(l) for l in open(t + "/out")]
files = [l for l in lines if l["op"] != "ProcessStart"]  # whose arguments name everything
of = lambda op, path: [l for l in files if l["op"] == op and l.get("path") == t + path]
assert len(of("FileCreate", "/his/a")) == 2, of("FileCreate", "/his/a")
assert [w["bytes"] for w in of("FileWrite", "/his/a")] == [5, 5], of("FileWrite", "/his/a")
# They tried to read what is not theirs: once directly, and what the set-user-id program did is not theirs.
assert [l["result"] for l in of("FileCreate", "/secret")] == ["ACCESS DENIED"], of("FileCreate", "/secret")
assert not [l for l in lines if l["process"] == "suid"]
assert not [l for l in files if "/roots" in l.get("path", "")]
END
expect "no session is left" "$(openetw list 2>/dev/null | grep -c openetw-watch)" 0
# Nor when it is killed while the session begins, which takes programs that are to be loaded.
for after in 0.1 0.3 0.5; do
	as_user openetw monitor >/dev/null 2>&1 </dev/null &
	monitor=$!
	sleep $after
	kill -9 "$(pgrep -P "$monitor" -x openetw || echo "$monitor")"
	wait "$monitor"
done
wait_for 60 sh -c "! openetw list 2>/dev/null | grep -q openetw-watch" || fail "a session that nobody knows of is left"
sleep 2 # it may have been about to begin
wait_for 60 sh -c "! openetw list 2>/dev/null | grep -q openetw-watch" || fail "a session that nobody knows of is left"

# Samples: of the user's program, without where in the kernel it was.
as_user openetw start spin --realtime --kernel PROC_THREAD+LOADER+PROFILE --stackwalk Profile >/dev/null || fail "no samples"
as_user openetw live spin --json >"$T/samples" 2>"$T/err" </dev/null &
live=$!
as_user sh -c "while [ -e '$T/his/a' ]; do :; done" 2>/dev/null & # until that is gone
while :; do :; done &
other=$!
wait_for 60 sh -c "[ \$(grep -c PerfInfo/SampleProf '$T/samples') -gt 50 ]" || fail "no samples: $(tail -3 "$T/err")"
rm "$T/his/a"
kill -9 "$other"
as_user openetw stop spin >/dev/null
wait "$live" || fail "live ends with $?: $(cat "$T/err")"
python3 - "$T" <<'END' || fail "samples are not theirs alone"
import json, sys
own = set()
for line in open(sys.argv[1] + "/samples"):
    e = json.loads(line)
    event = e["meta"]["event"]
    if event in ("Process/Start", "Process/End", "Process/DCStart"):
        assert e["UserSID"] == "S-1-22-1-4242", e
        own.add(e["ProcessId"])
    if event == "PerfInfo/SampleProf":
        ip = int(e["InstructionPointer"], 16)
        assert ip < 1 << 63 or ip == 0xFFFF000000000000, e
    if event == "StackWalk/Stack":
        assert e["ProcessId"] in own, (e, own)
        assert all(int(frame, 16) < 1 << 63 for frame in e["Stack"]), e
    assert event != "Image/DCStart" or "kallsyms" not in e["FileName"], e
END
