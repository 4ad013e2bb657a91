# SPDX-License-Identifier: MIT
# A controller starts a private session for the provider of other processes: each hosts one, with a file of
# its own, the later ones with _PID; it ends with its process, on request, and when etwd goes.
. "$(dirname "$0")/lib.sh"
tracelog() { openetw tracelog "$@"; }
logman() { openetw logman "$@"; }
for i in 1 2; do
	"$HELPERS/emit" Test.Private 1000 wait ready="$T/ready$i" >"$T/out$i" &
	eval "p$i=\$!"
	wait_for 60 test -f "$T/ready$i" || fail "provider $i did not start"
done
tracelog -start Mine -um -guid '*Test.Private' -level 5 -f "$T/um.etl" >"$T/start" || fail "-um: $(cat "$T/start")"
wait "$p1" || fail "the first provider"
wait "$p2" || fail "the second"
# One that comes later, from its first event on.
"$HELPERS/emit" Test.Private 1000 wait >"$T/out3" || fail "the late provider"
logman query Mine -ets >"$T/query" || fail "a private session cannot be queried by name"
logman query -ets | grep -q Mine && fail "a private session is listed as QueryAllTraces does not"
openetw list | grep -q '^Mine  *sequential,private .*um.etl' || fail "nobody sees it: $(openetw list)"
sums() { openetw query Mine --json | grep -q '"events":3000'; }
wait_for 60 sums || fail "the sums: $(openetw query Mine)" # etwd may hear of an end a little later
tracelog -start Other -um -guid '*Test.Private' -f "$T/other.etl" >"$T/err" 2>&1 && fail "twice for one provider"
grep -q 183L "$T/err" || fail "wrong code: $(cat "$T/err")"
tracelog -stop Mine >"$T/stop" || fail "stop: $(cat "$T/stop")"
openetw query Mine 2>/dev/null && fail "it is still there"
files=0
for f in "$T"/um.etl*; do
	verify_exactly 1000 "$f" Test.Private
	files=$((files + 1))
done
[ -f "$T/um.etl" ] || fail "no file has the plain name"
expect "files" "$files" 3
# Filters choose the processes, and what cannot be is refused with the reason of the process.
"$HELPERS/emit" Test.Private 0 pace=1000 ready="$T/ready4" >"$T/out4" &
p4=$!
"$HELPERS/emit" Test.Private 0 pace=1000 ready="$T/ready5" >"$T/out5" &
p5=$!
wait_for 60 test -f "$T/ready4" -a -f "$T/ready5" || fail "the endless providers"
tracelog -start No -um -guid '*Test.Private' -f "$T/none/x.etl" >"$T/err" 2>&1 && fail "a file nowhere"
grep -q "process [0-9]*: .*none/x.etl" "$T/err" || fail "no reason: $(cat "$T/err")"
tracelog -start One -um -guid '*Test.Private' -f "$T/one.etl" -PidFilter 1 "$p4" >/dev/null || fail "-PidFilter"
hosts() { cat "/proc/$1/task"/*/comm | grep -q '^etw-private$'; }
chosen() { hosts "$p4"; }
wait_for 60 chosen || fail "the chosen process hosts nothing"
hosts "$p5" && fail "the other one hosts it, too"
tracelog -flush One >/dev/null || fail "flush"
# One that nobody stops ends by itself.
logman start Ends -ets -ul -p '*Test.Private' -o "$T/ends.etl" -rf 00:00:01 >"$T/err" 2>&1 || fail "-rf: $(cat "$T/err")"
ended() { ! openetw query Ends && "$HELPERS/verify" "$T/ends.etl"; }
wait_for 60 ended || fail "the time of a private session: $(openetw list)"
# Nobody could stop it any more.
kill -9 "$(etwd_pid)" # which the process notices within a second
gone() { ! hosts "$p4"; }
wait_for 60 gone || fail "the session outlives etwd"
kill "$p4" "$p5"
wait "$p4"
v=$("$HELPERS/verify" "$T/one.etl") || fail "the file of a killed etwd: $v"
case $v in *processes=1*) ;; *) fail "$v" ;; esac
