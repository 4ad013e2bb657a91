# SPDX-License-Identifier: MIT
# Consumers that stop reading, are killed or leave: the file and the other consumer have every event, what
# the slow one misses is counted, and etwd keeps nothing of the dead.
. "$(dirname "$0")/lib.sh"
openetw start c -r -o "$T/c.etl" -p Test.Consumer --buffers 64:256 >/dev/null || fail "start"
p=$(etwd_pid)
descriptors() { ls "/proc/$p/fd" | wc -l; }
before=$(descriptors)
"$HELPERS/verify" live:c >"$T/good" &
good=$!
"$HELPERS/verify" live:c >"$T/slow" &
slow=$!
"$HELPERS/verify" live:c >"$T/dead" &
dead=$!
"$HELPERS/verify" live:c limit=100 >"$T/leaves" &
leaves=$!
for c in $good $slow $dead $leaves; do
	wait_for 60 attached $c || fail "four consumers did not attach"
done
kill -STOP "$slow"
"$HELPERS/emit" Test.Consumer 15000 wait threads=2 pace=50 size=1000 >"$T/honest" &
honest=$!
sleep 0.3
kill -9 "$dead"
wait "$leaves" || fail "the one that leaves: $(cat "$T/leaves")"
i=0
while [ $i -lt 5 ]; do # come and die
	i=$((i + 1))
	"$HELPERS/verify" live:c >/dev/null &
	visitor=$!
	sleep 0.05
	kill -9 "$visitor"
done
wait "$honest"
honest_lines "$T/honest" 15000
openetw flush c || fail "flush"
sleep 0.5
timeout 20 openetw stop c >"$T/stop" || fail "stop"
kill -CONT "$slow"
wait "$good" || fail "the good consumer: $(cat "$T/good")"
wait "$slow" || fail "the slow consumer got something wrong: $(cat "$T/slow")"
case $(cat "$T/good") in events=15000*gaps=0*) ;; *) fail "the good consumer: $(cat "$T/good")" ;; esac
verify_exactly 15000 "$T/c.etl" Test.Consumer
fewer() { [ "$(descriptors)" -le "$before" ]; }
wait_for 60 fewer || fail "etwd had $before descriptors, now $(descriptors)"
kill -0 "$p" || fail "etwd is gone"
