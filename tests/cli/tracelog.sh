# SPDX-License-Identifier: MIT
# tracelog: layouts, options, mistakes; also as a link.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
ln -s "$(command -v openetw)" tracelog
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
P=OpenETW.Sample.Hello
g=71e4037d-56b7-5e7c-163b-9a48a5792f88
ok='Operation Status:       0L      The operation completed successfully.'

run_status 0 ./tracelog -start web -guid "*$P" -level 5 –matchanykw 0x11 -f web.etl -b 128 -ft 2 -UseSystemTime
says "^$ok\$" out "start"
for line in 'Logger Name:            web' 'Buffer Size:            128 Kb' 'Events Lost:            0' \
	'ClockType:              SystemTime' 'Log Mode:               Sequential' \
	'Maximum File Size:      not set' 'Buffer Flush Timer:     2 secs' "Log Filename:           $T/web.etl"; do
	says "^$line\$" out "start"
done
run_status 0 ./tracelog -q web
sed -n 's/^\([A-Z][A-Za-z ]*:\).*/\1/p' out >labels
cat >want <<'END'
Operation Status:
Logger Name:
Logger Id:
Logger Thread Id:
Guid:
Session Security:
Buffer Size:
Maximum Buffers:
Minimum Buffers:
Number of Buffers:
Free Buffers:
Buffers Written:
Events Lost:
Log Buffers Lost:
Real Time Buffers Lost:
AgeLimit:
Real Time Consumers:
ClockType:
Log Mode:
Maximum File Size:
Buffer Flush Timer:
Log Filename:
END
cmp labels want || fail "labels and their order: $(diff labels want)"
run_status 0 ./tracelog /L
says '^Logger Name:            web$' out "-l"
run_status 0 ./tracelog -enumguid
says '^Guid  *Enabled  *LoggerId  *Level  *Flags$' out "-enumguid"
says "^$g  TRUE  *[0-9]*  *5  0x11\$" out "-enumguid"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null

# a second provider with a filter, then out again
G2='#{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}'
run_status 0 ./tracelog -enable web -guid "$G2" -level ff -EventIdFilter -in 2 1 7
run_status 0 ./tracelog -q web -lp
says '^d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11  255  ' out "-lp"
run_status 0 ./tracelog -disable web -guid "$G2"
run_status 0 ./tracelog -q web -lp
! grep -q d3f0cf8a out || fail "-disable left it enabled"
run_status 0 ./tracelog -update web -ft 3
says '^Buffer Flush Timer:     3 secs$' out "-update"
run_status 0 ./tracelog -flush web
run_status 0 ./tracelog -stop web
says '^Logger Stopped' out "-stop"
[ "$(count web.etl "\"provider\":\"$P\"")" -gt 0 ] || fail "nothing of $P in web.etl"

# a file of guids, a flight recorder
printf '; providers\n%s;0x11;4\n\n{aa1cf0de-0002-4c5c-a5f8-0d0a3f3a7a11};0;5 ; comment\n' "$g" >guids.ctl
run_status 0 ./tracelog -start box -guid guids.ctl -buffering -min 4
run_status 0 ./tracelog -enumguid
says "^$g  TRUE  *[0-9]*  *4  0x11\$" out "a file of guids"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null
run_status 0 ./tracelog -flush box -f box.etl
run_status 0 ./tracelog -x
[ "$(count box.etl "\"provider\":\"$P\"")" -gt 0 ] || fail "nothing of $P in box.etl"
run_status 0 openetw list --json
[ ! -s out ] || fail "-x left something: $(cat out)"

bad() { # bad STATUS PATTERN ARGS…
	s=$1 pattern=$2
	shift 2
	run_status "$s" ./tracelog "$@"
	says "$pattern" err "tracelog $*"
}
bad 1 '4201L' -stop web
bad 1 '123L' -start x -newfile 1 -f x.etl
bad 1 '50L' -start -cm
bad 1 'Linux has no registry' -start -cm
# without a name: the kernel's session, where this user may look at the kernel
if ./tracelog -start -f k.etl >out 2>err; then
	run_status 0 ./tracelog -stop
else
	says 'Operation Status: ' err "the kernel's session"
