# SPDX-License-Identifier: MIT
# Files say what their events mean however their session ends, in every file mode: read where nothing is installed.
. "$(dirname "$0")/lib.sh"
guid=f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11
kitchen="$SAMPLES/manifest-generated/manifest-generated"
there() { # lines of the sample's events, where nobody knows it
	env -u OPENETW_CATALOGUE HOME="$T/none" XDG_DATA_HOME="$T/none" openetw dump -q --json "$@" >"$T/lines" 2>"$T/said" ||
		fail "dump $*: $(cat "$T/said")"
	! grep -q 'no schema' "$T/lines" || fail "$*: $(grep -m1 'no schema' "$T/lines")"
	grep -c 'OpenETW-Sample-Kitchen' "$T/lines"
}
start() { openetw start "$@" -p "{$guid}::255" >"$T/start" 2>&1 || fail "start $*: $(cat "$T/start")"; }
cook() { "$kitchen" "$1" >/dev/null 2>&1 || fail "the program"; }
gone() { ! openetw query "$1" >/dev/null 2>&1; }

# A session that outlives its file's limit, its owner, its quota, its daemon.
sleep 60 &
owner=$!
start owned -o "$T/owned.etl" --with-pid "$owner"
start quota -o "$T/quota.etl" --quota 300KB -b 64K
start xpress -o "$T/xpress.etl" --compress xpress
start append -o "$T/append.etl" -m append
start circular -o "$T/circular.etl" -m circular --max-size 2MB -b 64K
start rows -o "$T/rows-%d.etl" -m newfile --max-size 1MB -b 64K
start memory -m buffering -o "$T/memory.etl"
for i in 1 2 3 4 5 6 7 8; do cook 500; done # each fits into what a process has for its events
openetw flush memory || fail "flush"
expect "events of a snapshot" "$(($(there "$T/memory.etl") > 1000))" 1
kill "$owner"
wait_for 60 gone owned || fail "the session outlives its owner"
wait_for 60 gone quota || fail "the session outlives its quota"
there "$T/owned.etl" >"$T/count"
expect "all events of the owned session" "$(($(cat "$T/count") > 4000))" 1
expect "events of the session with a quota" "$(($(there "$T/quota.etl") > 100))" 1
openetw stop xpress >/dev/null && openetw stop append >/dev/null || fail "stop"
expect "events of a compressed file" "$(there "$T/xpress.etl")" "$(cat "$T/count")"
start append -o "$T/append.etl" -m append
cook 1
kill "$(etwd_pid)" # circular, rows, append: its end is theirs
wait_for 60 test ! -e "$OPENETW_RUNTIME_DIR/pid" || fail "etwd stays"
expect "events of both parts" "$(($(there "$T/append.etl") > $(cat "$T/count")))" 1
expect "events of a circular file" "$(($(there "$T/circular.etl") > 1000))" 1
[ -e "$T/rows-2.etl" ] || fail "there is one file only"
for f in "$T"/rows-*.etl; do
	expect "$f has events" "$(($(there "$f") > 0))" 1
done

# Killed: the next one writes it, and says nothing else in the file.
start again -o "$T/killed.etl"
openetw start packed -o "$T/packed.etl" -p "{$guid}::255" --compress zstd >/dev/null 2>&1 ||
	start packed -o "$T/packed.etl" --compress xpress # without libzstd
cook 100
openetw flush again && openetw flush packed || fail "flush"
kill -9 "$(etwd_pid)"
start next -o "$T/next.etl"
wait_for 60 sh -c "[ -z \"\$(ls '$OPENETW_RUNTIME_DIR/open' | grep -v \"\$(printf %s '$T/next.etl' | sha1sum | cut -c1-40)\")\" ]" ||
	fail "still open: $(cat "$OPENETW_RUNTIME_DIR"/open/*)"
expect "events of a killed etwd's file" "$(($(there "$T/killed.etl") > 100))" 1
expect "events of its compressed file" "$(($(there "$T/packed.etl") > 100))" 1
openetw stop next >/dev/null || fail "stop"

# A file from before its manifest was there, described later, once.
XDG_DATA_HOME="$T/none" openetw dump -q --json "$T/next.etl" >/dev/null || fail "dump"
expect "descriptions added twice" "$(openetw describe "$T/owned.etl")" "$T/owned.etl: 0 descriptions added"
openetw describe "$T/nothing.etl" >/dev/null 2>"$T/said" && fail "a file that is not there"
grep -q 'nothing.etl' "$T/said" || fail "$(cat "$T/said")"
