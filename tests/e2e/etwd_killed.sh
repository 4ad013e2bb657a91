# SPDX-License-Identifier: MIT
# etwd dies: the program goes on, the file written so far is readable, the next etwd gets its providers back.
. "$(dirname "$0")/lib.sh"
openetw start k -o "$T/k.etl" -p Test.Killed -f 1 >/dev/null || fail "start"
"$HELPERS/emit" Test.Killed 0 wait pace=200 >"$T/out" &
emit=$!
wait_for 60 has_events k || fail "nothing arrived"
openetw flush k || fail "flush"
written() { case $("$HELPERS/verify" "$T/k.etl") in events=0*) false ;; *) true ;; esac; }
wait_for 60 written || fail "nothing was written"
p=$(etwd_pid)
[ -n "$p" ] || fail "etwd writes no pid file"
kill -9 "$p"
sleep 0.5
kill -0 "$emit" || fail "the provider died with etwd"
v=$("$HELPERS/verify" "$T/k.etl") || fail "the file is damaged: $v"
case $v in events=0*) fail "nothing was readable: $v" ;; esac
openetw start again -o "$T/again.etl" -p Test.Killed >/dev/null || fail "start after the kill"
wait_for 60 has_events again || fail "the provider did not come back"
openetw stop again >/dev/null || fail "stop"
kill "$emit"
wait "$emit"
v=$("$HELPERS/verify" "$T/again.etl") || fail "$v"
case $v in events=0*) fail "the provider did not come back: $v" ;; esac
