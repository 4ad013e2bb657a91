# SPDX-License-Identifier: MIT
# The session verbs do what they say, say what they did, and their JSON has the documented keys.
. "$(dirname "$0")/lib.sh"

run_status 0 openetw list
says 'no sessions are running' "$T/out" "an empty list"
run_status 0 openetw start web -o "$T/web.etl" -p 'Test.Cli:0x1:info' -p '*Test.Other:::stack' \
	-p '{71e4037d-56b7-5e7c-163b-9a48a5792f88}::error' --buffer-size 64K --buffers 4:16 --max-size 10MB -f 2s
says "session 'web' runs, writing" "$T/out" "start"
says '3 providers' "$T/out" "start"

run_status 0 openetw list
says '^web ' "$T/out" "list"
run_status 0 openetw list --json
json_lines "$T/out"
run_status 0 openetw query web --json
json_lines "$T/out"
for key in name file id guid mode clock bufferSizeKb minimumBuffers maximumBuffers buffers freeBuffers \
	buffersWritten maximumFileSize flushTimer eventsLost logBuffersLost realTimeBuffersLost events bytesWritten loss \
	poolFull nesting tooBig detached rejected noBuffer diskEvents diskBuffers realTimeBuffers realTimeEvents torn \
	overwritten; do
	says "\"$key\":" "$T/out" "query --json"
done
says '"bufferSizeKb":64,' "$T/out" "units of --buffer-size"
says '"maximumFileSize":10,' "$T/out" "units of --max-size"
says '"flushTimer":2,' "$T/out" "units of --flush-timer"
run_status 0 openetw query web
says '^lost: 0 events' "$T/out" "query states the loss"

# what each provider specification enabled
run_status 0 openetw providers --json
json_lines "$T/out"
says '"guid":"71e4037d-56b7-5e7c-163b-9a48a5792f88".*"level":2,"any":"0x' "$T/out" "a GUID and a level"
says '"level":4,"any":"0x1"' "$T/out" "keywords and a level by name"

"$HELPERS/emit" Test.Cli 400 wait >/dev/null
run_status 0 openetw flush web
run_status 0 openetw disable web Test.Cli
"$HELPERS/emit" Test.Cli 100 >/dev/null
run_status 0 openetw enable web Test.Cli --event-id 1,2 --timeout 250ms
"$HELPERS/emit" Test.Cli 40 wait >/dev/null
run_status 0 openetw stop web
says "session 'web' stopped: $T/web.etl" "$T/out" "stop"
says 'lost: 0 events, 0 file buffers' "$T/out" "stop states the loss"
# keyword bit is sequence % 4, id 1 + sequence % 4: 100 of 400, none of 100, 20 of 40
expect "events in the file" "$(openetw dump -q --provider Test.Cli --format csv "$T/web.etl" | tail -n +2 | wc -l)" 120

# a flight recorder
run_status 0 openetw start box -m buffering -b 64K --buffers 4 -p Test.Cli
"$HELPERS/emit" Test.Cli 50 wait >/dev/null
run_status 0 openetw flush box -o "$T/box.etl"
expect "events in the snapshot" "$(openetw dump -q --provider Test.Cli "$T/box.etl" | wc -l)" 50
run_status 0 openetw list
says 'buffering' "$T/out" "the recorder goes on"
run_status 0 openetw stop box --quiet
[ ! -s "$T/out" ] || fail "stop --quiet says: $(cat "$T/out")"
