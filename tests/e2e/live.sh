# SPDX-License-Identifier: MIT
# A live consumer gets every event, in order, and ends when the session does.
. "$(dirname "$0")/lib.sh"
openetw start l -r -p Test.Live >/dev/null || fail "start"
"$HELPERS/verify" live:l >"$T/v" &
consumer=$!
wait_for 60 attached $consumer || fail "the consumer did not attach"
"$HELPERS/emit" Test.Live 5000 wait threads=2 pace=50 >/dev/null
openetw stop l >/dev/null || fail "stop"
wait "$consumer" || fail "consumer: $(cat "$T/v")"
case $(cat "$T/v") in *events=5000*disorder=0*gaps=0*) ;; *) fail "$(cat "$T/v")" ;; esac
# a live view that makes its own session
"$HELPERS/emit" Test.Live 0 pace=1000 >/dev/null &
timeout 20 openetw live -p Test.Live -n 20 --json >"$T/lines" 2>/dev/null || fail "openetw live"
[ "$(wc -l <"$T/lines")" -eq 20 ] || fail "live printed $(wc -l <"$T/lines") lines"
[ "$(openetw list --json | wc -l)" -eq 0 ] || fail "the session of the live view was left behind"
# A consumer that comes when everything is over gets it all: what memory does not hold waits on disk.
openetw start late -r -p Test.Late --buffer-size 16K --buffers 4:4 >/dev/null || fail "start late"
"$HELPERS/emit" Test.Late 20000 wait keywords=1 pace=1 size=200 >"$T/late.emit"
honest_lines "$T/late.emit" 20000
[ "$(stat -c %s "$XDG_STATE_HOME"/openetw/realtime/EtwRT-*.etl)" -gt 1000000 ] || fail "nothing waits on disk"
openetw live late --json >"$T/late.json" 2>"$T/late.err" &
late_pid=$!
wait_for 20 sh -c "[ \$(wc -l <'$T/late.json') -ge 19000 ]" || fail "late: $(wc -l <"$T/late.json") events"
openetw stop late >"$T/late.stop" || fail "stop late"
wait $late_pid || fail "late: $(cat "$T/late.err")"
expect "events of the late consumer" "$(grep -ci b4c14b44-be90-593e-7f5f-bdfab079360a "$T/late.json")" 20000
grep -q 'nothing was lost' "$T/late.err" || fail "late: $(cat "$T/late.err" "$T/late.stop")"
[ -z "$(ls "$XDG_STATE_HOME/openetw/realtime")" ] || fail "the backlog outlived its session"
