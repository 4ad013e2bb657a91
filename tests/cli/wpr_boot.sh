# SPDX-License-Identifier: MIT
# wpr -addboot, -stopboot, -cancelboot: a recording that begins with etwd, before the programs it records.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
export OPENETW_WAIT_MS=5000
A=$XDG_CONFIG_HOME/openetw/autologger.d
cat >boot.wprp <<'END'
<?xml version="1.0" encoding="utf-8"?>
<WindowsPerformanceRecorder Version="1.0">
  <Profiles>
    <EventCollector Id="EC" Name="Boot Events"><BufferSize Value="64"/><Buffers Value="16"/></EventCollector>
    <EventProvider Id="P" Name="OpenETW.Sample.Hello" Level="5">
      <Keywords><Keyword Value="0x3"/></Keywords>
      <EventFilters FilterIn="false"><EventId Value="999"/></EventFilters>
    </EventProvider>
    <Profile Id="Web.Verbose.File" Name="Web" DetailLevel="Verbose" LoggingMode="File" Description="boot">
      <Collectors><EventCollectorId Value="EC"><EventProviders><EventProviderId Value="P"/></EventProviders></EventCollectorId></Collectors>
    </Profile>
    <Profile Id="Web.Verbose.Memory" Name="Web" DetailLevel="Verbose" LoggingMode="Memory" Description="boot" Base="Web.Verbose.File"/>
  </Profiles>
</WindowsPerformanceRecorder>
END
session=WPR_initiated_WprApp_boot_Boot\ Events
stop_etwd() {
	kill "$(etwd_pid)"
	wait_for 20 test ! -e "$OPENETW_RUNTIME_DIR/pid" || fail "etwd does not end"
}

refused 0xc5583000 'no recording from boot' -stopboot x.etl
refused 0xc5583000 'no recording from boot' -boottrace -cancelboot
run_status 2 openetw wpr -boottrace
run_status 2 openetw wpr -addboot boot.wprp!Web -start boot.wprp!Web
wpr -boottrace -addboot boot.wprp!Web -filemode -explain
says "^openetw autologger add '$session' -o ./.*\.etl --buffer-size 64K --buffers 1:16 -p OpenETW.Sample.Hello:0x3:5 -p {[-0-9a-f]*}::0\$" out "-explain"
[ ! -e "$A" ] || fail "-explain did something"

# To a file; the machine starts, and ends, before anybody looks.
wpr -boottrace -addboot boot.wprp!Web -filemode
says 'successfully added' err "-addboot"
refused 0xc5583001 'Web' -addboot boot.wprp!Web
refused 0xc5583000 'has not begun' -stopboot early.etl
says 'EventIdFilter = !999' "$A/$(ls "$A")" "the filter"
etwd || fail "etwd"
wait_for 20 openetw query "$session" || fail "no session: $(openetw autologger list)"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null || fail "hello"
stop_etwd
run_status 1 openetw wpr -boottrace -stopboot file.etl "slow start"
says 'its file has what it recorded' err "a session that ended with etwd"
expect "events of the boot" "$(count file.etl '"event":"Connected"')" 2
expect "autologgers left" "$(ls "$A")" ""
expect "what is left" "$(find "$XDG_STATE_HOME" -name '*.etl')" ""
refused 0xc5583000 'no recording from boot' -stopboot again.etl

# A filter of names is as long as the profile says, and the same from boot on.
names=$(i=0 && while [ $i -lt 60 ]; do
	echo "<EventName Value=\"A rather long name of an event, number $i\"/>"
	i=$((i + 1))
done)
sed 's|<EventFilters.*|<EventNameFilters FilterIn="true" Level="5"><EventName Value="Connected"/>'"$(echo "$names" | tr -d '\n')"'</EventNameFilters>|' \
	boot.wprp >long.wprp
wpr -addboot long.wprp!Web -filemode
grep -q 'not recorded' err && fail "a long filter: $(cat err)"
says 'EventNameFilter = @5:0xffffffffffffffff:Connected,A rather long name of an event\\, number 0,.* number 59$' "$A/$(ls "$A")" "a long filter"
etwd || fail "etwd"
wait_for 20 openetw query "$session" || fail "no session: $(openetw autologger list)"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null || fail "hello"
wpr -stopboot long.etl "slow start"
expect "events of a long filter" "$(count long.etl '"event":"Connected"')" 2
expect "others" "$(count long.etl '"event":"Order"')" 0
stop_etwd

# More providers than a file can have: nothing is written, and the reason is said.
{
	sed '/<EventCollector /q' boot.wprp
	i=0 && while [ $i -lt 1025 ]; do
		printf '<EventProvider Id="P%d" Name="aa1cf0de-%04x-4c5c-a5f8-0d0a3f3a7a11" Level="5"/>' $i $i
		i=$((i + 1))
	done
	printf '<Profile Id="Web.Verbose.File" Name="Web" DetailLevel="Verbose" LoggingMode="File" Description="boot">'
	printf '<Collectors><EventCollectorId Value="EC"><EventProviders>'
	i=0 && while [ $i -lt 1025 ]; do
		printf '<EventProviderId Value="P%d"/>' $i
		i=$((i + 1))
	done
	echo '</EventProviders></EventCollectorId></Collectors></Profile></Profiles></WindowsPerformanceRecorder>'
} >many.wprp
refused 0x80070008 'more than 1024 providers' -addboot many.wprp!Web -filemode
expect "autologgers of too many" "$(ls "$A")" ""

# In memory, while it runs.
wpr -addboot boot.wprp!Web
etwd --idle-exit 0 || fail "etwd"
wait_for 20 openetw query "$session" || fail "no session in memory"
"$SAMPLES/hello-tracelogging" 2 1 >/dev/null || fail "hello"
wpr -stopboot memory.etl "slow start"
expect "events of the boot" "$(count memory.etl '"event":"Connected"')" 2
expect "the description" "$(count memory.etl '"Description":"slow start"')" 1
expect "sessions" "$(openetw list | grep -c WPR)" 0

wpr -addboot boot.wprp!Web -filemode -instancename two
wpr -cancelboot -instancename two
expect "autologgers left" "$(ls "$A")" ""

# xperf's way: the kernel's session, which says why when this user may not have one.
run_status 0 openetw xperf -boottrace sysprof -stackwalk profile -f kernel.etl
says 'xperf -stop' err "-boottrace"
says "^FileName = $T/kernel.etl$" "$A/NT Kernel Logger.conf" "-f"
says '^KernelStacks = 0xf2e$' "$A/NT Kernel Logger.conf" "-stackwalk"
run_status 0 openetw xperf -boottrace off
expect "autologgers left" "$(ls "$A")" ""
run_status 1 openetw xperf -boottrace off
says 'no recording from boot' err "-boottrace off"
run_status 1 openetw xperf -boottrace registry
