# SPDX-License-Identifier: MIT
# An etwd that is stopped (a debugger, SIGSTOP) holds nobody up: programs whose provider is wanted see
# that there is nothing to wait for. When it goes on, the next one's event is there, and those that are missing are counted.
. "$(dirname "$0")/lib.sh"
unset OPENETW_WAIT_MS # what programs get that nobody told anything
openetw start s -o "$T/s.etl" -p '{5c5f5a11-1f6b-4b7c-9a21-010203040506}' >/dev/null || fail "start"
mkfifo "$T/go"
"$HELPERS/one_event" 1 forks=3 wait <"$T/go" &
parent=$!
exec 3>"$T/go"
wait_for 20 has_events s || fail "before"
kill -STOP "$(etwd_pid)"
begin=$(date +%s)
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$HELPERS/one_event" $((100 + i)) forks=1 || fail "while it is stopped"
done
# 50 ms each and their child; all the patience a program has would be 40 s and more.
exec 3>&- # its children are told nothing either
wait $parent || fail "the one that was there before"
[ $(($(date +%s) - begin)) -lt 30 ] || fail "programs waited for an etwd that is stopped"
kill -CONT "$(etwd_pid)"
"$HELPERS/one_event" 2 || fail "after"
openetw stop s >"$T/stop" || fail "stop"
expect "the event before" "$(count "$T/s.etl" '"number": *1[,}]')" 1
expect "the event after" "$(count "$T/s.etl" '"number": *2[,}]')" 1
# One for each program that went on without an answer, and for each child of the first.
openetw dump "$T/s.etl" >/dev/null 2>"$T/dumped"
expect "what is missing" "$(sed -n 's/.*LOST when recording: \([0-9]*\) events.*/\1/p' "$T/dumped")" 23
grep -q '23 while the process was not attached' "$T/stop" || fail "the ledger: $(cat "$T/stop")"
