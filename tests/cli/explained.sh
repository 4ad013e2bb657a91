# SPDX-License-Identifier: MIT
# -explain of every verb of the classic tools: says what openetw would do, and does nothing.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
openetw start keeps -r -p Test.Keeps >/dev/null 2>&1 || fail "start"
openetw start "keeps too" -m newfile --max-size 1 -o 'k%d.etl' -p Test.Keeps >/dev/null 2>&1 || fail "start"
openetw logman create trace saved -p Test.Saved >/dev/null || fail "create"
openetw autologger add auto -p Test.Auto >/dev/null || fail "autologger"
state() {
	openetw list --json | sed 's/"age[A-Za-z]*":[0-9.]*,*//g; s/"seconds":[0-9.]*,*//g'
	find "$T" -type f ! -name '*.log' ! -name 'out' ! -name err ! -name 'before' ! -name after ! -name lines | sort
	cat "$XDG_CONFIG_HOME"/openetw/*/*.conf
	openetw tracelog -q keeps
}
state >before
cat >lines <<'END'
logman query -ets|^openetw list$
logman query keeps -ets|^openetw query keeps$
logman query providers|^openetw providers$
logman start e -p Test.E -ets|^openetw start e
logman create trace e -p Test.E|^openetw start e
logman stop keeps -ets|^openetw stop keeps$
logman update keeps -p Test.E -ets|^openetw enable keeps Test.E
logman update keeps -fd -ets|^openetw flush keeps$
logman update saved -p Test.E|^openetw start saved
logman delete saved|^# 
logman export saved -xml x.xml|^# 
logman import e -xml x.xml|^# 
tracelog -start t -f t.etl -guid *Test.E|^openetw start t
tracelog -stop keeps|^openetw stop keeps$
tracelog -x|^openetw stop keeps$
tracelog -q keeps|^openetw query keeps$
tracelog -l|^openetw list$
tracelog -flush keeps|^openetw flush keeps$
tracelog -update keeps -ft 30|^# 
tracelog -enable keeps -guid *Test.E|^openetw enable keeps Test.E
tracelog -disable keeps -guid *Test.Keeps|^openetw disable keeps Test.Keeps
tracelog -enumguid|^openetw providers$
tracelog -capturestate keeps -guid *Test.E|^openetw enable keeps --capture-state Test.E
tracelog -addautologger zz -guid *Test.E|^openetw autologger add zz .*-p Test.E
tracelog -remove auto|^openetw autologger remove auto$
tracelog -systemrundown|^# 
tracelog -SetProfInt 20000|^# 
xperf -start u -on Test.E|^openetw start u 
xperf -stop keeps|^openetw stop 'keeps'
xperf -stopall|^openetw stop keeps$
xperf -flush keeps|^openetw flush keeps$
xperf -update keeps -MaxBuffers 400|^# 
xperf -loggers|^openetw list$
xperf -capturestate keeps Test.E|^openetw enable keeps --capture-state Test.E
xperf -m hello|^openetw mark hello$
xperf -merge a.etl b.etl c.etl|^openetw merge
xperf -i a.etl|^openetw dump
xperf -boottrace base|^EnableKernelFlags = 
xperf -boottrace off|^openetw autologger remove
xperf -setprofint 20000|^# 
xperf -pmcsources|^openetw pmc$
xperf -on CSWITCH -Pmc PageFaults,ContextSwitches CSwitch strict|--pmc PageFaults,ContextSwitches:CSwitch
xperf -on PROC_THREAD -PmcProfile PageFaults -SetProfInt PageFaults 50|--pmc-sample PageFaults=50
xperf -on PROC_THREAD+PROFILE -SetProfInt 20000|^# 
tracelog -ProfileSource Help|^openetw pmc$
wpr -pmcsources|^openetw pmc$
wpr -pmcsessions|^openetw pmc --sessions$
wpr -start CPU|^openetw start
wpr -addboot CPU|^openetw autologger add
wpr -status|^openetw list$
wpr -providers|^openetw providers$
wpr -profiles|^# 
wpr -exportprofile CPU o.wprp|^# 
wpr -setprofint 20000|^# 
wpr -marker hello|^openetw mark hello$
END
set -f
while IFS='|' read -r line pattern; do
	# shellcheck disable=SC2086
	run_status 0 openetw $line -explain
	says "$pattern" out "$line"
done <lines
set +f
state >after
cmp before after || fail "something was done: $(diff before after)"
# What has no option stands in comments: nothing of a session is left out.
conf=$(ls "$XDG_CONFIG_HOME"/openetw/collectors/saved.conf) || fail "no collector"
echo 'PayloadFilter = Order: Number >= 3' >>"$conf"
sed -i "s/^LogFileMode/BeginTime = 158000000000000000\nEndTime = 158000000600000000\nDaily = 1\nRunCommand = gzip it\n&/" "$conf"
run_status 0 openetw logman start saved -explain
says '^openetw start saved' out "the session"
says '^# it starts at .*every day' out "BeginTime"
says '^# it ends at .*every day' out "EndTime"
says "^# .* the shell runs 'gzip it'$" out "RunCommand"
says '^openetw enable saved Test.Saved' out "a provider with a payload filter"
says '^# .*: PayloadFilter = hex:[0-9a-f]*$' out "PayloadFilter"
# More providers than a session can have are refused, not left out.
n=0
while [ $n -lt 1025 ]; do
	printf '{aa1cf0de-%04x-4c5c-a5f8-0d0a3f3a7a11} 0 5\n' $n
	n=$((n + 1))
done >many.guid
run_status 2 openetw tracelog -start t -f t.etl -guid many.guid -explain
says 'many.guid:1025: there are more than 1024 providers' err "-guid FILE"
# What is printed is the whole session: the command line, and then the lines for its file, make the same file again.
A=$XDG_CONFIG_HOME/openetw/autologger.d
mkdir -p "$A"
cat >"$A/all.conf" <<'END'
[Session]
Name = all
Start = 0
Guid = {aa1cf0de-00ff-4c5c-a5f8-0d0a3f3a7a11}
FileName = /tmp/all of it.etl
LogFileMode = 0x10000002
MaxFileSize = 7
BufferSize = 128
MinimumBuffers = 9
MaximumBuffers = 40
FlushTimer = 3
ClockType = 2
FileMax = 5
Expire = 3600
NewFileAfter = 60
KeepFiles = 4
BeginTime = 158000000000000000
EndTime = 158000000600000000
Daily = 1
RunCommand = gzip 'it'
Quota = 100000001
FileSuffix = number
NextSerial = 12
Overwrite = 1
DisableRealtimePersistence = 1
EnableKernelFlags = 0x7,0x2
KernelStacks = 0xf2e,0x524

[{aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11}]
Name = a name that is not this provider's
EnableLevel = 4
MatchAnyKeyword = 0x11
EnableProperty = 0x1

[Test.Filtered]
EnableLevel = 5
MatchAllKeyword = 0x2
ExecutableFilter = web;db
EventIdFilter = !1,2
EventNameFilter = @4:0x10:A,B\,C
StackWalkFilter = 7
StackWalkNameFilter = D
StackWalkLevelFilter = !4:0x10
ContainerFilter = c1;c2
ProcessIdFilter = 17,42
PayloadFilter = Login: User == 'ann b'

[Test.Said]
EnableLevel = 5
Filter = "event == Login and Tries > 3"

[Test.Off]
Enabled = 0
EnableLevel = 3
END
source=$(dirname "$0")/../../src/session/session_parse.c
for key in $(sed -n 's/.*KEY("\([A-Za-z]*\)".*/\1/p' "$source"); do # a new key belongs into this file
	[ "$key" = EnableFlags ] || grep -q "^$key = " "$A/all.conf" || fail "no $key in this test's file"
done
run_status 0 openetw logman update trace 'autosession\all' -explain
cp out told
grep -q '^#   Enabled = 0$' told || fail "a provider that is off: $(cat told)"
run_status 0 openetw logman update trace 'autosession\all' # as it is written, without the one that is off
mv "$A/all.conf" want
head -1 told | grep -q '^openetw autologger add all ' || fail "not a command: $(cat told)"
sh -c "$(head -1 told)" >out 2>err || fail "the command: $(cat told err)"
# The lines go to the end of their section, sections that are not there to the end.
awk -v rest=told '
	function flush() { printf "%s", more[at]; delete more[at] }
	BEGIN {
		while ((getline line < rest) > 0) {
			if (line !~ /^#   /) continue
			line = substr(line, 5)
			if (line ~ /^\[/) { to = line; order[++n] = to } else more[to] = more[to] line "\n"
		}
	}
	/^\[\{/ { flush(); at = $0 }
	/./ { print }
	END { flush(); for (i = 1; i <= n; i++) if (order[i] in more) printf "%s\n%s", order[i], more[order[i]] }
' "$A/all.conf" >merged
cp merged "$A/all.conf"
run_status 0 openetw logman update trace 'autosession\all'
cmp "$A/all.conf" want || fail "not the same: $(diff "$A/all.conf" want; cat told)"
