# SPDX-License-Identifier: MIT
# Flat out into too few buffers: what is not in the file is counted, exactly.
. "$(dirname "$0")/lib.sh"
openetw start c -o "$T/c.etl" -p Test.Flood -b 4 --buffers 4:4 >/dev/null || fail "start"
"$HELPERS/emit" Test.Flood 3000000 wait threads=2 keywords=1 >"$T/out"
openetw flush c || fail "flush"
openetw query c --json >"$T/query" || fail "query"
openetw stop c >"$T/stop" || fail "stop"
events=$("$HELPERS/verify" "$T/c.etl" | sed 's/events=\([0-9]*\).*/\1/')
lost=$(sed -n 's/.*"eventsLost":\([0-9]*\).*/\1/p' "$T/query")
[ $((events + lost)) -eq 3000000 ] || fail "events $events + lost $lost is not 3000000; $(cat "$T/stop")"
