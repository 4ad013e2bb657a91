# SPDX-License-Identifier: MIT
# Events are counted one way by every verb: records of the file itself (its header, group masks, descriptions of
# events) are no events, and no filter lets them pass.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
hello="$SAMPLES/hello-tracelogging 4 1"

# said FILE: the number before " events" in its first such line
said() { sed -n 's/^\(.*[^0-9]\)\{0,1\}\([0-9][0-9]*\) events\{0,1\}.*/\2/p' "$1" | head -1; }
of_stats() { openetw stats --json --gaps 0 "$1" | sed -n 's/.*"total":{"events":\([0-9]*\),.*/\1/p'; }
# the same FILE WANTED WHAT: what each verb that reads counts in it
the_same() {
	expect "stats after $3" "$(of_stats "$1")" "$2"
	openetw index --no-file --json "$1" >out 2>err || fail "index after $3: $(cat err)"
	expect "index after $3" "$(sed -n 's/.*"events":\([0-9]*\),.*/\1/p' out)" "$2"
	expect "lines of dump after $3" "$(openetw dump -q "$1" | wc -l)" "$2"
	openetw dump "$1" >out 2>err
	expect "summary of dump after $3" "$(said err)" "$2"
	rm -f again.etl
	openetw relog -o again.etl "$1" >out 2>&1 || fail "relog after $3: $(cat out)"
	expect "relog after $3" "$(said out)" "$2"
	expect "stats after relog after $3" "$(of_stats again.etl)" "$2"
	openetw tracefmt "$1" -o said.txt >out 2>err || fail "tracefmt after $3: $(cat err)"
	expect "summary of tracefmt after $3" "$(said err)" "$2"
	openetw xperf -i "$1" -a tracestats >out 2>err || fail "tracestats after $3: $(cat err)"
	expect "tracestats after $3" "$(sed -n 's/^Total # Events *: //p' out)" "$2"
}

# ---- applications
openetw run -o run.etl -p OpenETW.Sample.Hello -- $hello >out 2>err || fail "run: $(cat err)"
n=$(said err)
[ "$n" -gt 10 ] || fail "run: $(cat err)"
the_same run.etl "$n" run

openetw start counted -o start.etl -p OpenETW.Sample.Hello >out 2>err || fail "start"
$hello >out
openetw stop counted >out 2>err || fail "stop"
the_same start.etl "$(said out)" start

openetw relog -o merged.etl run.etl start.etl >out 2>&1 || fail "relog of both: $(cat out)"
the_same merged.etl $((n + $(of_stats start.etl))) "relog of both"

cat >hello.wprp <<'X'
<?xml version="1.0"?><WindowsPerformanceRecorder Version="1.0"><Profiles>
<EventCollector Id="C" Name="C"><BufferSize Value="64"/><Buffers Value="20"/></EventCollector>
<EventProvider Id="P" Name="71e4037d-56b7-5e7c-163b-9a48a5792f88"/>
<Profile Id="Hello.Verbose.File" Name="Hello" Description="x" LoggingMode="File" DetailLevel="Verbose"><Collectors>
<EventCollectorId Value="C"><EventProviders><EventProviderId Value="P"/></EventProviders></EventCollectorId>
</Collectors></Profile></Profiles></WindowsPerformanceRecorder>
X
openetw wpr -start hello.wprp -filemode >out 2>err || fail "wpr -start: $(cat err)"
$hello >out
openetw wpr -stop wpr.etl >out 2>err || fail "wpr -stop: $(cat err)"
the_same wpr.etl "$(said out)" "wpr -stop"

# ---- records of the file itself: shown when asked for, by --headers or by name
openetw dump run.etl >out 2>err
! grep -q EventTrace/ out || fail "dump shows the header unasked"
openetw dump --headers run.etl >out 2>err || fail "dump --headers"
says EventTrace/Header out "dump --headers"
expect "events with --headers" "$(said err)" "$n"
expect "header by its name" "$(openetw dump -q --event EventTrace/Header run.etl | wc -l)" 1
for how in '--level critical' '--level critical --event EventTrace/Header' '-p MSNT_SystemTrace' '--event 0' '--cpu 0-4095' \
	'--filter not(event==Nobody)'; do
	# shellcheck disable=SC2086 # several words
	! openetw dump -q $how run.etl 2>err | grep EventTrace/ || fail "$how lets the header pass"
	rm -f again.etl
	# shellcheck disable=SC2086
	openetw relog -o again.etl $how run.etl >out 2>&1
	[ ! -s again.etl ] ||
		expect "stats after relog $how" "$(of_stats again.etl)" "$(openetw dump -q $how run.etl 2>err | wc -l)"
done
openetw dump -q --json --headers run.etl >run.json && json_lines run.json

# ---- this machine
openetw start probe -o probe.etl --kernel PROC_THREAD+LOADER+PROFILE >out 2>err </dev/null || {
	echo "note: kernel events need root, or capabilities on openetw-kernel" >&2
	exit 0
}
$hello >out
openetw stop probe >out 2>err || fail "stop of a kernel session"
expect "events of a kernel session" "$(of_stats probe.etl)" "$(said out)"
rm -f again.etl
openetw relog -o again.etl probe.etl >relogged 2>&1 || fail "relog of a kernel session: $(cat relogged)"
expect "relog of it" "$(said relogged)" "$(said out)"

openetw record --cpu -d 50ms -o record.etl >out 2>err </dev/null || fail "record: $(cat err)"
expect "events of record" "$(of_stats record.etl)" "$(said err)"
openetw record --cpu -o both.etl -p OpenETW.Sample.Hello -- $hello >out 2>err </dev/null || fail "record: $(cat err)"
expect "events of record -p" "$(of_stats both.etl)" "$(said err)"

openetw wpr -start CPU -start hello.wprp -filemode >out 2>err || fail "wpr -start CPU: $(cat err)"
$hello >out
openetw wpr -stop wprk.etl >out 2>err || fail "wpr -stop: $(cat err)"
expect "events of wpr's kernel session and the other" "$(of_stats wprk.etl)" "$(said out)"

openetw xperf -on PROC_THREAD+LOADER+PROFILE -f k.etl -start u -on OpenETW.Sample.Hello -f u.etl >out 2>err ||
	fail "xperf -on: $(cat err)"
$hello >out
openetw xperf -stop -stop u -d x.etl >out 2>err || fail "xperf -d: $(cat err)"
expect "events that xperf merged" "$(of_stats x.etl)" $(($(of_stats k.etl) + $(of_stats u.etl)))
