# SPDX-License-Identifier: MIT
# openetw live ends cleanly whatever ends it: Ctrl-C, SIGTERM, a closed pipe, the limit, the session's end.
. "$(dirname "$0")/lib.sh"
no_sessions() { [ -z "$(openetw list --json)" ]; }
"$HELPERS/emit" Test.Live 0 pace=1000 >/dev/null &

for sig in INT TERM HUP; do
	rm -f "$T/lines" "$T/err" # or the wait below sees those of the round before
	# a shell's background jobs ignore SIGINT, so ask for the default
	env --default-signal=INT,HUP openetw live -p Test.Live >"$T/lines" 2>"$T/err" &
	pid=$!
	wait_for 60 test -s "$T/lines" || fail "nothing is shown: $(cat "$T/err")"
	kill -$sig $pid
	wait $pid || fail "SIG$sig: exit status $?: $(cat "$T/err")"
	says '[0-9] events\{0,1\} shown; ' "$T/err" "the summary after SIG$sig"
	says 'lost: 0 events' "$T/err" "the summary after SIG$sig"
	no_sessions || fail "a session was left behind by SIG$sig"
done
# a reader that leaves
openetw live -p Test.Live 2>"$T/err" | head -3 >"$T/lines"
expect "lines" "$(wc -l <"$T/lines")" 3
wait_for 60 no_sessions || fail "a session was left behind by a closed pipe"
# filters and fields as in dump
run_status 0 openetw live -p Test.Live --json --filter 'id == 2' --fields id,pid -n 5
expect "shown ids" "$(sort -u "$T/out" | sed 's/,.*//')" '{"id":2'
# somebody's session: it goes on when we leave and ends us when it ends
run_status 0 openetw start feed -r -p Test.Live
run_status 0 openetw live feed -n 4
expect "lines" "$(wc -l <"$T/out")" 4
rm -f "$T/lines"
openetw live feed >"$T/lines" 2>"$T/err" &
pid=$!
wait_for 60 test -s "$T/lines" || fail "nothing is shown of the session"
run_status 0 openetw stop feed
wait $pid || fail "the end of the session is no failure: $(cat "$T/err")"
says 'nothing was lost' "$T/err" "the summary"
