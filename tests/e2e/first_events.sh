# SPDX-License-Identifier: MIT
# Programs that live for one event, and forked children of which the same is true, on a machine that
# has other things to do: each event is there, although nobody waits long for etwd.
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
expect "first events of 200 programs, one that forks and its 100 children" \
	"$(count "$T/s.etl" '"One"')" 301
