# SPDX-License-Identifier: MIT
# A program that has just been enabled writes 20,000 events in one go: all of them arrive.
. "$(dirname "$0")/lib.sh"
openetw start b -o "$T/b.etl" -p Test.Burst >/dev/null || fail "start"
i=0
while [ $i -lt 5 ]; do
	"$HELPERS/emit" Test.Burst 20000 wait keywords=1 >>"$T/out" || fail "emit"
	# The next one finds empty buffers, however slow the disk is.
	openetw flush b || fail "flush"
	i=$((i + 1))
done
openetw query b --json >"$T/query" || fail "query"
openetw stop b >"$T/stop" || fail "stop"
events=$("$HELPERS/verify" "$T/b.etl" | sed 's/events=\([0-9]*\).*/\1/')
expect "events; $(cat "$T/query")" "$events" 100000
