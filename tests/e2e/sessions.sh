# SPDX-License-Identifier: MIT
# Two sessions with different keywords and levels on one provider: each gets exactly its own events.
. "$(dirname "$0")/lib.sh"
openetw start one -o "$T/one.etl" -p Test.Two:0x1:4 >/dev/null || fail "start one"
openetw start two -o "$T/two.etl" -p Test.Two:0x6:5 >/dev/null || fail "start two"
openetw start three -o "$T/three.etl" -p Test.Two:0xF:3 >/dev/null || fail "start three"
openetw start one -o "$T/again.etl" 2>"$T/err" && fail "a second session 'one' was accepted"
grep -q ERROR_ALREADY_EXISTS "$T/err" || fail "wrong error: $(cat "$T/err")"
[ "$(openetw list --json | wc -l)" -eq 3 ] || fail "list does not show three sessions"
"$HELPERS/emit" Test.Two 4000 wait level=4 >/dev/null
"$HELPERS/emit" Test.Two 4000 wait level=5 >/dev/null
openetw disable one Test.Two || fail "disable"
"$HELPERS/emit" Test.Two 400 wait level=1 >/dev/null
for s in one two three; do openetw stop "$s" >"$T/$s.out" || fail "stop $s"; done
events() { "$HELPERS/verify" "$1" | sed 's/events=\([0-9]*\).*/\1/'; }
# one: keyword bit 0, level 4: a quarter of the first run. two: two bits, levels 4 and 5 and 1.
expect "events of one" "$(events "$T/one.etl")" 1000
expect "events of two" "$(events "$T/two.etl")" $((2000 + 2000 + 200))
expect "events of three" "$(events "$T/three.etl")" 400
openetw stop one 2>"$T/err" && fail "a stopped session can be stopped again"
grep -q ERROR_WMI_INSTANCE_NOT_FOUND "$T/err" || fail "wrong error: $(cat "$T/err")"
