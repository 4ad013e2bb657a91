# SPDX-License-Identifier: MIT
# wpr: profiles listed, checked, explained and recorded; texts and codes that scripts look for.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
profiles=$here/../profile
cd "$T" || exit 1
export OPENETW_WAIT_MS=5000
export TMPDIR="$T/tmp"
mkdir "$TMPDIR"
hello() { "$SAMPLES/hello-tracelogging" 2 1 >/dev/null || fail "hello-tracelogging"; }
cat >web.wprp <<'END'
<?xml version="1.0" encoding="utf-8"?>
<WindowsPerformanceRecorder Version="1.0">
  <Profiles>
    <SystemCollector Id="SC" Name="NT Kernel Logger"/>
    <EventCollector Id="EC" Name="Web"><BufferSize Value="64"/><Buffers Value="16"/></EventCollector>
    <EventCollector Id="ED" Name="Orders"><BufferSize Value="64"/><Buffers Value="16"/></EventCollector>
    <SystemProvider Id="K"><Keywords><Keyword Value="Registry"/></Keywords></SystemProvider>
    <SystemProvider Id="KS"><Keywords><Keyword Value="Registry" Strict="true"/></Keywords></SystemProvider>
    <EventProvider Id="Orders" Name="OpenETW.Sample.Hello" Level="4"><Keywords><Keyword Value="0x1"/></Keywords></EventProvider>
    <EventProvider Id="Network" Name="*OpenETW.Sample.Hello" Level="5"><Keywords><Keyword Value="0x2"/></Keywords></EventProvider>
    <EventProvider Id="Guid" Name="{71E4037D-56B7-5E7C-163B-9A48A5792F88}" Level="4"><Keywords><Keyword Value="0x1"/></Keywords></EventProvider>
    <EventProvider Id="Names" Name="OpenETW.Sample.Hello">
      <EventNameFilters FilterIn="true"><EventName Value="Order"/><EventName Value="Timeout"/></EventNameFilters>
    </EventProvider>
    <Profile Id="Orders.Light.File" Name="Orders" DetailLevel="Light" LoggingMode="File" Description="orders">
      <Collectors><EventCollectorId Value="ED"><EventProviders><EventProviderId Value="Orders"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
    <Profile Id="Network.Verbose.File" Name="Network" DetailLevel="Verbose" LoggingMode="File" Description="network">
      <Collectors><EventCollectorId Value="EC"><EventProviders><EventProviderId Value="Network"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
    <Profile Id="Network.Verbose.Memory" Name="Network" DetailLevel="Verbose" LoggingMode="Memory" Description="network" Base="Network.Verbose.File"/>
    <Profile Id="Guid.Verbose.File" Name="Guid" DetailLevel="Verbose" LoggingMode="File" Description="the same provider by its GUID">
      <Collectors><EventCollectorId Value="EC"><EventProviders><EventProviderId Value="Guid"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
    <Profile Id="Build.Verbose.File" Name="Build" DetailLevel="Verbose" LoggingMode="File" Description="and which system it was" Base="Network.Verbose.File">
      <TraceMergeProperties><TraceMergeProperty Id="M" Name="M"><CustomEvents><CustomEvent Value="BuildInfo"/></CustomEvents></TraceMergeProperty></TraceMergeProperties>
    </Profile>
    <Profile Id="Names.Verbose.File" Name="Names" DetailLevel="Verbose" LoggingMode="File" Description="by name">
      <Collectors><EventCollectorId Value="EC"><EventProviders><EventProviderId Value="Names"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
    <Profile Id="Both.Verbose.File" Name="Both" DetailLevel="Verbose" LoggingMode="File" Description="kernel too" Base="Network.Verbose.File">
      <Collectors Operation="Add"><SystemCollectorId Value="SC"><SystemProviderId Value="K"/></SystemCollectorId></Collectors>
    </Profile>
    <Profile Id="Strict.Verbose.File" Name="Strict" DetailLevel="Verbose" LoggingMode="File" Description="kernel too" Base="Network.Verbose.File">
      <Collectors Operation="Add"><SystemCollectorId Value="SC"><SystemProviderId Value="KS"/></SystemCollectorId></Collectors>
    </Profile>
  </Profiles>