fi
bad 2 'did you mean -stop' -stpo web
bad 2 'one thing at a time' -start x -stop x
bad 2 'is too much' -stop web other
bad 2 'neither #GUID nor' -start x -guid nofile
bad 2 'followed by 2 numbers' -enable x -guid "$G2" -EventIdFilter -in 3 1 7
bad 2 'followed by -in or -out' -enable x -guid "$G2" -EventIdFilter 2 1 7
bad 2 'only one of' -start x -UseSystemTime -UseCPUCycle
bad 2 'which provider' -enable x
bad 2 'what is to be done' -rt
run_status 0 ./tracelog -start x -rt -gs -guid "$G2" --explain
expect "explain" "$(cat out)" "openetw start x -r --mode-bits 0x4000 -p {d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}::255"
run_status 0 ./tracelog -addautologger early -guid "*$P" -level 3
says '^EnableLevel = 3$' "$XDG_CONFIG_HOME/openetw/autologger.d/early.conf" "-addautologger"
run_status 0 ./tracelog -addautologger filtered -guid "*$P" -EventIdFilter -out 2 1 7 -ExeFilter 'a;b'
says '^EventIdFilter = !1,7$' "$XDG_CONFIG_HOME/openetw/autologger.d/filtered.conf" "a saved filter"
says '^ExecutableFilter = a;b$' "$XDG_CONFIG_HOME/openetw/autologger.d/filtered.conf" "a saved filter"
run_status 0 ./tracelog -remove filtered
run_status 0 ./tracelog -addautologger filtered -guid "*$P" -PidFilter 2 17 42
says '^ProcessIdFilter = 17,42$' "$XDG_CONFIG_HOME/openetw/autologger.d/filtered.conf" "-PidFilter in an autologger"
run_status 0 ./tracelog -remove filtered
run_status 0 ./tracelog -start x -guid "*$P" -f x.etl -EventIdFilter -in 1 3 -explain
says "^openetw enable x $P::255 --event-id 3\$" out "-explain of a filter"
run_status 1 ./tracelog -start x -um -rt -guid "*$P"
says 'a private session cannot deliver in real time' err "-um"
run_status 0 ./tracelog -remove early
run_status 2 ./tracelog -start x -f x.etl -guid # {D3F0CF8A-…}, which the shell has taken for a comment
says "'#GUID'" err "-guid without a GUID"
run_status 0 ./tracelog -start x -f x.etl -eflag PROC_THREAD+LOADER -explain
says '\-\-kernel PROC_THREAD+LOADER' out "-eflag without a number"

# -capturestate without a provider asks all that the session has enabled, with their own keywords
"$HELPERS/cli/wpr_provider" 100 >seen &
provider_pid=$!
wait_for 60 grep -q ready seen
run_status 0 ./tracelog -start state -guid '#ca11bac0-0001-4e57-8a5e-001122334455' -matchanykw 4 -level 5 -f state.etl
run_status 0 ./tracelog -enable state -guid '#d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11' -level 3
run_status 0 ./tracelog -capturestate state
says "^$ok\$" out "-capturestate"
run_status 0 ./tracelog -capturestate state -explain
says "^openetw enable state --capture-state .*d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11.*:3\$" out "-capturestate -explain"
run_status 0 ./tracelog -stop state
kill $provider_pid
wait $provider_pid 2>/dev/null
expect "asked for its state" "$(grep -c '^(2;5;0x4)' seen)" 1
run_status 0 ./tracelog -start none -rt
run_status 1 ./tracelog -capturestate none
says 'no provider is enabled in it' err "-capturestate of a session without providers"
run_status 0 ./tracelog -stop none
# More than can be asked at once: none is left out without a word.
n=0
while [ $n -lt 1024 ]; do
	printf '{aa1cf0de-%04x-4c5c-a5f8-0d0a3f3a7a11} 0 5\n' $n
	n=$((n + 1))
done >many.guid
run_status 0 ./tracelog -start many -rt -guid many.guid
run_status 0 ./tracelog -enable many -guid '#aa1cf0de-ffff-4c5c-a5f8-0d0a3f3a7a11'
run_status 1 ./tracelog -capturestate many -explain
says 'more than 1024 providers' err "-capturestate of too many"
run_status 0 ./tracelog -stop many
