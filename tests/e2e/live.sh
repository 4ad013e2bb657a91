# SPDX-License-Identifier: MIT
# A live consumer gets every event, in order, and ends when the session does.
. "$(dirname "$0")/lib.sh"
openetw start l -r -p Test.Live >/dev/null || fail "start"
"$HELPERS/verify" live:l >"$T/v" &
consumer=$!
sleep 0.3
"$HELPERS/emit" Test.Live 5000 wait threads=2 pace=50 >/dev/null
sleep 0.3
openetw stop l >/dev/null || fail "stop"
wait "$consumer" || fail "consumer: $(cat "$T/v")"
case $(cat "$T/v") in *events=5000*disorder=0*gaps=0*) ;; *) fail "$(cat "$T/v")" ;; esac
# a live view that makes its own session
"$HELPERS/emit" Test.Live 0 pace=1000 >/dev/null &
timeout 20 openetw live -p Test.Live -n 20 --json >"$T/lines" 2>/dev/null || fail "openetw live"
[ "$(wc -l <"$T/lines")" -eq 20 ] || fail "live printed $(wc -l <"$T/lines") lines"
[ "$(openetw list --json | wc -l)" -eq 0 ] || fail "the session of the live view was left behind"
