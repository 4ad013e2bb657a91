# SPDX-License-Identifier: MIT
# Somebody removes, moves, cuts or replaces the log file of a running session. What is gone is counted, and told
# by query, list, stop, the API and the header of the file.
. "$(dirname "$0")/lib.sh"
says() { grep -q -- "$1" "$2" || fail "$3: no '$1' in: $(cat "$2")"; }
emit() { "$HELPERS/emit" Test.Gone "$1" wait >"$T/emit" && honest_lines "$T/emit" "$1"; }
start() { openetw start "$1" -p Test.Gone -o "$T/$1.etl" >/dev/null || fail "start $1"; }
conserves() { # conserves NAME EMITTED [FILE]: the session was asked and stopped
	openetw flush "$1" >/dev/null
	openetw query "$1" --json >"$T/query"
	openetw query "$1" >"$T/query.text"
	openetw list >"$T/list"
	openetw stop "$1" >"$T/stop" || fail "stop $1: $(cat "$T/stop")"
	[ -z "${3-}" ] || conserved "$2" "$3" "$T/query" "$T/stop" "$1"
}

start removed
emit 1000
openetw flush removed >/dev/null
rm "$T/removed.etl"
emit 500
conserves removed 1500 "$T/removed.etl"
for f in query.text list stop; do
	says 'the log file was removed at 20.*; 1000 events ([1-9][0-9]* buffers*) are not in it' "$T/$f" "$f"
done
says '"fileState":"removed","fileStateTime":"20' "$T/query" "query --json"
says '"fileGoneEvents":1000' "$T/query" "query --json"
says 'lost: 1000 events, [1-9][0-9]* file buffers' "$T/stop" "stop"
openetw info "$T/removed.etl" >"$T/info" || fail "info"
says 'lost  *1000 events, [1-9]' "$T/info" "info"

start away # and nothing comes after it
emit 300
openetw flush away >/dev/null
rm "$T/away.etl"
conserves away 300
says 'removed at 20.*; 300 events' "$T/stop" "stop of a file that is away"
[ ! -e "$T/away.etl" ] || fail "a file without events was made"

start cut
emit 1000
openetw flush cut >/dev/null
: >"$T/cut.etl"
emit 500
conserves cut 1500 "$T/cut.etl"
says 'the log file was truncated at 20.*; 1000 events' "$T/stop" "stop of a cut file"
openetw dump --quiet "$T/cut.etl" >/dev/null 2>"$T/err" || fail "the cut file cannot be read: $(cat "$T/err")"

start moved
emit 400
mv "$T/moved.etl" "$T/elsewhere.etl"
emit 200
conserves moved 600 "$T/elsewhere.etl"
says 'the log file was moved at 20.*; the events are in it under its new name' "$T/stop" "stop of a moved file"
says 'lost: 0 events, 0 file buffers' "$T/stop" "stop of a moved file"

start replaced
emit 400
openetw flush replaced >/dev/null
echo mine >"$T/mine"
mv "$T/mine" "$T/replaced.etl"
emit 200
conserves replaced 600
says 'the log file was replaced at 20.*; 600 events' "$T/stop" "stop of a replaced file"
expect "what was put there" "$(cat "$T/replaced.etl")" mine

# The process's own file of a private session.
"$HELPERS/emit" Test.Gone 0 pace=1000 ready="$T/ready" >/dev/null &
wait_for 60 test -f "$T/ready" || fail "the provider did not start"
openetw tracelog -start Private -um -guid '*Test.Gone' -level 5 -f "$T/private.etl" >/dev/null || fail "-um"
wait_for 60 has_events Private || fail "the private session has no events"
openetw flush Private >/dev/null
rm "$T/private.etl"
told() { openetw flush Private && openetw query Private | grep -q 'the log file was removed'; }
wait_for 60 told || fail "nobody says it of a private session: $(openetw query Private)"
openetw stop Private >/dev/null || fail "stop of the private session"
