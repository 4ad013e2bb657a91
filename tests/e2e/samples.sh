# SPDX-License-Identifier: MIT
# The samples of our own API do what their comments say: a file of Windows, a recording, a live session, a mistake.
. "$(dirname "$0")/lib.sh"
etl=$(dirname "$0")/../../samples/windows/primitive-types.etl

"$SAMPLES/reader" "$etl" >"$T/reader" || fail "reader"
[ "$(grep -c 'solar_system/PrimitiveTypesTest {"string_type":"' "$T/reader")" = 5 ] || fail "reader: $(cat "$T/reader")"
grep -q '^?(33984) solar_system/PrimitiveTypesTest {"string_type":"Venus","boolean_type":true,' "$T/reader" || fail "reader: Venus"
"$SAMPLES/decode" "$etl" >"$T/decode" || fail "decode"
[ "$(grep -c '^solar_system/PrimitiveTypesTest string_type=[A-Z][a-z]* boolean_type=' "$T/decode")" = 5 ] || fail "decode: $(cat "$T/decode")"
"$SAMPLES/state" "$etl" >"$T/state" || fail "state"
[ "$(grep -c '^?(33984) thread ' "$T/state")" = 5 ] || fail "state: $(cat "$T/state")"
"$SAMPLES/query" "$etl" 'string_type ~ r' >"$T/query" || fail "query"
grep -q '^4 of 5 events$' "$T/query" || fail "query: $(cat "$T/query")"
grep -q '^ *4 solar_system/PrimitiveTypesTest$' "$T/query" || fail "query: $(cat "$T/query")"
grep -q '^first: PrimitiveTypesTest string_type=[A-Z][a-z]* ' "$T/query" || fail "query: $(cat "$T/query")"
"$SAMPLES/query" "$etl" 'level <=' 2>"$T/err" && fail "query took half a filter"
grep -q '^query: column ' "$T/err" || fail "query: $(cat "$T/err")"
if [ -x "$SAMPLES/events" ]; then
	"$SAMPLES/events" "$etl" >"$T/events" || fail "events"
	grep -q '^ *5 solar_system/PrimitiveTypesTest$' "$T/events" || fail "events: $(cat "$T/events")"
fi

# Mistakes have an exit code and a sentence with the file's name.
for s in reader decode state query events; do
	[ -x "$SAMPLES/$s" ] || continue
	"$SAMPLES/$s" "$T/absent.etl" >"$T/out" 2>"$T/err" && fail "$s read a file that is not there"
	grep -q "^$s: .*absent.etl" "$T/err" || fail "$s: $(cat "$T/err")"
	"$SAMPLES/$s" >"$T/out" 2>"$T/err"
	[ $? = 2 ] || fail "$s without words"
	grep -q "^usage: $s FILE.etl" "$T/err" || fail "$s: $(cat "$T/err")"
done

# recorder records until its input ends; a reader sees it live until then.
mkfifo "$T/end"
"$SAMPLES/recorder" "$T/r.etl" Test.Samples <"$T/end" >"$T/recorder" 2>&1 &
recorder=$!
exec 3>"$T/end"
begun() { grep -q '^recording to' "$T/recorder"; }
wait_for 60 begun || fail "recorder: $(cat "$T/recorder")"
"$HELPERS/emit" Test.Samples 10 wait >"$T/emit" || fail "emit"
exec 3>&-
wait "$recorder" || fail "recorder ended with $?: $(cat "$T/recorder")"
"$SAMPLES/reader" "$T/r.etl" >"$T/reader" || fail "reader of what was recorded"
[ "$(grep -c '^?([0-9]*) {98b68d19-.*}/Event(' "$T/reader")" = 10 ] || fail "recorded: $(cat "$T/reader")"

openetw start samples -r -p Test.Samples >/dev/null || fail "start"
"$SAMPLES/reader" --session samples >"$T/live" 2>&1 &
reader=$!
arrived() { "$HELPERS/emit" Test.Samples 1 >/dev/null && grep -q '{98b68d19-.*}/Event(' "$T/live"; }
wait_for 60 arrived || fail "live: $(cat "$T/live")"
openetw stop samples >/dev/null
wait "$reader" || fail "reader of a session ended with $?: $(cat "$T/live")"

# The wrapper for C++ records, too, and ends its session.
if [ -x "$SAMPLES/events" ]; then
	"$SAMPLES/events" --record Test.Samples "$T/e.etl" 1 >"$T/events" 2>&1 || fail "events --record: $(cat "$T/events")"
	[ -s "$T/e.etl" ] || fail "events recorded nothing"
	openetw list | grep -q events-sample && fail "the session of events runs on"
	"$SAMPLES/events" --record '' "$T/e.etl" 1 >"$T/events" 2>&1 && fail "events took a provider without a name"
	grep -q '^events: .*(87)$' "$T/events" || fail "events: $(cat "$T/events")"
fi
exit 0
