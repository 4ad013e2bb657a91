# SPDX-License-Identifier: MIT
# Sessions from configuration files start with etwd; sessions that end by themselves; explain.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
P=OpenETW.Sample.Hello
A=$XDG_CONFIG_HOME/openetw/autologger.d
log=$OPENETW_RUNTIME_DIR/etwd.log

run_status 0 openetw autologger add early -p $P:0x11:5 --file-max 2
run_status 0 openetw autologger add off -p $P --off
run_status 1 openetw autologger add early -p $P
run_status 2 openetw autologger add ring -m newfile --max-size 1 -o 'x%d.etl'
says 'an autologger cannot be in new-file mode' err "newfile"
run_status 2 openetw autologger add ring -m circular -o x.etl
says 'circular mode needs a maximum file size' err "circular"
run_status 2 openetw autologger add ring -m buffering -r
says 'buffering mode has neither' err "buffering"
run_status 2 openetw autologger add ring --mode-bits 0x800
says 'an autologger cannot be private' err "private"
[ ! -e "$A/ring.conf" ] || fail "it was saved"
printf 'Start = 1\nBufferSice = 1\n' >"$A/mistake.conf"
printf 'Start = 1\nFileName = /nonexistent/x.etl\n' >"$A/nodir.conf"
printf 'Start = 1\nLogFileMode = 0x100\nGuid = {aa1cf0de-0009-4c5c-a5f8-0d0a3f3a7a11}\n[A.B]\n[{%s}]\nMatchAnyKeyword = 0x8\nEnabled = 0\n' \
	aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11 >"$A/feed.conf"

# A section's name is the provider that -p means: here the one of an installed manifest.
mkdir -p "$XDG_DATA_HOME/openetw/manifests"
cat >"$XDG_DATA_HOME/openetw/manifests/named.man" <<'X'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Test.Named.Provider" guid="{aa1cf0de-0077-4c5c-a5f8-0d0a3f3a7a11}" symbol="NAMED">
<events><event value="1" symbol="E1"/></events></provider></events></instrumentation></instrumentationManifest>
X
printf 'Start = 1\nLogFileMode = 0x100\n[Test.Named.Provider]\n[*Test.Named.Provider]\n' >"$A/named.conf"

printf 'Start = 1\nLogFileMode = 0x140\n[A.B]\n' >"$A/stays.conf" # non-stoppable

# Filters are saved: of processes, of executables, of what stands in an event.
run_status 0 openetw autologger add filtered -p $P --exe hello-tracelogging --payload 'Types: Round == 1' -o "$T/filtered.etl"
run_status 0 openetw autologger add others -p $P --pid 1,2 --pid 3 -o "$T/others.etl"
says 'ProcessIdFilter = 1,2,3' "$A/others.conf" "process ids"
run_status 2 openetw autologger add wrong -p $P --pid 1,x
says 'up to 8 process ids' err "a wrong process id"
[ ! -e "$A/wrong.conf" ] || fail "a mistake was saved"

started() { openetw autologger list --json 2>/dev/null | grep -q '"name":"early".*"status":0,"fileCounter":'"$1"; }
start_etwd() {
	"$OPENETW_ETWD" >/dev/null 2>&1 || fail "etwd does not start"
	wait_for 60 started "$1" || fail "early does not start: $(cat "$log")"
}
stop_etwd() {
	kill "$(etwd_pid)"
	wait_for 60 test ! -e "$OPENETW_RUNTIME_DIR/pid" || fail "etwd does not end"
}
S=$XDG_STATE_HOME/openetw/early.etl
start_etwd 1
wait_for 60 grep -q nodir "$log"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null
says "mistake.conf:2: 'BufferSice' is no key of a session" "$log" "a mistake"
says 'nodir.conf: autologger "nodir" does not start: cannot open /nonexistent/x.etl' "$log" "no directory"
run_status 0 openetw query feed --json
says '"guid":"aa1cf0de-0009-4c5c-a5f8-0d0a3f3a7a11"' out "feed"
says '"providers":1,' out "feed: the one that is enabled"
run_status 0 openetw query named --json
says '"providers":2,' out "named: the manifest's provider and the computed one"
run_status 0 openetw list --json
! grep -q '"name":"off"' out || fail "Start = 0 was started"
run_status 1 openetw stop stays
says 'non-stoppable' err "stop"
for mode in 0x40=non-stoppable 0x10000=relog 0x100000=heap 0x20000000=documented; do
	run_status 1 openetw start x -r --mode-bits ${mode%=*}
	says ${mode#*=} err "mode $mode"
done
stop_etwd
expect "events that the payload filter let through" "$(openetw dump -q -e Types "$T/filtered.etl" | wc -l)" 1
[ "$(count "$T/filtered.etl" "\"provider\":\"$P\"")" -gt 1 ] || fail "the executable's filter let nothing through"
[ "$(count "$T/others.etl" "\"provider\":\"$P\"")" -eq 0 ] || fail "another process's events came"
[ "$(count "$S.0001" "\"provider\":\"$P\"")" -gt 0 ] || fail "no events in the autologger's file"
start_etwd 2
stop_etwd
start_etwd 1 # the counter goes round
[ -f "$S.0002" ] && [ ! -f "$S.0003" ] || fail "FileMax: $(ls "$S".*)"
run_status 0 openetw autologger remove early
run_status 1 openetw autologger remove early

# sessions that end by themselves
run_status 0 openetw start soon -r --expire 1s
run_status 0 openetw start later -o later.etl --expire 2h --quota 1GB
sleep 60 &
pid=$!
run_status 0 openetw start mine -r --with-pid $pid
run_status 0 openetw list
says '^ *ends in 119min, at 1.0 GiB$' out "list"
says "^ *ends with process $pid\$" out "list"
says '^limits: [0-9]* of 1024 sessions; ' out "list"
run_status 1 openetw start nobody -r --with-pid 4194304
run_status 1 openetw query nobody
gone() { ! openetw query "$1" >/dev/null 2>&1; }
wait_for 60 gone soon || fail "--expire does nothing"
says 'Session "soon" is stopped: its time is over' "$log" "the log"
openetw query mine >/dev/null || fail "mine ended too early"
kill $pid
wait_for 60 gone mine || fail "--with-pid does nothing"
run_status 0 openetw start full -o full.etl -p $P --quota 1MB --buffer-size 4K -f 1s
full() { "$SAMPLES/hello-tracelogging" 2000 0 >/dev/null; gone full; }
wait_for 20 full || fail "--quota does nothing: $(openetw query full)"
says 'Session "full" is stopped: it wrote [0-9]* bytes, its quota is 1048576' "$log" "the log"
openetw query later >/dev/null || fail "later ended too early"

# explain
run_status 0 openetw explain 1450 0x800705AA -2147023446 0xd000009a
expect "one code in all its forms" "$(grep -c '^ERROR_NO_SYSTEM_RESOURCES' out)" 3
says '^STATUS_INSUFFICIENT_RESOURCES' out "of an NTSTATUS"
run_status 0 openetw explain already_exists 0xc5583001 80300002
says '^ERROR_ALREADY_EXISTS (183, 0xb7)' out "by name"
says 'wpr -cancel' out "wpr"
says '^PLA_E_DCS_NOT_FOUND' out "logman"
run_status 0 openetw explain --json 5
json_lines out
run_status 1 openetw explain 0x8007FFFF
says 'Win32 code 65535' err "an unknown HRESULT"
run_status 1 openetw explain ERROR_ALREDY_EXISTS
says 'did you mean ERROR_ALREADY_EXISTS' err "a mistyped name"
