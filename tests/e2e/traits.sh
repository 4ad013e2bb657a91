# SPDX-License-Identifier: MIT
# Processes that end right after their only TraceLogging event, one after the other and then fifty at
# the same time. EventRegister waits a bounded time for the daemon, so on a busy machine a process
# may have written before it knew that somebody listens; what is in the file has its provider's name.
. "$(dirname "$0")/lib.sh"
guid='{5c5f5a11-1f6b-4b7c-9a21-010203040506}'
openetw start short -o "$T/short.etl" -p "$guid" >/dev/null || fail "start"
for i in $(seq 1 50); do "$HELPERS/one_event" "$i" || fail "process $i"; done
pids=
for i in $(seq 51 100); do
	"$HELPERS/one_event" "$i" &
	pids="$pids $!"
done
for p in $pids; do wait "$p" || fail "process $p"; done
openetw stop short >"$T/out" || fail "stop"
events=$(count "$T/short.etl" '"number"')
echo "$events of 100 processes heard in time that they were enabled"
[ "$events" -gt 0 ] || fail "no events"
expect "events with their provider's name" "$(count "$T/short.etl" 'Test.OneEvent')" "$events"