</WindowsPerformanceRecorder>
END

# looking, without a recording
wpr -status
says '^WPR is not recording$' out "status"
wpr -profiles
says 'Providers .*application providers' out "built-in profiles"
for p in "$profiles"/*.wprp web.wprp; do
	wpr -profiles "$p"
done
n=0
for p in "$profiles"/bad/*.wprp; do
	refused 0x8007000d "$(basename "$p"):[0-9]*:[0-9]*: error: " -profiles "$p"
	n=$((n + 1))
done
[ "$n" -ge 20 ] || fail "bad profiles: $n"
# a mistake costs the profiles that use it
wpr -profiles "$profiles/partly/provider.wprp"
says 'provider.wprp:6:47: error: EventProvider has no attribute .Levle.; is Level meant' err "the mistake"
says 'these cannot be used: B.Verbose.File, C.Verbose.File$' err "what it costs"
says '^	A ' out "what is left"
! grep -q '^	[BC] ' out || fail "what is lost is not listed"
wpr -profiledetails "$profiles/partly/provider.wprp!A" -filemode
# counters that a file defines for processors that this one is not: left out, or, when that is strict, refused
wpr -start "$profiles/32-counters-of-its-own.wprp!A" -filemode -explain
says 'without AcmeStalls: it is defined for processors of ' err "a counter of another processor"
says '--pmc PageFaults:CSwitch' out "the one that is here"
refused 0x8007000d "'C.Verbose.File' cannot be used" -profiledetails "$profiles/partly/provider.wprp!C" -filemode
wpr -profiledetails 'web.wprp!Network' -filemode
says '^Profile                 : Network.Verbose.File$' out "details"
says '^Collector Name          : WPR_initiated_WprApp_Web$' out "details"
says '^Number of Buffers       : 16$' out "details"
says '^	\*OpenETW.Sample.Hello: 0x2: 0x05$' out "details"
wpr -exportprofile 'web.wprp!Network' x.wprp -filemode
wpr -profiles x.wprp
cat >derived.wprp <<'END'
<?xml version="1.0" encoding="utf-8"?>
<WindowsPerformanceRecorder Version="1.0">
  <Profiles>
    <SystemProvider Id="More" Base="SystemProvider_Base"><Keywords Operation="Add"><Keyword Value="CSwitch"/></Keywords></SystemProvider>
    <EventProvider Id="Hello" Name="OpenETW.Sample.Hello" Level="5" Stack="true">
      <CaptureStateOnSave><Keyword Value="0x80000"/></CaptureStateOnSave>
    </EventProvider>
    <Profile Id="Mine.Verbose.File" Name="Mine" DetailLevel="Verbose" LoggingMode="File" Description="upon one that is built in" Base="GeneralProfile.Light.File">
      <Collectors Operation="Add">
        <SystemCollectorId Value="SystemCollector_WPRSystemCollectorInFile"><SystemProviderId Value="More"/></SystemCollectorId>
        <EventCollectorId Value="EventCollector_WPREventCollectorInFile">
          <EventProviders Operation="Add"><EventProviderId Value="Hello"/><EventProviderId Value="EventProvider_Microsoft-Windows-Win32k"/></EventProviders>
        </EventCollectorId>
      </Collectors>
    </Profile>
  </Profiles>
</WindowsPerformanceRecorder>
END
wpr -profiles derived.wprp
says "taken for the provider Microsoft-Windows-Win32k" err "a provider that Windows' wpr has built in"
wpr -profiledetails derived.wprp -filemode
says '^Profile                 : Mine.Verbose.File$' out "a profile upon a built-in one"
says '^	DiskIO$' out "what the built-in one has"
says '^	CSwitch$' out "what it adds"
says '^	OpenETW.Sample.Hello: 0xffffffffffffffff: 0x05 : Stack$' out "its provider"
says '^CaptureState Providers on Save$' out "states"
says '^	OpenETW.Sample.Hello: 0x80000: 0x05$' out "states"
expect "one session of the kernel" "$(grep -c 'WPR System Collector' out)" 1
wpr -start 'web.wprp!Network' --explain
says "^openetw start WPR_initiated_WprApp_Web -m buffering --buffer-size 64K --buffers 16:16$" out "--explain"
says "^openetw enable WPR_initiated_WprApp_Web '\*OpenETW.Sample.Hello:0x2:5'$" out "--explain"

# nothing runs
refused 0xc5583000 'There are no trace profiles running' -stop a.etl
refused 0xc5583000 'no trace profiles running' -cancel
refused 0xc5583000 'no trace profiles running' -marker x
refused 0xc5583000 "instance name 'web'" -cancel -instancename web
# profiles that cannot be
refused 0x80070490 "Is 'Network' meant" -start 'web.wprp!Netwrk'
refused 0x80070490 'Add -filemode' -start 'web.wprp!Orders'
refused 0x80070002 'nofile.wprp' -start 'nofile.wprp!A'
refused 0x80070490 'Linux has no registry' -start Registry
refused 0x80070490 'Minifilter' -start GPU -start Minifilter
wpr -start Minifilter -start 'web.wprp!Network' -start GPU -explain # beside others it is left out
says "warning: the profile 'GPU' of Windows is not here and left out" err "what is missing"
says 'WPR_initiated_WprApp_Web' out "the others"
refused 0x80070002 'parted by /' -start '..\Profiles\X.wprp'
for p in GeneralProfile.Light CPU.light Handle Syscall ResidentSet DotNET; do
	for mode in '' -filemode; do
		wpr -profiledetails $p $mode
	done
done
refused 0x80070032 'Strict=' -start 'web.wprp!Strict' -filemode
refused 0x80070032 'wpr -addboot' -start CPU -onoffscenario boot -onoffresultspath "$T" -numiterations 1
refused 0x80070032 'systemctl suspend' -start CPU -filemode -onoffscenario Standby
run_status 2 openetw wpr -start CPU -onoffscenario Bot
run_status 2 openetw wpr -start CPU -onoffresultspath "$T"
wpr -disablepagingexecutive on # scripts do so before they record, and go on if it did not fail
wpr -purgecache
refused 0x80070032 'never paged out' -disablepagingexecutive off
wpr -pmcsources
says '^  0 Timer  *[0-9]* *1250 *10000000$' out "-pmcsources"
says '^258 PageFaults ' out "-pmcsources"
expect "no session came of all that" "$(openetw list | grep -c WPR)" 0
# mistakes
run_status 2 openetw wpr -start
says 'Error code: 0xc5600602' err "usage"
run_status 2 openetw wpr -start Providers -filemod
says 'did you mean -filemode' err "a mistake"
run_status 2 openetw wpr -start Providers -stop x.etl
run_status 2 openetw wpr -status colectors
run_status 2 openetw wpr -start Providers -instancename ../x

# to a file, two profiles, one twice: two sessions, one file
wpr –start 'web.wprp!Network' -start 'web.wprp!Orders.Light' -start "$T/web.wprp!Network" -filemode # the dash is a pasted one
says 'The trace was successfully started' err "start"
hello
wpr -marker 'here it is slow'
wpr -status profiles collectors -details
says '^WPR recording is in progress\.\.\.$' out "status"
says '^Time since start        : 00:00:[0-9][0-9]$' out "status"
says '^Dropped event           : 0$' out "status"
says '^Logging mode            : File$' out "status"
says '^Recording system activity using the following set of profiles:$' out "status profiles"
says '^Profile                 : Network.Verbose.File, Orders.Light.File' out "status profiles"
says '^Actively recording collectors:$' out "status collectors"
says 'WPR_initiated_WprApp_Orders$' out "status collectors"
refused 0xc5583001 'already running: Network.Verbose+Orders.Light' -start 'web.wprp!Network'
wpr -flush
refused 0x80070003 'recording goes on' -stop nowhere/a.etl
says 'mkdir -p' err "what to do about it"
wpr -stop a.etl 'it is slow' -skipPdbGen
says 'The trace was successfully saved' err "stop"
says '^a.etl: [0-9]* events, none lost$' out "stop"
expect "Connected of the one" "$(count a.etl '"event":"Connected"')" 2
expect "Order of the other" "$(count a.etl '"event":"Order"')" 4
expect "OrderLine is too verbose for it" "$(count a.etl '"event":"OrderLine"')" 0
expect "the mark, once" "$(count a.etl '"Label":"here it is slow"')" 1
expect "the description" "$(count a.etl '"Description":"it is slow"')" 1
refused 0xc5583000 'no trace profiles running' -stop b.etl
expect "what is left of it" "$(ls "$TMPDIR")" ""
expect "sessions left" "$(openetw list | grep -c WPR)" 0

# in memory, beside another instance; found from the outside by name
wpr -start 'web.wprp!Network'
wpr -start 'web.wprp!Names' -filemode -instancename second -recordtempto "$T"
hello
wpr -status -instancename second
says 'Logging mode            : File' out "status of an instance"
openetw list >list
says 'WPR_initiated_WprApp_second_Web' list "its session"
wpr -stop memory.etl -compress
expect "what was in memory" "$(count memory.etl '"event":"Connected"')" 2
wpr -stop named.etl -instancename second
expect "filtered by name" "$(count named.etl '"event":"Order"')" 4
expect "and nothing else" "$(openetw dump -q -p OpenETW.Sample.Hello named.etl | grep -vc 'Hello/Order ')" 0

# one provider under two names in one collector: enabled once, for both
wpr -start 'web.wprp!Network' -start 'web.wprp!Guid' -filemode
hello
wpr -status collectors details
expect "providers" "$(grep -c '^	' out)" 1
wpr -stop one.etl
expect "Connected" "$(count one.etl '"event":"Connected"')" 2
expect "Order" "$(count one.etl '"event":"Order"')" 4

wpr -merge one.etl named.etl merged.etl
expect "merged" "$(count merged.etl '"event":"Order"')" 8

wpr -start 'web.wprp!Build' -filemode
wpr -stop build.etl
openetw dump -q --json -e BuildInfo build.etl >build
says "\"BuildLab\":\"$(uname -r)\." build "BuildInfo"
says '"ProductName":"..*"' build "BuildInfo"

# thrown away
wpr -start 'web.wprp!Network' -filemode
wpr -cancel
expect "cancelled" "$(ls "$TMPDIR")" ""
wpr -status
says 'is not recording' out "after -cancel"

# kernel keywords without a source, and events: the events, and it is said what is missing
wpr -start 'web.wprp!Both' -filemode
says 'there is not on Linux: Registry (Linux has no registry)' err "a kernel part"
hello
wpr -stop both.etl
expect "the other part" "$(count both.etl '"event":"Connected"')" 2

# kernel keywords that have one, into a file and in memory
if openetw start probe -o probe.etl --kernel SysProf+CSWITCH >/dev/null 2>&1 </dev/null; then
	openetw stop probe >/dev/null
	for mode in -filemode ''; do
		wpr -start CPU -start 'web.wprp!Network' $mode
		wpr -status collectors details
		says '^	CSwitch$' out "what is recorded"
		openetw list >list
		says 'WPR_initiated_WprApp_WPR System Collector' list "a session like others"
		says 'kernel: PROC_THREAD+LOADER+PROFILE+CSWITCH' list "its flags"
		hello
		wpr -stop cpu.etl
		openetw dump -q --json cpu.etl >cpu
		for event in $(! has_switches || echo Thread/CSwitch) Process/DCStart Image/DCStart StackWalk/Stack; do
			grep -q "\"event\":\"$event\"" cpu || fail "no $event with mode '$mode'"
		done
		expect "and events" "$(grep -c '"event":"Connected"' cpu)" 2
	done
	wpr -start CPU.Light -filemode
	wpr -stop kernel.etl 'of the kernel alone'
	expect "its description" "$(count kernel.etl '"Description":"of the kernel alone"')" 1
	wpr -start CPU -filemode
	wpr -cancel
	expect "cancelled" "$(ls "$TMPDIR" | grep -c .etl)" 0
	expect "nothing runs" "$(openetw list | grep -c 'System Collector')" 0
	wpr -profint
	says '^Current Profile Interval = 10000 \[1.0000ms\]$' out "-profint"
	wpr -setprofint 2500
	says '^New Profile Interval = 2500 \[0.2500ms\]$' out "-setprofint"
	run_status 2 openetw wpr -setprofint 1220
	wpr -resetprofint Timer
	says '^New Profile Interval = 10000 ' out "-resetprofint"
else
	echo "note: kernel events need root, or capabilities on openetw-kernel" >&2
fi

# all that is registered
"$SAMPLES/hello-tracelogging" 200 50 >/dev/null &
hello_pid=$!
openetw start keep -r -p OpenETW.Test.Nothing >/dev/null || fail "start"
wait_for 60 sh -c 'openetw providers | grep -q 71e4037d'
for s in 0.2 1 3 5; do # as long as this machine needs
	wpr -start Providers.Light
	sleep $s
	rm -f all.etl
	wpr -stop all.etl
	[ "$(count all.etl '"event":"Order"')" -eq 0 ] || break
done
kill $hello_pid
[ "$(count all.etl '"event":"Order"')" -ge 1 ] || fail "Providers records what is registered"
openetw stop keep >/dev/null

# the daemon is killed: a file recording is saved as far as it got, a memory recording is gone
wpr -start 'web.wprp!Network' -filemode
hello
wpr -flush
kill -9 "$(etwd_pid)"
run_status 1 openetw wpr -stop killed.etl
says 'does not run any more' err "after the daemon was killed"
expect "what was on disk" "$(count killed.etl '"event":"Connected"')" 2
wpr -start 'web.wprp!Network'
kill -9 "$(etwd_pid)"
refused 0xc5583000 'no trace profiles running' -stop lost.etl
wpr -start 'web.wprp!Network' # and nothing stands in the way
wpr -cancel

# by its name
ln -s "$(command -v openetw)" wpr
export LD_LIBRARY_PATH="$OPENETW_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
run_status 0 ./wpr -status
says 'is not recording' out "wpr by its name"

# FileMax: the last files of MaximumFileSize; FileName: what they are called meanwhile
cat >several.wprp <<'END'
<?xml version="1.0" encoding="utf-8"?>
<WindowsPerformanceRecorder Version="1.0">
  <Profiles>
    <EventCollector Id="EC" Name="Several" FileName="C:\traces\several.etl">
      <BufferSize Value="64"/><Buffers Value="32"/><MaximumFileSize Value="1"/><FileMax Value="2"/>
    </EventCollector>
    <EventProvider Id="P" Name="Test.Wpr"/>
    <Profile Id="Several.Verbose.File" Name="Several" DetailLevel="Verbose" LoggingMode="File" Description="the last two">
      <Collectors><EventCollectorId Value="EC"><EventProviders><EventProviderId Value="P"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
  </Profiles>
</WindowsPerformanceRecorder>
END
wpr -start several.wprp!Several -filemode -explain
says "several_%d.etl.* -m newfile --max-size 1MB .*--keep-files 2" out "-explain of FileMax"
wpr -start several.wprp!Several -filemode
"$HELPERS/emit" Test.Wpr 20000 wait keywords=1 size=200 pace=2 >/dev/null
two() { [ "$(ls "$TMPDIR"/openetw-wpr-*/several_*.etl | wc -l)" = 2 ]; }
wait_for 60 two || fail "files while it records: $(ls "$TMPDIR"/openetw-wpr-*)" # the oldest goes when the next one is there
wpr -stop several.etl
n=$(count several.etl '"id":[1-4],')
[ "$n" -gt 1000 ] && [ "$n" -lt 20000 ] || fail "FileMax 2 kept $n events of 20000"
expect "what is left in TMPDIR" "$(ls "$TMPDIR")" ''
wpr -start "$profiles/28-service-ring-of-files.wprp!Service" -filemode -explain
says 'Example.Service.Health:0xffffffffffffffff:2 --exe service.exe' out "-explain of a filter"
wpr -start "$profiles/27-game-frames.wprp!Frames" -explain
says "Example.Game.Assets:0xffffffffffffffff:5:stack --event-id '!99'" out "-explain of a filter"
says "'\\*Example.Game.Frames:0x3:5' --stack-name FrameStart" out "-explain of a filter"
