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
