# SPDX-License-Identifier: MIT
# What nobody knows is never shown as zero: a file that was not closed, one that was cut, a session whose etwd died.
. "$(dirname "$0")/lib.sh"
says() { grep -q -- "$1" "$2" || fail "$3: no '$1' in: $(cat "$2")"; }
silent_of() { ! grep -q -- "$1" "$2" || fail "$3: '$1' in: $(cat "$2")"; }

openetw start unclosed -p Test.Unclosed -o "$T/unclosed.etl" >/dev/null || fail "start"
openetw start watched -r -p Test.Unclosed >/dev/null || fail "start -r"
"$HELPERS/emit" Test.Unclosed 0 pace=1000 >"$T/emit" &
for i in attached own; do
	case $i in
	attached) openetw live watched --json >"$T/$i" 2>"$T/$i.err" & ;;
	own) openetw live -p Test.Unclosed --json >"$T/$i" 2>"$T/$i.err" & ;;
	esac
	eval "$i=\$!"
	wait_for 60 test -s "$T/$i" || fail "live $i shows nothing"
done
openetw flush unclosed >/dev/null
wait_for 60 has_events unclosed || fail "no events"
pid=$(etwd_pid)
kill -9 "$pid"
rm -f "$OPENETW_RUNTIME_DIR/pid" # nobody's any more
for i in attached own; do
	eval "wait \$$i"
	expect "exit status of live ($i)" $? 1
	says 'the trace session ended unexpectedly' "$T/$i.err" "live ($i)"
	says 'what was lost is not known' "$T/$i.err" "live ($i)"
	silent_of 'nothing was lost' "$T/$i.err" "live ($i)"
done

# The file of the killed etwd.
openetw info "$T/unclosed.etl" >"$T/info" || fail "info"
says 'lost  *unknown (the file was not closed)' "$T/info" "info"
openetw info --json "$T/unclosed.etl" >"$T/info" || fail "info --json"
says '"eventsLost":null,"buffersLost":null,"lostUnknown":"the file was not closed"' "$T/info" "info --json"
openetw stats "$T/unclosed.etl" >"$T/stats" || fail "stats"
says 'lost: unknown (the file was not closed)' "$T/stats" "stats"
silent_of 'nothing was lost' "$T/stats" "stats"
openetw stats --json "$T/unclosed.etl" >"$T/stats" || fail "stats --json"
says '"eventsLost":null' "$T/stats" "stats --json"
openetw dump --quiet "$T/unclosed.etl" >/dev/null 2>"$T/dump" || fail "dump"
says 'lost: unknown (the file was not closed)' "$T/dump" "dump"
openetw tracerpt "$T/unclosed.etl" -summary "$T/summary" -o "$T/x.xml" -y >/dev/null 2>&1
says 'Lost *unknown (the file was not closed)' "$T/summary" "the summary of tracerpt"
openetw merge "$T/unclosed.etl" -o "$T/merged.etl" 2>"$T/merge" || fail "merge"
says 'unclosed.etl: lost: unknown (the file was not closed)' "$T/merge" "merge"

# One that was closed, and then cut.
openetw start closed -p Test.Unclosed -o "$T/closed.etl" --buffer-size 4K >/dev/null || fail "start closed"
"$HELPERS/emit" Test.Unclosed 2000 wait >/dev/null
openetw stop closed >/dev/null || fail "stop closed"
openetw info "$T/closed.etl" >"$T/info" || fail "info of a whole file"
says 'lost  *0 events, 0 buffers' "$T/info" "info of a whole file"
openetw info --json "$T/closed.etl" >"$T/info"
says '"eventsLost":0,"buffersLost":0' "$T/info" "info --json of a whole file"
size=$(stat -c %s "$T/closed.etl")
truncate -s $((size - 3 * 4096)) "$T/closed.etl"
openetw info "$T/closed.etl" >"$T/info"
says 'lost  *unknown (3 buffers are missing at the end of the file)' "$T/info" "info of a cut file"
openetw stats "$T/closed.etl" >"$T/stats" 2>&1
says 'lost: unknown (3 buffers are missing' "$T/stats" "stats of a cut file"
