# SPDX-License-Identifier: MIT
# Programs that live for one event, and forked children of which the same is true, on a machine that
# has other things to do: each event is there, although nobody waits long for etwd. A machine that gives etwd no processor
# for longer than programs wait (20 s) costs events; then all of them are counted.
. "$(dirname "$0")/lib.sh"
unset OPENETW_WAIT_MS # what programs get that nobody told anything
openetw start s -o "$T/s.etl" -p '{5c5f5a11-1f6b-4b7c-9a21-010203040506}' >/dev/null || fail "start"
i=0
# At low priority: schedulers were seen that gave etwd no processor for half a minute beside such loops.
while [ $i -lt "$(nproc)" ]; do
	nice -n 19 sh -c 'while :; do :; done' &
	i=$((i + 1))
done
i=0
while [ $i -lt 200 ]; do
	"$HELPERS/one_event" $i &
	i=$((i + 1))
	[ $((i % 20)) -ne 0 ] || sleep 0.1
done
"$HELPERS/one_event" 200 forks=100 || fail "the program that forks"
wait_for 40 sh -c '! pgrep -P '$$' one_event' || fail "some never ended"
openetw stop s >"$T/stop" || fail "stop"
openetw dump --quiet --json "$T/s.etl" 2>"$T/dumped" | sed -n 's/.*"number": *\([0-9]*\).*/\1/p' | sort -n >"$T/there"
lost=$(sed -n 's/.*LOST when recording: \([0-9]*\) events.*/\1/p' "$T/dumped")
expect "events that are there twice" "$(uniq -d "$T/there")" ""
# Children of a program that was not told that it is enabled do not know either, and write nothing.
missing=$((200 - $(awk '$1 < 200 {n++} END {print n + 0}' "$T/there")))
if grep -qx 200 "$T/there"; then
	missing=$((missing + 100 - $(awk '$1 >= 1000 {n++} END {print n + 0}' "$T/there")))
else
	missing=$((missing + 1))
fi
[ $missing -le "${lost:-0}" ] ||
	fail "first events of 200 programs, one that forks and its 100 children: $missing missing, ${lost:-0} counted"
[ $missing -eq 0 ] || echo "etwd had no processor for long: $missing events are missing, $lost are counted"
