# SPDX-License-Identifier: MIT
# Every event a program writes while "openetw run" records it is in the file, in order, once.
. "$(dirname "$0")/lib.sh"
f=$T/a.etl
openetw run -o "$f" -p Test.Record -- "$HELPERS/emit" Test.Record 20000 wait threads=4 >"$T/out" 2>"$T/err" ||
	fail "openetw run: $(cat "$T/err")"
expect "what the program says" "$(cat "$T/out")" "attempts 20000 ok 20000"
v=$("$HELPERS/verify" "$f") || fail "verify: $v"
expect "the file" "${v% headers*}" "events=20000 threads=4 bad=0 duplicate=0 disorder=0 gaps=0 processes=1"
grep -q 'lost: 0 events' "$T/err" || fail "the summary does not state the loss: $(cat "$T/err")"
# the exit status is the command's
openetw run -o "$T/b.etl" -p Test.Record -- sh -c 'exit 7' 2>/dev/null
expect "exit status" $? 7
openetw run -o "$T/c.etl" -p Test.Record -- "$T/nothing-here" 2>"$T/err"
expect "exit status of a missing command" $? 127
grep -q 'cannot run' "$T/err" || fail "no reason given: $(cat "$T/err")"
