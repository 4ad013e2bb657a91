# SPDX-License-Identifier: MIT
# Two flooding programs, sessions with different filters, clocks and buffers: for each of them what its filter
# accepts is in its file or counted, exactly.
. "$(dirname "$0")/lib.sh"
N=400000 # a program; four keyword bits in turn
share() { echo $((2 * N * $1 / 4)); }
openetw start all -o "$T/all.etl" -p Test.Many >/dev/null || fail "start all"
openetw start one -o "$T/one.etl" -p Test.Many:0x1 -b 4 --buffers 4:4 >/dev/null || fail "start one"
openetw start three -o "$T/three.etl" -p Test.Many:0x7 --clock system >/dev/null || fail "start three"
openetw start none -o "$T/none.etl" -p Test.Many:0x100 >/dev/null || fail "start none"
openetw start level -o "$T/level.etl" -p Test.Many:0xf:1 >/dev/null || fail "start level"
openetw start single -o "$T/single.etl" -p Test.Many:0x3 --no-per-cpu >/dev/null || fail "start single"
"$HELPERS/emit" Test.Many $N wait threads=2 >"$T/out1" &
"$HELPERS/emit" Test.Many $N wait >"$T/out2" || fail "emit"
wait $! || fail "emit"
for s in all:4 one:1 three:3 none:0 level:0 single:2; do
	name=${s%:*}
	openetw flush $name || fail "flush $name"
	openetw query $name --json >"$T/query" || fail "query $name"
	openetw stop $name >"$T/stop" || fail "stop $name"
	events=$("$HELPERS/verify" "$T/$name.etl" | sed 's/events=\([0-9]*\).*/\1/')
	lost=$(sed -n 's/.*"eventsLost":\([0-9]*\).*/\1/p' "$T/query")
	expect "session $name: $events events + $lost lost" $((events + lost)) "$(share "${s#*:}")"
done
